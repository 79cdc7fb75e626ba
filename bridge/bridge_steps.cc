// SPDX-License-Identifier: GPL-2.0-or-later
// What the bridge does for a gang.
#include <algorithm>
#include <utility>

#include "base/log.hpp"
#include "base/strings.hpp"
#include "bridge/bridge.hpp"
#include "bridge/job_request.hpp"
#include "bridge/names.hpp"
#include "bridge/placement.hpp"
#include "slurm/gpu_count.hpp"

namespace slurmk8s {
namespace {

constexpr std::chrono::seconds kRefusedFor{60};  // an administrator may allow it meanwhile
constexpr std::chrono::seconds kTellAfter{1};    // most jobs of a free cluster have started by then
/** Before LaunchTimeout: slurmctld must not be first. */
constexpr std::chrono::seconds kBeforeLaunchTimeout{10};
/** Submissions under way: what else slurmctld is asked waits for no more than these. */
constexpr std::size_t kMaxSubmitting = 4;
/** Gangs that are being bound. With more, jobs wait with their nodes for the API server; 16 bound no more pods. */
constexpr std::size_t kMaxBinding = 8;
/** In a round, each by two calls: jobs of pods wait for no more than these. */
constexpr std::size_t kMaxOrphanCancels = 10;
constexpr kube::EventRecorder::Kind kSubmitted{"Normal", "SlurmJobSubmitted", "Scheduling"};
constexpr kube::EventRecorder::Kind kUnknown{"Warning", "SlurmJobUnknown", "Scheduling"};
constexpr kube::EventRecorder::Kind kOverdue{"Warning", "SlurmPodOverdue", "Eviction"};
constexpr kube::EventRecorder::Kind kUnschedulable{"Warning", "SlurmPodUnschedulable", "Scheduling"};
constexpr kube::EventRecorder::Kind kIgnored{"Warning", "SlurmFieldIgnored", "Scheduling"};

/** By its Comment, which users can write: one with a script is an sbatch job all the same. */
bool is_of_bridge(const Allocation& job) { return !job.has_script && !find_job_namespace(job.comment).empty(); }

/** MaxMemPerCPU may have given each task more CPUs than were asked for. */
PodSize size_for(const Gang& gang, const Allocation& job) {
  PodSize size = gang.pod_size.value_or(PodSize());
  size.cpus = std::max(size.cpus, job.cpus_per_task);
  return size;
}

PodSize pod_size_of(const AllocationRequest& request) {
  return {request.cpus_per_task, static_cast<std::uint32_t>(count_gpus(request.gres)), request.tasks_per_node,
          request.cpus_per_task * request.memory_per_cpu_mib};
}

}  // namespace

/** What slurmctld said of its job last: all gangs of a round, before any of them has its step. */
void Bridge::note_job(Gang& gang) {
  const Allocation* const job = jobs_.known().find(gang);
  if (job == nullptr) return;
  gang.job_submitted = job->submitted;
  const bool is_configuring = job->state == Allocation::State::configuring;
  if (!is_configuring) gang.give_up = {};
  if (is_configuring && gang.give_up == TimePoint{}) {
    const std::chrono::seconds limit = options_.launch_timeout;
    gang.give_up = parts_.loop.clock()->now() + std::max(limit - kBeforeLaunchTimeout, limit / 2);
  }
  if (job->state != Allocation::State::ended) return;
  gang.ended = *job;
  ended_.insert(gang.number);
}

void Bridge::step(Gang& gang) {
  refresh(gang);
  const GangCounts count = count_pods(gang, pods_);
  if (count.leaving != 0) report_overdue(gang);
  note_unschedulable(gang, count, parts_.loop.clock()->now());
  const Allocation* const job = jobs_.known().find(gang);
  const GangPlan plan = plan_gang(gang, pods_, jobs_.known(), parts_.loop.clock()->now());
  gang.is_unknown = plan.is_unknown;
  if (plan.step != GangPlan::Step::bind && binding_.erase(gang.number) != 0) submit_waiting();
  switch (plan.step) {
    case GangPlan::Step::submit: return submit(gang);
    case GangPlan::Step::regroup: return regroup(gang);
    case GangPlan::Step::bind: return bind(gang, *job);
    case GangPlan::Step::finish: return finish(gang, plan.result);
    case GangPlan::Step::give_up: return give_up(gang, plan.result);
    case GangPlan::Step::evict: return evict(gang, *job);
    case GangPlan::Step::forget: return forget(gang);
    case GangPlan::Step::wait: break;
  }
  tell_incomplete(gang);
  if (plan.is_unknown) report_unknown(gang);
  const bool is_asked = gang.asked != TimePoint{} && gang.stage != Gang::Stage::submitting;
  needs_jobs_ = needs_jobs_ || (job == nullptr && is_asked && jobs_.known().asked <= gang.asked);
  if (job != nullptr && count_pods(gang, pods_).waiting != 0) announce(gang, *job);
}

std::vector<const WorkloadPod*> Bridge::pods_of(const Gang& gang) const {
  std::vector<const WorkloadPod*> pods;
  for (const std::string& uid : gang.uids) {
    const auto found = pods_.find(uid);
    if (found != pods_.end()) pods.push_back(&found->second);
  }
  return pods;
}

/** The workload's own annotations count more than its pods'. */
JobAnnotations Bridge::annotations_of(const Gang& gang) const {
  JobAnnotations annotations = gang.spec.annotations;
  for (const WorkloadPod* pod : pods_of(gang)) annotations.insert(pod->annotations.begin(), pod->annotations.end());
  return annotations;
}

Result<IdentityRule> Bridge::identity_of(const Gang& gang, const JobAnnotations& annotations) const {
  const std::vector<const WorkloadPod*> pods = pods_of(gang);
  IdentityRule identity;
  for (const WorkloadPod* pod : pods) {
    identity = SLURMK8S_TRY(find_identity(options_.rules, *pod, annotations));
    apply_priority_class(options_.priorities, *pod, identity);
    if (!options_.priorities.empty() && pod->priority_class != pods.front()->priority_class) {
      return Error(Errc::invalid, format("pods %s and %s of one gang differ in spec.priorityClassName",
                                         pods.front()->name.c_str(), pod->name.c_str()));
    }
    if (pod->service_account != pods.front()->service_account) {
      return Error(Errc::invalid, "pods of one gang have service accounts " + pods.front()->service_account + " and " +
                                      pod->service_account);
    }
  }
  return identity;
}

/** The most GPUs that resource claims of one pod ask for. */
Result<BridgeDevices> Bridge::devices_of(const std::vector<const WorkloadPod*>& pods) {
  BridgeDevices asked;
  for (const WorkloadPod* pod : pods) {
    const BridgeDevices devices = SLURMK8S_TRY(claims_.devices_of(*pod));
    for (const auto& [name, milli] : devices) asked[name] = std::max(asked[name], milli);
  }
  return asked;
}

Result<AllocationRequest> Bridge::request_for(const Gang& gang) {
  const std::vector<const WorkloadPod*> pods = pods_of(gang);
  const JobAnnotations annotations = annotations_of(gang);
  const IdentityRule identity = SLURMK8S_TRY(identity_of(gang, annotations));
  const BridgeDevices devices = SLURMK8S_TRY(devices_of(pods));
  return build_job_request(gang.workload, pods, annotations, identity, devices);
}

/** Whether slurmctld and the API server have enough to do: no further job is submitted now. */
bool Bridge::is_busy() const { return submitting_ >= kMaxSubmitting || submitting_ + binding_.size() >= kMaxBinding; }

/** A place is free: for the gang that has waited longest. */
void Bridge::submit_waiting() {
  if (submit_next_.empty()) return;
  due_.insert(submit_next_.extract(submit_next_.begin()).value());
  plan_round(kSoon);
}

/** Jobs by user, also those being submitted. Those of a former process count: they have no gangs at first. */
const JobShares& Bridge::job_shares() {
  if (!job_shares_) {
    job_shares_.emplace(options_.max_jobs);
    std::map<std::uint32_t, std::uint32_t> users;  // by job
    for (const auto& [number, gang] : gangs_.all()) {
      if (gang.job != 0) users[gang.job] = gang.user;
      if (gang.stage == Gang::Stage::submitting) job_shares_->add(gang.user);
    }
    for (const auto& [id, job] : jobs_.known().jobs) {
      if (job.state != Allocation::State::ended && is_of_bridge(job)) users.emplace(id, job.uid);
    }
    for (const auto& [job, user] : users) job_shares_->add(user);
  }
  return *job_shares_;
}

/** Whether there may be that many jobs: only then they are counted. */
bool Bridge::has_many_jobs(std::size_t max) const {
  return engine_ && gangs_.all().size() + jobs_.known().jobs.size() + submitting_ >= max;
}

/** Whether the engine takes no further job. */
bool Bridge::has_max_jobs() { return has_many_jobs(options_.max_jobs) && job_shares().all() >= options_.max_jobs; }

/** Whether its user leaves room for jobs of others. */
bool Bridge::has_room(const Gang& gang, std::uint32_t user) {
  if (!has_many_jobs(options_.max_jobs / 2) || job_shares().has_room(user)) return true;
  tell_wait(gang, "Slurm jobs of other users' pods need room; it is submitted when one of this user's has ended");
  return false;
}

/** Whether no job can be submitted for it now. */
bool Bridge::put_off(const Gang& gang) {
  if (has_max_jobs()) {
    tell_wait(gang, format("%zu Slurm jobs of pods are enough; it is submitted when one has ended", options_.max_jobs));
    return true;
  }
  if (!submit_pause_.is_over(parts_.loop.clock()->now())) {
    tell_wait(gang, "slurmctld takes no job now: " + submit_pause_.why());
    return true;
  }
  if (!is_busy()) return false;
  submit_next_.insert(gang.number);
  return true;
}

void Bridge::submit(Gang& gang) {
  // A job that the pods may have already waits for no place: it would be cancelled as an orphan.
  const bool is_put_off = put_off(gang);
  if (is_put_off && !has_job_without_pods(gang.workload)) return;
  const Result<IdentityRule> identity = identity_of(gang, annotations_of(gang));
  if (!identity) return refuse(gang, identity.error());
  if (gang.spec.is_gang) workloads_.forget(gang.workload);  // the next gang of the name may be another object's
  if (adopt(gang, identity->uid) || is_put_off || !has_room(gang, identity->uid)) return;
  // They were not judged of pods that seemed to have a job.
  bool has_all_claims = true;
  for (const WorkloadPod* pod : pods_of(gang)) has_all_claims = has_claims(*pod) && has_all_claims;
  if (!has_all_claims) return drop(gang);
  Result<AllocationRequest> request = request_for(gang);
  if (!request) return refuse(gang, request.error());
  if (const Status chosen = choose_nodes(pods_of(gang), *request); !chosen.ok()) return refuse(gang, chosen.error());
  request->external = !external_nodes_.empty();
  note_submission(gang, *request);
  jobs_.submit(*std::move(request),
               [this, number = gang.number](const Result<std::uint32_t>& job) { submitted(number, job); });
}

void Bridge::note_submission(Gang& gang, const AllocationRequest& request) {
  gang.pod_size = pod_size_of(request);
  if (const Result<BridgeDevices> claimed = devices_of(pods_of(gang)); claimed.ok()) gang.claimed = *claimed;
  gangs_.close(gang);
  gang.stage = Gang::Stage::submitting;
  gang.user = request.user;
  gang.comment = request.comment;
  gang.asked = parts_.loop.clock()->now();
  ++submitting_;
  job_shares_.reset();
}

/** `gang` may be no more then. */
bool Bridge::adopt(Gang& gang, std::uint32_t user) {
  const std::uint64_t number = gang.number;
  if (!gangs_.adopt(gang, user, jobs_.known().jobs, parts_.loop.clock()->now())) return false;
  submit_next_.erase(number);
  look_at_all();
  return true;
}

void Bridge::submitted(std::uint64_t number, const Result<std::uint32_t>& job) {
  --submitting_;
  due_.insert(number);
  plan_round(kSoon);
  submit_waiting();
  const auto found = gangs_.all().find(number);
  if (found == gangs_.all().end()) return;
  Gang& gang = found->second;
  const TimePoint now = parts_.loop.clock()->now();
  gang.asked = now;
  if (!job) return not_submitted(gang, job.error());
  submit_pause_.end();
  gang.stage = Gang::Stage::submitted;
  gang.refusal.clear();
  gangs_.set_job(gang, *job);
  report_ignored(gang);
  tell_at_.emplace(now + kTellAfter, number);
  log_info("%s: job %u, %zu pods", to_string(gang.workload).c_str(), *job, gang.uids.size());
}

/** Whether slurmctld has the job is seen before the next attempt: adopt(). */
void Bridge::not_submitted(Gang& gang, const Error& error) {
  gang.stage = Gang::Stage::collecting;
  if (!error.retryable()) return refuse(gang, error);
  submit_pause_.begin(parts_.loop.clock()->now(), jobs_.answered(), error.message());
}

/** That its job waits, and why. */
void Bridge::announce(Gang& gang, const Allocation& job) {
  if (parts_.loop.clock()->now() < gang.asked + kTellAfter) return;
  if (!std::exchange(gang.is_announced, true)) {
    for (const WorkloadPod* pod : pods_of(gang)) {
      writer(pod->name_space).record(*pod, kSubmitted, format("Slurm job %u", job.id));
    }
  }
  tell_wait(gang, describe_wait(job));
}

void Bridge::refuse(Gang& gang, const Error& error) {
  const std::string& text = error.message();
  for (const WorkloadPod* pod : pods_of(gang)) {
    writer(pod->name_space).tell_wait(*pod, text, PodWriter::kRefused);
  }
  if (gang.refusal != text) log_warning("%s: refused: %s", to_string(gang.workload).c_str(), text.c_str());
  gang.refusal = text;
  gang.not_before = parts_.loop.clock()->now() + kRefusedFor;
}

void Bridge::regroup(Gang& gang) {
  const Allocation* const job = jobs_.known().find(gang);
  if (job != nullptr && job->state == Allocation::State::ended) {
    log_info("%s: job %u got no nodes (%s): it gets another one", to_string(gang.workload).c_str(), gang.job,
             job->state_name.c_str());
  } else if (job != nullptr) {
    log_info("%s: its pods or their nodes have changed, or do not come up: job %u is cancelled",
             to_string(gang.workload).c_str(), gang.job);
    jobs_.end(job->id, job->submitted, {JobResult::Kind::cancelled}, [] {});  // end_orphans() tries again
  }
  drop(gang);
  plan_round(kSoon);  // they join another one
}

/** Whether it is known what its job asked for each pod; after a restart its pods tell. */
bool Bridge::has_size(Gang& gang) {
  if (gang.pod_size) return true;
  const Result<AllocationRequest> request = request_for(gang);
  if (request) {
    gang.pod_size = pod_size_of(*request);
  } else {
    tell_unread(gang, request.error());
  }
  return request.ok();
}

/** Why a pod whose job runs is not bound, unless that will be known soon. */
void Bridge::tell_unread(const Gang& gang, const Error& error) {
  if (error.code() == Errc::unavailable) return;
  tell_wait(gang, format("Slurm job %u: %s", gang.job, error.message().c_str()));
}

/**
 * Whether the resource claims of its pods ask for no more than its job has. They are read again once it has started:
 * kube-scheduler gives the pod what the claims say then. False: not known yet, or its pods are to get another job, and
 * the gang is no more.
 */
bool Bridge::has_counted_claims(Gang& gang) {
  if (gang.claims == Gang::Claims::confirmed) return true;
  const std::vector<const WorkloadPod*> pods = pods_of(gang);
  if (std::ranges::all_of(pods, [](const WorkloadPod* pod) { return pod->device_claims.empty(); })) return true;
  if (std::exchange(gang.claims, Gang::Claims::read_again) == Gang::Claims::counted) {
    for (const WorkloadPod* pod : pods) claims_.forget_devices(*pod);
  }
  const Result<BridgeDevices> devices = devices_of(pods);
  if (!devices) {
    tell_unread(gang, devices.error());
    return false;
  }
  const auto is_more = [&](const auto& one) {
    const auto counted = gang.claimed->find(one.first);
    return counted == gang.claimed->end() || one.second > counted->second;
  };
  if (gang.claimed && std::ranges::any_of(*devices, is_more)) {
    log_warning("%s: its resource claims ask for more GPUs than job %u has", to_string(gang.workload).c_str(),
                gang.job);
    regroup(gang);
    return false;
  }
  gang.claims = Gang::Claims::confirmed;
  return true;
}

/** Other nodes for pods that are not bound to one that their job no longer has. They keep their ranks. */
void Bridge::replace_pods(Gang& gang, const Allocation& job, const std::vector<const WorkloadPod*>& pods) {
  std::map<std::string, AllocatedNode> left;
  for (const AllocatedNode& node : job.nodes) left.emplace(node.name, node);
  std::vector<const WorkloadPod*> lost;
  for (const WorkloadPod* pod : pods) {
    const std::string node = gang.node_of(pod->uid);
    if (!node.empty() && pod->kube_node.empty() && !pod->deleting && !left.contains(node)) lost.push_back(pod);
  }
  if (lost.empty()) return;
  log_info("%s: job %u has other nodes now", to_string(gang.workload).c_str(), job.id);
  const PodSize size = size_for(gang, job);
  for (const WorkloadPod* pod : pods) {
    const auto node = left.find(gang.node_of(pod->uid));
    if (node != left.end() && !pod->is_over()) take_room(node->second, size);
  }
  std::vector<AllocatedNode> nodes;
  nodes.reserve(left.size());
  for (auto& [name, node] : left) nodes.push_back(std::move(node));
  for (const PlacedPod& placed : place_pods(lost, std::move(nodes), size, topologies_of(job))) {
    gang.places.at(placed.pod->uid).node = placed.node;
  }
}

void Bridge::bind(Gang& gang, const Allocation& job) {
  if (!std::exchange(gang.is_binding, true)) binding_.emplace(gang.number, parts_.loop.clock()->now());
  const std::vector<const WorkloadPod*> pods = pods_of(gang);
  if (gang.places.empty()) {
    if (!has_size(gang) || !has_counted_claims(gang)) return;
    for (const PlacedPod& placed : place_pods(pods, job.nodes, size_for(gang, job), topologies_of(job))) {
      gang.places[placed.pod->uid] = {placed.rank, placed.node};
    }
  }
  replace_pods(gang, job, pods);
  // A binding that the watch does not show yet stays: another job would have the pod beside this one.
  if (!gang.may_be_bound && count_pods(gang, pods_).bound == 0) {
    const Result<bool> is_elsewhere = is_misplaced(gang);
    if (!is_elsewhere) return tell_unread(gang, is_elsewhere.error());
    if (*is_elsewhere) return regroup(gang);
    if (const auto untolerated = find_taints_in_the_way(gang); !untolerated.empty())
      return give_back(gang, untolerated);
  }
  if (engine_ && (!is_current() || !engine_->may_bind(gang.job))) {
    if (!engine_->is_up()) tell_wait(gang, format("Slurm job %u: waits for the engine in slurmctld", gang.job));
    return;
  }
  const std::string kube_nodes = kube_nodes_of(gang);
  for (const WorkloadPod* pod : pods) {
    if (pod->kube_node.empty() && !pod->deleting) bind_pod(gang, job, *pod, kube_nodes);
  }
}

void Bridge::bind_pod(Gang& gang, const Allocation& job, const WorkloadPod& pod, const std::string& kube_nodes) {
  PodWriter& pod_writer = writer(pod.name_space);
  const std::string node = gang.node_of(pod.uid);
  if (node.empty()) {
    return pod_writer.tell_wait(pod, format("Slurm job %u: its nodes have no room for this pod", job.id));
  }
  const auto kube_node = kube_node_of_.find(node);
  if (kube_node == kube_node_of_.end()) {
    return pod_writer.tell_wait(pod, format("Slurm job %u: node %s has no pod", job.id, node.c_str()));
  }
  if (occupied_.contains(kube_node->second)) return pod_writer.tell_wait(pod, describe_wait(job));
  const bool is_asked = pod_writer.bind(pod, {kube_node->second, hostname_of(kube_node->second), job.id, job.submitted,
                                              gang.places.at(pod.uid).rank, kube_nodes});
  gang.may_be_bound = gang.may_be_bound || is_asked;
}

void Bridge::finish(Gang& gang, const JobResult& result) {
  gang.is_ending = true;
  jobs_.end(gang.job, gang.job_submitted, result, [this, number = gang.number] {
    const auto found = gangs_.all().find(number);
    if (found == gangs_.all().end()) return;
    found->second.is_ending = false;
    due_.insert(number);
  });
}

/** A pod without its gate can have no other Kubernetes node, and gets no gate: slurmctld's answer has it deleted. */
void Bridge::give_up(Gang& gang, const JobResult& result) {
  if (!std::exchange(gang.is_given_up, true)) {
    for (const WorkloadPod* pod : pods_of(gang)) {
      if (!pod->is_unschedulable) continue;
      const std::string text = format("Slurm job %u is cancelled: kube-scheduler has not bound the pod to %s: %s",
                                      gang.job, pod->kube_node.c_str(), pod->waits_for.c_str());
      writer(pod->name_space).record(*pod, kUnschedulable, text);
      log_warning("%s/%s: %s", pod->name_space.c_str(), pod->name.c_str(), text.c_str());
    }
  }
  finish(gang, result);
}

void Bridge::evict(const Gang& gang, const Allocation& job) {
  // A job that was told to go runs on for its grace time.
  const bool is_preempted = job.preempted != 0 && job.state != Allocation::State::ended;
  const std::string message = format("Slurm job %u: %s", job.id, is_preempted ? "PREEMPTED" : job.state_name.c_str());
  for (const WorkloadPod* pod : pods_of(gang)) {
    if (pod->is_evictable()) writer(pod->name_space).evict(*pod, disruption_reason(job), message);
  }
}

void Bridge::forget(Gang& gang) {
  for (const WorkloadPod* pod : pods_of(gang)) settled_.insert(pod->uid);
  drop(gang);
}

/** A gang whose pods are being deleted counts as gone: its controller makes all of them again. */
EarlierPods Bridge::earlier_than(const Gang& gang) const {
  const auto is_alive = [this](const Gang* other) { return !other->ended && count_pods(*other, pods_).evictable != 0; };
  return std::ranges::any_of(gangs_.others(gang), is_alive) ? EarlierPods::alive
                                                            : started_.find({gang.workload, gang.attempt});
}

/** How many pods it has may have been changed while they come, and pods that came before may have ended. */
void Bridge::refresh(Gang& gang) {
  if (gang.stage != Gang::Stage::collecting || !gang.spec.is_gang) return;
  gang.earlier = earlier_than(gang);
  std::string why;
  const std::optional<Workload> workload = workloads_.find(gang.workload, why);
  if (workload && workload->is_gang) gang.spec = *workload;
}

/** Its pods that are not settled are assigned again. */
void Bridge::drop(Gang& gang) {
  if (gang.spec.is_gang && gang.stage == Gang::Stage::collecting) workloads_.forget(gang.workload);
  unassigned_.insert(gang.uids.begin(), gang.uids.end());
  ended_.erase(gang.number);
  submit_next_.erase(gang.number);
  if (binding_.erase(gang.number) != 0) submit_waiting();
  gangs_.drop(gang);
}

void Bridge::tell_wait(const Gang& gang, const std::string& message) {
  for (const WorkloadPod* pod : pods_of(gang)) {
    if (pod->kube_node.empty() && !pod->deleting && !pod->is_over()) writer(pod->name_space).tell_wait(*pod, message);
  }
}

/** To pods that wait for others of their gang for longer than these mostly take. */
void Bridge::tell_incomplete(const Gang& gang) {
  constexpr std::chrono::seconds kTellIncompleteAfter{5};
  const TimePoint now = parts_.loop.clock()->now();
  if (gang.stage != Gang::Stage::collecting || !gang.refusal.empty() || now < gang.joined + kTellIncompleteAfter)
    return;
  if (is_complete(gang, now)) return;
  tell_wait(gang, format("%s: %zu of %u pods are there", to_string(gang.workload).c_str(), gang.uids.size(),
                         gang.spec.min_pods));
}

/** Once for each pod, when it has a job. */
void Bridge::report_ignored(const Gang& gang) {
  for (const WorkloadPod* pod : pods_of(gang)) {
    if (pod->ignored.empty() || told_ignored_.contains(pod->uid)) continue;
    const std::string text = pod->ignored + ": no effect: the bridge cannot tell Slurm";
    if (writer(pod->name_space).record(*pod, kIgnored, text)) told_ignored_.insert(pod->uid);
  }
}

/** slurmctld has lost the job of running pods, or its state: an administrator decides, we delete nothing. */
void Bridge::report_unknown(Gang& gang) {
  const std::string text = format("Slurm job %u is unknown to slurmctld; the pod stays", gang.job);
  if (gang.reported.empty()) log_error("%s: %s", to_string(gang.workload).c_str(), text.c_str());
  for (const WorkloadPod* pod : pods_of(gang)) {
    if (pod->is_over() || gang.reported.contains(pod->uid)) continue;
    if (!writer(pod->name_space).record(*pod, kUnknown, text)) break;  // the next round goes on
    gang.reported.insert(pod->uid);
  }
}

/** Its node stays occupied: an administrator has to look at the Kubernetes node. */
void Bridge::report_overdue(Gang& gang) {
  for (const WorkloadPod* pod : find_overdue(gang, pods_, parts_.loop.clock()->wall())) {
    if (gang.overdue.contains(pod->uid)) continue;
    const std::string text = format(
        "Slurm job %u: the pod is still terminating on Kubernetes node %s, %lld s after its "
        "grace period of %lld s",
        gang.job, pod->kube_node.c_str(), static_cast<long long>(WorkloadPod::kOverdueAfter.count()),
        static_cast<long long>(pod->grace.count()));
    if (!writer(pod->name_space).record(*pod, kOverdue, text)) break;  // the next round goes on
    log_warning("%s/%s: %s", pod->name_space.c_str(), pod->name.c_str(), text.c_str());
    gang.overdue.insert(pod->uid);
  }
}

void Bridge::end_orphans() {
  const TimePoint now = parts_.loop.clock()->now();
  std::map<std::uint32_t, TimePoint> orphans;
  std::size_t cancels = 0;
  orphan_comments_.clear();
  for (const auto& [id, job] : jobs_.known().jobs) {
    if (!is_of_bridge(job)) continue;  // a pod's annotation can name any job
    if (job.state == Allocation::State::ended || gangs_.find_job(id, job.uid, job.submitted) != nullptr) continue;
    const auto known = orphans_.find(id);
    const TimePoint since = known == orphans_.end() ? now : known->second;
    orphans.emplace(id, since);
    const std::string comment = job.comment.substr(0, job.comment.rfind(':'));
    orphan_comments_.insert(comment);
    // Its pods may be among those whose workload or claims aren't known.
    const auto is_there = [&](const auto& pod) { return pod.second.contains(comment); };
    if (now < since + kOrphanAfter || std::ranges::any_of(unresolved_, is_there)) continue;
    if (cancels++ >= kMaxOrphanCancels) continue;  // the next round goes on
    log_info("job %u (%s) has no pods: cancelled", id, job.comment.c_str());
    jobs_.end(id, job.submitted, {JobResult::Kind::cancelled}, [] {});
    orphans[id] = now;
  }
  orphans_ = std::move(orphans);
}

}  // namespace slurmk8s
