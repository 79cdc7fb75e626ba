// SPDX-License-Identifier: GPL-2.0-or-later
// What the bridge watches, and its rounds. What it does for a gang is in bridge_steps.cc.
#include "bridge/bridge.hpp"

#include <algorithm>
#include <utility>

#include "base/log.hpp"
#include "bridge/job_request.hpp"
#include "bridge/metrics.hpp"
#include "bridge/names.hpp"
#include "nodeset/field_error.hpp"
#include "nodeset/kube_node_topology.hpp"
#include "nodeset/names.hpp"
#include "nodeset/omit.hpp"

namespace slurmk8s {
namespace {

constexpr std::chrono::milliseconds kLively{500};  // between two looks at the jobs, while there are pods
constexpr std::chrono::milliseconds kIdle{10000};
/** A gang that is not bound for so long is no reason to submit no other. */
constexpr std::chrono::seconds kBindingTime{5};
/** Every kLively: of 150 jobs each reason is at most 3 s old, and slurmctld is asked 50 times a second at most. */
constexpr std::size_t kPendingPerRead = 25;
/** More are read with a list of all jobs. */
constexpr std::size_t kMaxSingle = 50;
constexpr const char* kGateOfOthers = "a pod with the bridge's gate keeps another spec.schedulerName, which binds it";

/** Comments, without the pods, that a job of the pod can have. */
std::set<std::string> comments_of(const WorkloadPod& pod) {
  return {comment_of(pod.group), comment_of({pod.name_space, "Pod", pod.name})};
}

}  // namespace

Bridge::Bridge(const BridgeParts& parts, BridgeOptions options)
    : parts_(parts),
      options_(std::move(options)),
      throttle_(*parts.loop.clock()),
      jobs_(
          parts.slurm, *parts.loop.clock(), [this](auto job) { look_at_job(job); }, [this] { return jobs_of_gangs(); }),
      workloads_(parts.kube_reader, *parts.loop.clock(), [this](const auto& one) { workload_read(one); }),
      claims_(parts.kube_reader, *parts.loop.clock(), options_.device_classes,
              [this](const auto& pods) { look_at_waiting(pods); }),
      pods_reflector_(parts.kube_reader, parts.loop.timers(), *parts.loop.clock(),
                      {.resource = kube::kPods, .field_selector = "spec.schedulerName=" + options_.scheduler},
                      listen_for_pods()),
      gated_pods_reflector_(
          parts.kube_reader, parts.loop.timers(), *parts.loop.clock(),
          {.resource = kube::kPods, .label_selector = std::string(kLabelBridge) + "=" + options_.scheduler},
          listen_for_gated_pods()),
      nodes_reflector_(parts.kube_reader, parts.loop.timers(), *parts.loop.clock(),
                       {.resource = kube::kPods,
                        .name_space = options_.name_space,
                        .label_selector = kLabelNode,
                        .omit = kOmitOfPods},
                       listen_for_nodes()),
      kube_nodes_reflector_(parts.kube_reader, parts.loop.timers(), *parts.loop.clock(),
                            {.resource = kube::kNodes, .omit = kOmitOfKubernetesNodes}, listen_for_kube_nodes()),
      nodesets_reflector_(parts.kube_reader, parts.loop.timers(), *parts.loop.clock(),
                          {.resource = kube::kNodeSets, .name_space = options_.name_space}, listen_for_nodesets()) {
  if (options_.engine_socket.empty()) return;
  engine_ = std::make_unique<EngineLink>(parts_.loop, options_.engine_socket,
                                         [this](const auto& running) { jobs_changed(running); });
}

WorkloadPod Bridge::decode_pod(const Json& object) const {
  WorkloadPod pod = decode_workload_pod(object);
  pod.longest_grace = options_.longest_grace;
  if (pod.has_gate) return pod;  // kube-scheduler binds it, which knows its own tolerations alone
  for (Toleration toleration : options_.tolerations) {
    toleration.effect = "NoSchedule";  // Kubernetes evicts pods, whatever the administrator tolerates
    pod.tolerations.push_back(std::move(toleration));
  }
  return pod;
}

kube::ReflectorListener Bridge::listen_for_pods() {
  kube::ReflectorListener listener;
  listener.upsert = [this](const Json& object) {
    WorkloadPod pod = decode_pod(object);
    if (pod.has_gate) pod.refusal = forbidden_field("spec.schedulingGates", kGateOfOthers);
    take_pod(std::move(pod));
  };
  listener.remove = [this](const kube::ObjectKey& key, const std::string& uid, const Json&) { remove_pod(key, uid); };
  listener.synced = [this] { look_at_all(); };
  return listener;
}

void Bridge::take_pod(WorkloadPod pod) {
  uids_[{pod.name_space, pod.name}] = pod.uid;
  const std::string uid = pod.uid;
  note_in_gang(pod);
  const auto former = pods_.find(uid);
  if (former != pods_.end()) started_.forget(former->second);  // its owner or its labels may be others now
  started_.note(pod);
  pods_.insert_or_assign(uid, std::move(pod));
  look_at_pod(uid);
}

/** A pod that is lost with its Kubernetes node, or has ended, may be gone before the next round. */
void Bridge::note_in_gang(const WorkloadPod& pod) {
  if (!pod.is_lost && !pod.is_over()) return;
  Gang* const gang = gangs_.find(pod.uid);
  if (gang == nullptr) return;
  if (pod.is_lost && gang->lost == TimePoint{}) gang->lost = parts_.loop.clock()->now();
  if (pod.is_over() && pod.has_own_end()) gang->ends.insert_or_assign(pod.uid, pod.end);
}

/** Pods of another scheduler with the bridge's gate, and those that it took the gate from: these have a job. */
kube::ReflectorListener Bridge::listen_for_gated_pods() {
  kube::ReflectorListener listener;
  const auto forget = [this](const kube::ObjectKey& key, const std::string& uid) {
    if (gated_.erase(key) != 0) remove_pod(key, uid);
  };
  listener.upsert = [this, forget](const Json& object) {
    if (object.at({"spec", "schedulerName"}).text() == options_.scheduler) return;  // of listen_for_pods()
    WorkloadPod pod = decode_pod(object);
    const kube::ObjectKey key{pod.name_space, pod.name};
    if (!pod.has_gate && pod.job == 0) return forget(key, pod.uid);
    gated_.insert(key);
    take_pod(std::move(pod));
  };
  listener.remove = [forget](const kube::ObjectKey& key, const std::string& uid, const Json&) { forget(key, uid); };
  listener.synced = [this] { look_at_all(); };
  return listener;
}

void Bridge::remove_pod(const kube::ObjectKey& key, const std::string& uid) {
  look_at_pod(uid);
  if (const auto pod = pods_.find(uid); pod != pods_.end()) {
    started_.forget(pod->second);
    pods_.erase(pod);
  }
  settled_.erase(uid);
  unresolved_.erase(uid);
  refused_.erase(uid);
  put_off_.erase(uid);
  told_ignored_.erase(uid);
  const auto found = uids_.find(key);
  if (found == uids_.end() || found->second != uid) return;  // the name has another pod by now
  writer(key.name_space).forget(key.name);
  uids_.erase(found);
}

kube::ReflectorListener Bridge::listen_for_nodes() {
  kube::ReflectorListener listener;
  listener.upsert = [this](const Json& object) {
    const std::string node(object.at({"metadata", "labels", kLabelNode}).text());
    const std::string_view kube_node = object.at({"spec", "nodeName"}).text();
    const bool is_leaving = !object.at({"metadata", "deletionTimestamp"}).is_null();
    if (kube_node.empty() || is_leaving) {
      if (kube_node_of_.erase(node) != 0) look_at_all();
    } else if (kube_node_of_[node] != kube_node) {
      kube_node_of_[node] = kube_node;
      look_at_all();
    }
  };
  listener.remove = [this](const kube::ObjectKey& key, const std::string&, const Json&) {
    if (kube_node_of_.erase(key.name) != 0) look_at_all();  // a node's pod has its name
  };
  listener.synced = [this] { look_at_all(); };
  return listener;
}

kube::ReflectorListener Bridge::listen_for_kube_nodes() {
  kube::ReflectorListener listener;
  listener.upsert = [this](const Json& object) {
    KubeNodePlace place;
    object.at({"metadata", "labels"}).each([&](std::string_view key, const Json& value) {
      place.labels[std::string(key)] = value.text();
    });
    place.taints = decode_taints(object);
    const std::string name(object.at({"metadata", "name"}).text());
    external_nodes_.add_kube_node(name);
    kube_nodes_[name] = std::move(place);
    kube_node_topologies_[name] = decode_kube_node_topology(object.at({"metadata", "annotations"}));
  };
  listener.remove = [this](const kube::ObjectKey& key, const std::string&, const Json&) {
    external_nodes_.remove_kube_node(key.name);
    kube_nodes_.erase(key.name);
    kube_node_topologies_.erase(key.name);
  };
  listener.synced = [this] { look_at_all(); };
  return listener;
}

kube::ReflectorListener Bridge::listen_for_nodesets() {
  kube::ReflectorListener listener;
  listener.upsert = [this](const Json& object) {
    external_nodes_.set_nodeset(object);
    powered_down_nodes_.set_nodeset(object);
  };
  listener.remove = [this](const kube::ObjectKey& key, const std::string&, const Json&) {
    external_nodes_.remove_nodeset(key.name);
    powered_down_nodes_.remove_nodeset(key.name);
  };
  listener.synced = [this] { look_at_all(); };
  return listener;
}

void Bridge::start() {
  pods_reflector_.start();
  gated_pods_reflector_.start();
  nodes_reflector_.start();
  kube_nodes_reflector_.start();
  nodesets_reflector_.start();
  jobs_.load(JobKeeper::Since::any);
  publish();
}

void Bridge::stop() {
  pods_reflector_.stop();
  gated_pods_reflector_.stop();
  nodes_reflector_.stop();
  kube_nodes_reflector_.stop();
  nodesets_reflector_.stop();
  parts_.loop.timers().cancel(round_timer_);
}

// Several changes that come together make one round: the first that is due.
void Bridge::plan_round(std::chrono::milliseconds delay) {
  const TimePoint due = parts_.loop.clock()->now() + delay;
  if (round_timer_ != 0 && round_due_ <= due) return;
  if (round_timer_ != 0) parts_.loop.timers().cancel(round_timer_);
  round_due_ = due;
  round_timer_ = parts_.loop.timers().after(delay, [this] { do_round(); });
}

void Bridge::look_at_pod(const std::string& uid) {
  const Gang* const gang = gangs_.find(uid);
  if (gang != nullptr) {
    due_.insert(gang->number);
  } else if (!settled_.contains(uid)) {
    unassigned_.insert(uid);
  }
  plan_round(kSoon);
}

/** None: all of them. */
void Bridge::look_at_job(std::optional<std::uint32_t> job) {
  if (!job) return look_at_all();
  for (const Gang* gang : gangs_.of_job(*job)) due_.insert(gang->number);
  plan_round(kSoon);
}

void Bridge::look_at_all() {
  is_full_ = true;
  plan_round(kSoon);
}

/** Whether the engine has said before that the job, which is being configured, does not run: it may have ended now. */
bool Bridge::is_told_again(std::uint32_t job) {
  bool is_again = false;
  for (Gang* gang : gangs_.of_job(job)) is_again = std::exchange(gang->is_told_configuring, true) || is_again;
  return is_again;
}

/** Reads the jobs that slurmctld did not yet show so. */
void Bridge::jobs_changed(const std::map<std::uint32_t, bool>& running) {
  std::set<std::uint32_t> jobs;
  for (const auto& [job, runs] : running) {
    look_at_job(job);  // the engine may allow its pods' bindings now
    if (runs) jobs_.note_start(job);
    const auto known = jobs_.known().jobs.find(job);
    const bool is_known = known != jobs_.known().jobs.end();
    const bool differs = !is_known || runs != (known->second.state == Allocation::State::running);
    const bool is_configuring = is_known && known->second.state == Allocation::State::configuring;
    if (differs || (is_configuring && is_told_again(job))) jobs.insert(job);
  }
  if (jobs.size() > kMaxSingle) {
    jobs_.load(JobKeeper::Since::now);
  } else {
    jobs_.load(jobs, JobKeeper::Since::now);
  }
  plan_round(kSoon);
}

void Bridge::begin_full_round() {
  is_full_ = false;
  full_at_ = parts_.loop.clock()->now();
  std::erase_if(binding_, [this](const auto& one) { return one.second + kBindingTime < full_at_; });
  for (const auto& [number, gang] : gangs_.all()) due_.insert(number);
  for (const auto& [uid, pod] : pods_) unassigned_.insert(uid);
  unread_.clear();
  pending_.clear();
}

void Bridge::do_steps() {
  const bool is_full = is_full_ || parts_.loop.clock()->now() >= full_at_ + kLively;
  if (is_full) begin_full_round();
  identify_restored();
  assign_pods();
  const std::set<std::uint32_t> jobs = step_due_gangs();
  if (is_full) {
    count_all();
    end_orphans();
    workloads_.prune();
    claims_.prune();
    for (const auto& [name_space, pod_writer] : writers_) pod_writer->flush();
  }
  if (engine_) tell_engine(jobs);
}

/** Returns the jobs that these gangs have or had. */
std::set<std::uint32_t> Bridge::step_due_gangs() {
  job_shares_.reset();
  const std::set<std::uint64_t> due = std::exchange(due_, {});
  std::set<std::uint32_t> jobs;
  for (const std::uint64_t number : due) {
    const auto gang = gangs_.all().find(number);
    if (gang == gangs_.all().end()) continue;
    note_job(gang->second);
    if (gang->second.job != 0) jobs.insert(gang->second.job);
  }
  note_occupied_nodes();
  for (const std::uint64_t number : due) {
    const auto gang = gangs_.all().find(number);  // a step may end a gang
    if (gang != gangs_.all().end()) step(gang->second);
  }
  return jobs;
}

/** Of these jobs, in which something may have changed. */
void Bridge::tell_engine(const std::set<std::uint32_t>& jobs) {
  std::vector<const Gang*> gangs;
  for (const std::uint32_t job : jobs) {
    for (const Gang* gang : gangs_.of_job(job)) gangs.push_back(gang);
  }
  if (!jobs.empty()) engine_->set(jobs, list_pod_jobs(gangs, pods_, jobs_.known(), kube_node_of_, is_current()));
  // Not before it is known where pods are: slurmctld would launch there.
  if (!std::exchange(is_engine_started_, true)) engine_->start();
}

void Bridge::do_round() {
  round_timer_ = 0;
  needs_jobs_ = false;
  const TimePoint now = parts_.loop.clock()->now();
  for (; !tell_at_.empty() && tell_at_.begin()->first <= now; tell_at_.erase(tell_at_.begin())) {
    due_.insert(tell_at_.begin()->second);
  }
  const TimePoint up_since = engine_ && engine_->is_up() ? engine_->up_since() : TimePoint{};
  is_full_ = is_full_ || std::exchange(engine_up_since_, up_since) != up_since;
  if (is_listed() && jobs_.known().asked != TimePoint{}) do_steps();
  publish();
  ask_slurmctld();
}

/** Whether the jobs are those of the engine's slurmctld: another one may have another job of an id. */
bool Bridge::is_current() const { return !engine_ || (engine_->is_up() && jobs_.known().asked > engine_->up_since()); }

/** A list is all jobs of all users: less often with an engine that tells of changes. */
void Bridge::ask_slurmctld() {
  const bool is_lively =
      !gangs_.all().empty() || !orphans_.empty() || !unresolved_.empty() || jobs_.known().asked == TimePoint{};
  const bool is_told = engine_ && engine_->is_up();
  std::chrono::milliseconds between_lists = !is_lively ? kIdle : is_told ? list_pace(jobs_.list_time()) : kLively;
  if (lacks_position_) between_lists = std::min(between_lists, position_pace(jobs_.list_time(), lacks_new_position_));
  // The last full round asked a bit later than it began.
  const TimePoint now = parts_.loop.clock()->now() + kSoon;
  if (is_told && !is_current()) {
    jobs_.load_whole();
  } else if (needs_jobs_ || now >= jobs_.known().asked + between_lists) {
    jobs_.load(JobKeeper::Since::any);
  }
  if (is_told && now >= pending_read_ + kLively) {
    pending_read_ = parts_.loop.clock()->now();
    std::set<std::uint32_t> jobs;
    for (std::size_t i = 0; i < std::min(pending_.size(), kPendingPerRead); ++i) {
      jobs.insert(pending_[next_pending_++ % pending_.size()]);
    }
    jobs_.load(jobs, JobKeeper::Since::any);
  }
  plan_round(is_lively ? until_full_round() : kIdle);
  if (!tell_at_.empty()) plan_round(until(tell_at_.begin()->first));
}

std::chrono::milliseconds Bridge::until(TimePoint when) const {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(when - parts_.loop.clock()->now());
  return std::max(left, kSoon);
}

/** Rounds for changes put it off no further. Without what it needs there was none when it was due. */
std::chrono::milliseconds Bridge::until_full_round() const {
  const TimePoint due = full_at_ + kLively;
  return due <= parts_.loop.clock()->now() ? kLively : std::min(until(due), kLively);
}

void Bridge::workload_read(const WorkloadRef& workload) {
  const auto waiting = unread_.extract(workload);
  if (!waiting.empty()) look_at_waiting(waiting.mapped());
}

void Bridge::look_at_waiting(const std::set<std::string>& pods) {
  if (pods.empty()) return;
  unassigned_.insert(pods.begin(), pods.end());
  plan_round(kSoon);
}

void Bridge::assign_pods() {
  for (const std::string& uid : std::exchange(unassigned_, {})) {
    const auto pod = pods_.find(uid);
    if (pod == pods_.end() || settled_.contains(uid)) continue;
    if (gangs_.find(uid) == nullptr) assign(pod->second);
    note_in_gang(pod->second);
    if (const Gang* gang = gangs_.find(uid)) due_.insert(gang->number);
  }
}

/** Counts pods and gangs for the metrics, and lists the pending jobs, whose reasons are read in turn. */
void Bridge::count_all() {
  counts_ = {};
  lacks_position_ = lacks_new_position_ = false;
  counts_.refused = refused_.size();
  for (const auto& [number, gang] : gangs_.all()) {
    const GangCounts count = count_pods(gang, pods_);
    counts_.waiting += count.waiting;
    counts_.bound += count.bound;
    if (count.leaving != 0) counts_.overdue += find_overdue(gang, pods_, parts_.loop.clock()->wall()).size();
    if (!gang.refusal.empty()) ++counts_.refused;
    if (gang.is_unknown) ++counts_.unknown;
    const Allocation* const job = jobs_.known().find(gang);
    if (job == nullptr || job->state != Allocation::State::pending) continue;
    pending_.push_back(gang.job);
    if (job->position != 0 || job->priority == 0) continue;
    lacks_position_ = true;
    lacks_new_position_ = lacks_new_position_ || gang.asked > jobs_.known().asked;
  }
}

std::set<std::uint32_t> Bridge::jobs_of_gangs() const {
  std::set<std::uint32_t> jobs;
  for (const auto& [number, gang] : gangs_.all()) {
    if (gang.job != 0) jobs.insert(gang.job);
  }
  return jobs;
}

/**
 * A bound pod that says for which job. Anybody who may create pods can write that: so the job must be of the namespace,
 * or of the user who has its jobs.
 */
void Bridge::restore(const WorkloadPod& pod) {
  if (pod.job == 0 || pod.job_submitted == 0) return;
  const auto job = jobs_.known().jobs.find(pod.job);
  const bool is_of_namespace =
      job != jobs_.known().jobs.end() && find_job_namespace(job->second.comment) == pod.name_space;
  const Result<IdentityRule> rule = find_identity(options_.rules, pod, {});
  if (!is_of_namespace && !rule) return;
  std::string why;
  const std::optional<Workload> workload = workloads_.find(pod.group, why);
  const Gang& gang = gangs_.restore(pod, workload.value_or(Workload{}), is_of_namespace ? job->second.uid : rule->uid);
  if (workload) return;
  unidentified_.insert(gang.number);
  unread_[pod.group].insert(pod.uid);
}

/** Before other pods of the same workloads join a gang. */
void Bridge::identify_restored() {
  std::erase_if(unidentified_, [this](std::uint64_t number) {
    const auto found = gangs_.all().find(number);
    if (found == gangs_.all().end()) return true;
    const std::vector<const WorkloadPod*> pods = pods_of(found->second);
    std::string why;
    const std::optional<Workload> workload = pods.empty() ? std::nullopt : workloads_.find(pods.front()->group, why);
    if (workload) gangs_.identify(found->second, *pods.front(), *workload);
    return workload.has_value();
  });
}

void Bridge::assign(const WorkloadPod& pod) {
  unresolved_.erase(pod.uid);
  refused_.erase(pod.uid);
  if (!pod.kube_node.empty()) return restore(pod);
  if (pod.is_over() || pod.deleting || pod.gated) return;
  std::string why;
  const std::optional<Workload> workload = workloads_.find(pod.group, why);
  if (!workload) {
    unresolved_.emplace(pod.uid, comments_of(pod));
    unread_[pod.group].insert(pod.uid);
    if (!why.empty()) writer(pod.name_space).tell_wait(pod, to_string(pod.group) + ": " + why);
    return;
  }
  if (pod.refusal) {
    refused_.insert(pod.uid);
    return writer(pod.name_space).tell_wait(pod, pod.refusal->message(), PodWriter::kRefused);
  }
  if (!has_job_without_pods(ref_of_gang(pod, *workload)) && !has_claims(pod)) return;
  gangs_.join(pod, *workload, parts_.loop.clock()->now());
  const auto held = put_off_.find(pod.uid);
  if (held != put_off_.end()) gangs_.find(pod.uid)->not_before = held->second.until;
}

/** From before this process began: the pod's claims were judged then. Anybody can write a Comment: see submit(). */
bool Bridge::has_job_without_pods(const WorkloadRef& workload) const {
  return !orphan_comments_.empty() && orphan_comments_.contains(comment_of(workload));
}

/** Whether all its claims can be used; tells why not. */
bool Bridge::has_claims(const WorkloadPod& pod) {
  const ClaimCache::Answer claims = claims_.judge(pod);
  if (!claims.why.empty()) {
    refused_.insert(pod.uid);
    writer(pod.name_space).tell_wait(pod, claims.why, PodWriter::kRefused);
    return false;
  }
  if (claims.is_known) return true;
  unresolved_.emplace(pod.uid, comments_of(pod));
  if (!claims.unread.empty()) writer(pod.name_space).tell_wait(pod, claims.unread);
  return false;
}

PodWriter& Bridge::writer(const std::string& name_space) {
  std::unique_ptr<PodWriter>& found = writers_[name_space];
  if (!found) {
    found = std::make_unique<PodWriter>(
        PodWriterParts{parts_.kube_writer, parts_.loop.timers(), *parts_.loop.clock(), throttle_, counts_.waiting},
        name_space);
  }
  return *found;
}

bool Bridge::is_listed() const {
  return pods_reflector_.synced() && gated_pods_reflector_.synced() && nodes_reflector_.synced() &&
         kube_nodes_reflector_.synced() && nodesets_reflector_.synced();
}

void Bridge::publish() {
  counts_.has_engine = engine_ ? std::optional(engine_->is_up()) : std::nullopt;
  const TimePoint answered = jobs_.answered();
  parts_.admin.publish({.listed = is_listed(),
                        .slurm_answered = answered == TimePoint{} ? std::nullopt : std::optional<TimePoint>(answered),
                        .metrics = encode_bridge_metrics(counts_, gangs_.all().size(), options_.version)});
}

}  // namespace slurmk8s
