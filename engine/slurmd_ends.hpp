// SPDX-License-Identifier: GPL-2.0-or-later
// SlurmdEnds: a job under which slurmd ends twice is held; one that alone fills its pod's memory is ended.
//
// Whatever makes slurmd end (a defect of slurmd, memory) can come from a job, and slurmctld requeues all jobs of the
// node. The job that did it would do it again, on the next node, with other neighbours.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <list>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/node.hpp"
#include "slurm/runs_on_nodes.hpp"

namespace slurmk8s {

/** A job on a node whose slurmd has ended. The counts include this run. */
struct EndedRun {
  LostRun run;
  unsigned ends = 0;            ///< runs of the job under which slurmd has ended
  std::chrono::seconds ran{0};  ///< how long these took until then, in all
};

/** What is done about the jobs on a node whose slurmd has ended. */
struct SlurmdEndVerdict {
  enum class Kind {
    none,           ///< nothing: they are requeued
    hold,           ///< `job` is held when it has been requeued
    out_of_memory,  ///< `job` ends as OUT_OF_MEMORY
  };
  Kind kind = Kind::none;
  std::uint32_t job = 0;  ///< of a heterogeneous job, its first component's id
  unsigned ends = 0;      ///< of slurmd, under `job`
};

/** Ends of slurmd after which a job is held. */
inline constexpr unsigned kMaxEnds = 2;

/**
 * Memory that a single job has filled is that job's, unless a job whose end had begun was `beside` it: until KillWait
 * is over that has processes, too. Otherwise the job with the most ends is held, from kMaxEnds on.
 * Of several with as many it is the one that ran shortest: what ends slurmd mostly does so when it is launched. Pure.
 */
SlurmdEndVerdict judge_slurmd_end(const std::vector<EndedRun>& runs, SlurmdEnd end, bool beside = false);

/** Counts ends by job. The thread of the Slurm calls alone. */
class SlurmdEnds {
 public:
  /** Jobs that are remembered; beyond, the one whose slurmd ended longest ago is forgotten. */
  static constexpr std::size_t kMaxJobs = 4096;

  /**
   * slurmd of a node that had `runs` has ended. A run counts once, on however many of its nodes slurmd ends. `now`:
   * slurmctld's time of day then; a run that began later does not count, nor one that still waits for its nodes, or
   * whose end had begun.
   */
  SlurmdEndVerdict note(const std::vector<LostRun>& runs, SlurmdEnd end, std::time_t now);
  std::size_t size() const { return order_.size(); }

 private:
  struct Past {
    unsigned ends = 0;
    std::chrono::seconds ran{0};
    std::uint32_t restarts = 0;  // of the job at its last end
    std::list<std::uint32_t>::iterator place;
  };

  EndedRun count(const LostRun& run, std::time_t now);

  std::unordered_map<std::uint32_t, Past> past_;  // by job, a heterogeneous one by its first component
  std::list<std::uint32_t> order_;                // jobs, the one that ended last at the end
};

/** A job's id; of a component of a heterogeneous job, that of the first. */
inline std::uint32_t whole_job(const LostRun& run) { return run.het_id != 0 ? run.het_id : run.job; }

}  // namespace slurmk8s
