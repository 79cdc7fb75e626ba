// SPDX-License-Identifier: GPL-2.0-or-later
// One list of all jobs for failures that come together.
#include "slurm/runs_on_nodes.hpp"

#include <algorithm>

#include "slurm/hostlist.hpp"
#include "base/log.hpp"

namespace slurmk8s {
namespace {

/** The list of jobs takes a twentieth of the time at most. */
constexpr int kLoadRest = 20;

LostRun lost_run(const SlurmRun& run) {
  return {run.id, run.restarts, run.submitted, run.het_id, run.started, {}, run.configuring, run.completing};
}

}  // namespace

std::vector<LostRun> RunsOnNodes::on(SlurmReader& slurm, const std::string& node, TimePoint now,
                                     TimePoint begun_after) {
  if (now >= keep_until_ || begun_ < begun_after) load(slurm, now);
  const auto found = by_node_.find(node);
  if (found == by_node_.end()) return {};
  std::vector<LostRun> lost;
  for (const std::size_t index : found->second) {
    const SlurmRun& run = runs_[index];
    if (run.het_id == 0) {
      lost.push_back(lost_run(run));
      continue;
    }
    for (const SlurmRun& part : runs_) {
      if (part.het_id == run.het_id) lost.push_back(lost_run(part));
    }
  }
  return lost;
}

void RunsOnNodes::load(SlurmReader& slurm, TimePoint now) {
  begun_ = std::chrono::steady_clock::now();
  runs_.clear();
  by_node_.clear();
  Result<std::vector<SlurmRun>> runs = slurm.load_runs();
  const auto took = std::chrono::steady_clock::now() - begun_;
  keep_until_ = now + took + std::max<TimePoint::duration>(kKeep, kLoadRest * took);
  if (!runs) {
    log_debug("slurmctld: jobs: %s", runs.error().message().c_str());
    return;
  }
  runs_ = *std::move(runs);
  for (std::size_t index = 0; index < runs_.size(); ++index) {
    const auto names = expand_hostlist(runs_[index].nodes);
    if (!names) continue;
    for (const std::string& name : *names) by_node_[name].push_back(index);
  }
}

}  // namespace slurmk8s
