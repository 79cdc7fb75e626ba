// SPDX-License-Identifier: GPL-2.0-or-later
// What becomes of a gang.
#include "bridge/gang.hpp"

#include <algorithm>

namespace slurmk8s {
namespace {

using Step = GangPlan::Step;

/** None: it was deleted before it ended by itself. */
PodEnd end_of(const std::string& uid, const Gang& gang, const WorkloadPods& pods) {
  if (const auto known = gang.ends.find(uid); known != gang.ends.end()) return known->second;
  const auto pod = pods.find(uid);
  if (pod == pods.end()) return {};
  return pod->second.has_own_end() ? pod->second.end : PodEnd{};
}

JobResult judge_pods(const Gang& gang, const WorkloadPods& pods) {
  if (gang.lost != TimePoint{}) return {JobResult::Kind::failed, 1};
  JobResult result;
  bool is_any_gone = false;
  for (const std::string& uid : gang.uids) {
    const PodEnd end = end_of(uid, gang, pods);
    if (end.kind == PodEnd::Kind::none) is_any_gone = true;
    if (end.kind == PodEnd::Kind::out_of_memory) result.kind = JobResult::Kind::out_of_memory;
    if (end.kind != PodEnd::Kind::failed) continue;
    if (result.kind == JobResult::Kind::completed) result.kind = JobResult::Kind::failed;
    result.exit_code = std::max(result.exit_code, end.exit_code);
  }
  if (result.kind != JobResult::Kind::failed) result.exit_code = 0;
  if (result.kind == JobResult::Kind::completed && is_any_gone) result.kind = JobResult::Kind::cancelled;
  return result;
}

GangPlan plan_collecting(const Gang& gang, const GangCounts& count, const KnownJobs& known, TimePoint now) {
  // A pod may be bound for its former job, as the API server tells only now: it goes back to that one.
  if (count.gone + count.over + count.leaving + count.bound != 0) return {Step::regroup};
  // After an attempt slurmctld may have the job: Gangs::adopt() must have seen a later list.
  const bool is_known = gang.asked == TimePoint{} || known.asked > gang.asked;
  const bool may_submit = is_known && now >= gang.not_before && is_complete(gang, now);
  return {may_submit ? Step::submit : Step::wait};
}

/** slurmctld doesn't show the job, though it was asked after the submission. */
GangPlan plan_without_job(const Gang& gang, const GangCounts& count, const KnownJobs& known, TimePoint now) {
  if (known.asked <= gang.asked) return {Step::wait};
  if (count.evictable + count.bound + count.leaving == 0) return {Step::forget};
  // Bound pods run and keep their job, whatever slurmctld has lost. Only a gang of unbound pods gets another one.
  if (count.bound == 0) return {now >= gang.asked + kLostAfter ? Step::regroup : Step::wait};
  return {Step::wait, {}, true};
}

GangPlan plan_ended(const Gang& gang, const GangCounts& count, const Allocation& job) {
  // Its nodes did not come up, or are gone: none of its pods has begun, and Slurm has other nodes.
  const bool has_no_nodes = job.state_name == "NODE_FAIL" || job.state_name == "BOOT_FAIL";
  const bool has_begun = gang.may_be_bound || count.waiting != gang.uids.size() || count.leaving != 0;
  if (has_no_nodes && !has_begun) return {Step::regroup};
  if (count.evictable != 0) return {Step::evict};
  return {count.leaving == 0 ? Step::forget : Step::wait};
}

/** Pending, or its nodes power up: a change of its pods changes what it needs. */
GangPlan plan_before_start(const Gang& gang, const GangCounts& count, TimePoint now) {
  const bool has_changed = count.gone + count.over + count.leaving != 0;
  const bool is_late = gang.give_up != TimePoint{} && now >= gang.give_up;
  if ((has_changed || is_late) && count.bound == 0 && !gang.is_ending) return {Step::regroup};
  return {Step::wait};
}

/** All start, or none. */
bool has_lost_before_start(const Gang& gang, const GangCounts& count) {
  const bool has_begun = gang.may_be_bound || count.bound + count.over != 0;
  return !has_begun && !gang.is_ending && count.gone + count.leaving != 0;
}

/** A pod is lost with its Kubernetes node, and neither the engine nor slurmd has told slurmctld so. */
bool has_lost_kube_node(const Gang& gang, TimePoint now) {
  return gang.lost != TimePoint{} && now >= gang.lost + kNodeFailAfter;
}

GangPlan plan_started(const Gang& gang, const GangCounts& count, const Allocation& job, const WorkloadPods& pods,
                      TimePoint now) {
  if (count.over + count.gone == gang.uids.size()) {
    // The engine, or slurmd's silence, tells slurmctld that the Slurm node is down.
    if (gang.lost != TimePoint{} && !has_lost_kube_node(gang, now)) return {Step::wait};
    // slurmctld ends a preempted job itself, as PREEMPTED; one that it has suspended for that waits for ever.
    const bool may_finish = !gang.is_ending && (job.preempted == 0 || job.state == Allocation::State::suspended);
    return may_finish ? GangPlan{Step::finish, judge_pods(gang, pods)} : GangPlan{Step::wait};
  }
  if (has_lost_before_start(gang, count)) return {Step::regroup};
  // A pod cannot be stopped, and its CPUs are others' already.
  const bool is_to_go = job.preempted != 0 || job.state == Allocation::State::suspended;
  if (is_to_go && count.evictable != 0) return {Step::evict};
  // The others of a gang would wait for that pod until the job's time limit.
  if (has_lost_kube_node(gang, now)) {
    const bool may_finish = !gang.is_ending && job.preempted == 0;
    return may_finish ? GangPlan{Step::finish, judge_pods(gang, pods)} : GangPlan{Step::wait};
  }
  // All pods of a gang run, or none; and the pod can go to no other Kubernetes node.
  if (gang.unschedulable != TimePoint{} && now >= gang.unschedulable + kUnschedulableFor) {
    const bool may_finish = !gang.is_ending && job.preempted == 0;
    return may_finish ? GangPlan{Step::give_up, {JobResult::Kind::cancelled}} : GangPlan{Step::wait};
  }
  const bool may_bind = job.state == Allocation::State::running && count.waiting != 0;
  return {may_bind ? Step::bind : Step::wait};
}

}  // namespace

std::string Gang::node_of(const std::string& uid) const {
  const auto place = places.find(uid);
  return place == places.end() ? "" : place->second.node;
}

bool is_complete(const Gang& gang, TimePoint now) {
  const std::size_t size = gang.uids.size();
  if (!gang.spec.is_gang || size >= gang.spec.all_pods) return true;
  const bool is_enough = gang.earlier == EarlierPods::alive || size >= gang.spec.min_pods;
  if (is_enough) return now >= gang.joined + kGangQuiet;
  return gang.earlier == EarlierPods::ended && now >= gang.joined + kGangLate;
}

const Allocation* KnownJobs::find(const Gang& gang) const {
  const Allocation* const ended = gang.ended ? &*gang.ended : nullptr;
  const auto found = jobs.find(gang.job);
  if (found == jobs.end()) return ended;
  const Allocation& job = found->second;
  const bool is_same = gang.job_submitted != 0 ? gang.job_submitted == job.submitted : gang.comment == job.comment;
  return is_same && job.uid == gang.user ? &job : ended;
}

GangCounts count_pods(const Gang& gang, const WorkloadPods& pods) {
  GangCounts count;
  for (const std::string& uid : gang.uids) {
    const auto found = pods.find(uid);
    if (found == pods.end()) {
      ++count.gone;
    } else if (found->second.is_over()) {
      ++count.over;
    } else {
      const WorkloadPod& pod = found->second;
      count.leaving += pod.deleting;
      count.unschedulable += pod.is_unschedulable && !pod.deleting;
      count.evictable += pod.is_evictable();
      ++(pod.kube_node.empty() ? count.waiting : count.bound);
    }
  }
  return count;
}

void note_unschedulable(Gang& gang, const GangCounts& count, TimePoint now) {
  if (count.unschedulable == 0) gang.unschedulable = {};
  if (count.unschedulable != 0 && gang.unschedulable == TimePoint{}) gang.unschedulable = now;
}

std::vector<const WorkloadPod*> find_overdue(const Gang& gang, const WorkloadPods& pods,
                                             std::chrono::system_clock::time_point now) {
  std::vector<const WorkloadPod*> overdue;
  for (const std::string& uid : gang.uids) {
    const auto found = pods.find(uid);
    if (found != pods.end() && found->second.is_overdue(now)) overdue.push_back(&found->second);
  }
  return overdue;
}

GangPlan plan_gang(const Gang& gang, const WorkloadPods& pods, const KnownJobs& known, TimePoint now) {
  const GangCounts count = count_pods(gang, pods);
  if (gang.stage == Gang::Stage::collecting) return plan_collecting(gang, count, known, now);
  if (gang.stage == Gang::Stage::submitting) return {Step::wait};
  const Allocation* job = known.find(gang);
  if (job == nullptr) return plan_without_job(gang, count, known, now);
  switch (job->state) {
    case Allocation::State::ended: return plan_ended(gang, count, *job);
    case Allocation::State::pending:
    case Allocation::State::configuring: return plan_before_start(gang, count, now);
    default: return plan_started(gang, count, *job, pods, now);
  }
}

}  // namespace slurmk8s
