// SPDX-License-Identifier: GPL-2.0-or-later
// Pods that do not go: a look at the records, then one call for each different change.
#include "engine/stuck_pods.hpp"

#include <unordered_set>

#include "slurm/hostlist.hpp"
#include "base/log.hpp"
#include "slurm/job_comment.hpp"
#include "slurm/node_changes.hpp"
#include "slurm/node_state.hpp"
#include "slurm/reasons.hpp"

namespace slurmk8s {
namespace {

using State = SlurmNodeUpdate::State;
using Names = std::vector<std::string>;
using Pods = std::map<std::string, StuckPod>;
using Verdicts = std::map<std::string, StuckVerdict>;

bool is_to_be_given_up(const SlurmNode& record) { return judge_stuck(&record) == StuckVerdict::give_up; }
bool is_to_be_drained(const SlurmNode& record) { return judge_stuck(&record) == StuckVerdict::drain; }
bool is_to_be_powered_down(const SlurmNode& record) { return !record.going_down(); }

/** By fresh records. */
Result<Verdicts> judge(Slurm& slurm, const Pods& pods) {
  Verdicts verdicts;
  for (const auto& [node, pod] : pods) verdicts[node] = judge_stuck(nullptr);
  for (const SlurmNode& record : SLURMK8S_TRY(slurm.load_nodes())) {
    if (pods.contains(record.name)) verdicts[record.name] = judge_stuck(&record);
  }
  return verdicts;
}

/** A job that waits for several nodes that are given up is told of one. Returns whether any was. */
bool comment(Slurm& slurm, const Pods& pods, const Verdicts& verdicts) {
  std::map<std::uint32_t, JobComment> comments;
  for (const auto& [node, verdict] : verdicts) {
    if (verdict != StuckVerdict::give_up) continue;
    const StuckPod& pod = pods.at(node);
    for (const std::uint32_t job : pod.jobs) comments.try_emplace(job, JobComment{node, "pod " + pod.reason});
  }
  std::size_t left = kMaxComments;
  for (const auto& [job, comment] : comments) {
    if (left-- == 0) break;
    comment_jobs(slurm, {job}, build_job_comment(comment));
  }
  return !comments.empty();
}

}  // namespace

Result<Verdicts> report_stuck(Slurm& slurm, const Pods& pods) {
  Verdicts verdicts = SLURMK8S_TRY(judge(slurm, pods));
  // First: a job may be launched elsewhere as soon as it is requeued. That takes calls: a slurmd may answer since.
  if (comment(slurm, pods, verdicts)) verdicts = SLURMK8S_TRY(judge(slurm, pods));
  std::map<std::string, Names> lost, drained;  // by Reason
  for (const auto& [node, verdict] : verdicts) {
    const std::string reason = build_reason(kReasonNotDeleted, pods.at(node).reason);
    if (verdict == StuckVerdict::drain) drained[reason].push_back(node);
    if (verdict == StuckVerdict::give_up) lost[reason].push_back(node);
  }
  for (const auto& [reason, nodes] : lost) {
    log_warning("node %s: set down: %s", shorten(compress_hostlist(nodes)).c_str(), reason.c_str());
    SLURMK8S_CHECK(change_nodes(slurm, nodes, update_to(State::down, reason), is_to_be_given_up));
    SLURMK8S_CHECK(change_nodes(slurm, nodes, update_to(State::power_down), is_to_be_powered_down));
  }
  for (const auto& [reason, nodes] : drained) {
    log_warning("node %s: drained: %s", shorten(compress_hostlist(nodes)).c_str(), reason.c_str());
    SLURMK8S_CHECK(change_nodes(slurm, nodes, update_to(State::drain, reason), is_to_be_drained));
  }
  return verdicts;
}

Status release_stuck(Slurm& slurm, const Names& nodes) {
  const std::unordered_set<std::string_view> names(nodes.begin(), nodes.end());
  std::map<ReleaseVerdict, Names> released;
  for (const SlurmNode& record : SLURMK8S_TRY(slurm.load_nodes())) {
    if (names.contains(record.name)) released[judge_release(record)].push_back(record.name);
  }
  const auto change = [&](ReleaseVerdict verdict, const SlurmNodeUpdate& update) {
    return change_nodes(slurm, released[verdict], update, can_end_drain_for_pod);
  };
  SLURMK8S_CHECK(change(ReleaseVerdict::power_down, update_to(State::power_down, kReasonReleased)));
  SLURMK8S_CHECK(change(ReleaseVerdict::resume, update_to(State::resume, kReasonReleased)));
  return change(ReleaseVerdict::undrain, update_to(State::undrain));
}

}  // namespace slurmk8s
