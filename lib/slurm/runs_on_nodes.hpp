// SPDX-License-Identifier: GPL-2.0-or-later
// RunsOnNodes: which jobs run on a node, asked just before slurmctld is told that the node is lost.
#pragma once

#include <chrono>
#include <cstdint>
#include <ctime>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/clock.hpp"
#include "slurm/slurm.hpp"

namespace slurmk8s {

/** A job that ran on a node just before slurmctld was told that the node is lost. */
struct LostRun {
  std::uint32_t job = 0;
  std::uint32_t restarts = 0;  ///< of the job until then
  std::time_t submitted = 0;   ///< as slurmctld had it: a requeue sets it again
  std::uint32_t het_id = 0;    ///< of the first component of a heterogeneous job; 0: it isn't one
  std::time_t started = 0;
  std::string held_for;      ///< AdminComment of a job to be held after its requeue: the reason; empty: not to be held
  bool configuring = false;  ///< it had not been launched
  bool completing = false;   ///< its end had begun before
};

/**
 * The jobs on each node, for failures that come together: slurmctld is asked for all jobs once per kKeep, and no more
 * than a twentieth of the time, but for those who need a newer list. A job that began since then is not known: it keeps
 * Slurm's delay. The thread of the Slurm calls alone.
 */
class RunsOnNodes {
 public:
  static constexpr std::chrono::seconds kKeep{1};

  /**
   * Running jobs that have `node`, and the other components of heterogeneous ones. None when slurmctld can't be asked.
   * `now`: when the node was found lost. `begun_after`, by the host's own clock: no list is used that was asked for
   * before.
   */
  std::vector<LostRun> on(SlurmReader& slurm, const std::string& node, TimePoint now, TimePoint begun_after = {});

 private:
  void load(SlurmReader& slurm, TimePoint now);

  TimePoint keep_until_{};
  TimePoint begun_{};  // by the host's own clock
  std::vector<SlurmRun> runs_;
  std::unordered_map<std::string, std::vector<std::size_t>> by_node_;  // indices into runs_
};

}  // namespace slurmk8s
