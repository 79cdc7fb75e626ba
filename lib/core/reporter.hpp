// SPDX-License-Identifier: GPL-2.0-or-later
// Reporter: the engine's way to slurmctld. Calls come back later, on the engine's thread.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/plan.hpp"
#include "core/slurm.hpp"

namespace slurmk8s {

class Reporter {
 public:
  using OnNodes = std::function<void(Result<std::vector<SlurmNode>>)>;
  using OnVerdict = std::function<void(Result<Verdict>)>;

  virtual ~Reporter() = default;
  /** All node records of Slurm. */
  virtual void load_nodes(OnNodes done) = 0;
  /** Carries out judge_failure() on a fresh record of `node`; an Error means that slurmctld could not be asked. */
  virtual void fail_node(const std::string& node, const std::string& reason, bool vanished, OnVerdict done) = 0;
};

/** The work behind Reporter::fail_node(), blocking. */
Result<Verdict> fail_node(Slurm& slurm, const std::string& node, const std::string& reason, bool vanished);

}  // namespace slurmk8s
