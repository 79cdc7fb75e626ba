// SPDX-License-Identifier: GPL-2.0-or-later
// Bridge: pods whose scheduler is Slurm. It submits a job for each gang, binds the pods to the Kubernetes nodes of the
// job's Slurm nodes, ends the job with the pods and the pods with the job. All on the thread of one event loop.
//
// It works in rounds. Most are about what has changed since the last one: gangs in `due_`, pods in `unassigned_`. Each
// 0.5 s, and after a change that may concern any gang, a round is about all of them.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "bridge/claim_cache.hpp"
#include "bridge/engine_link.hpp"
#include "bridge/external_nodes.hpp"
#include "bridge/gangs.hpp"
#include "bridge/identity.hpp"
#include "bridge/job_keeper.hpp"
#include "bridge/job_shares.hpp"
#include "bridge/node_selector.hpp"
#include "bridge/placement.hpp"
#include "bridge/pod_jobs.hpp"
#include "bridge/pod_writer.hpp"
#include "bridge/powered_down_nodes.hpp"
#include "bridge/started_workloads.hpp"
#include "bridge/submit_pause.hpp"
#include "bridge/workload_cache.hpp"
#include "daemon/admin_http.hpp"
#include "daemon/fence.hpp"
#include "event/event_loop.hpp"
#include "kube/reflector.hpp"

namespace slurmk8s {

/** What a Bridge works with; all must outlive it. */
struct BridgeParts {
  EventLoop& loop;
  kube::Reader& kube_reader;
  FencedKubeWriter& kube_writer;
  AllocationCaller& slurm;
  AdminState& admin;
};

struct BridgeOptions {
  std::string name_space;  ///< of slurmd's pods
  std::string scheduler;   ///< spec.schedulerName of the pods that it binds, in all namespaces
  std::vector<IdentityRule> rules;
  std::string version;
  std::string engine_socket;  ///< empty: slurmctld has no engine; it is polled, and launches don't wait for pods
  PriorityRules priorities = {};
  DeviceClasses device_classes = {};
  std::vector<Toleration> tolerations = {};  ///< that pods have besides their own, but for those with the bridge's gate
  /** slurmctld then ends a job that waits for its nodes, which it cannot requeue: the bridge does so before. */
  std::chrono::seconds launch_timeout{3600};
  std::size_t max_jobs = kMaxPodJobs;  ///< at a time, with an engine; fewer for tests
  /** That a pod has to end when its job has: Slurm gives its nodes to others, which wait for it. */
  std::chrono::seconds longest_grace = WorkloadPod::kLongestGrace;
};

/** What the metrics tell. */
struct BridgeCounts {
  std::size_t waiting = 0;  ///< pods
  std::size_t bound = 0;
  std::size_t overdue = 0;                        ///< pods: WorkloadPod::is_overdue()
  std::size_t refused = 0;                        ///< gangs
  std::size_t unknown = 0;                        ///< gangs with running pods whose job slurmctld doesn't know
  std::optional<bool> has_engine = std::nullopt;  ///< the engine tells when jobs begin and end; none: not wanted
};

class Bridge {
 public:
  Bridge(const BridgeParts& parts, BridgeOptions options);
  ~Bridge() { stop(); }
  Bridge(const Bridge&) = delete;
  Bridge& operator=(const Bridge&) = delete;

  /** Begins to watch; the loop's turns then do the work. */
  void start();
  /** Begins nothing more. */
  void stop();

 private:
  /** A job without pods is cancelled after this time: its pods may still be on their way here. */
  static constexpr std::chrono::seconds kOrphanAfter{10};
  /** Until the round for a change: one for what comes together. */
  static constexpr std::chrono::milliseconds kSoon{10};

  /** A pod whose job had a node that it does not tolerate. */
  struct PutOff {
    TimePoint until;
    std::chrono::seconds wait{};
  };
  /** A Slurm node that came up on a Kubernetes node with these taints: it may do so again. */
  struct BehindTaints {
    std::vector<Taint> taints;
    TimePoint until;
  };
  /** A Slurm node of a gang, its Kubernetes node, and a taint of that which a pod does not tolerate. */
  struct NodeTaint {
    std::string node;
    std::string kube_node;
    std::string key;
  };

  WorkloadPod decode_pod(const Json& object) const;
  kube::ReflectorListener listen_for_pods();
  kube::ReflectorListener listen_for_gated_pods();
  void take_pod(WorkloadPod pod);
  kube::ReflectorListener listen_for_nodes();
  kube::ReflectorListener listen_for_kube_nodes();
  kube::ReflectorListener listen_for_nodesets();
  void remove_pod(const kube::ObjectKey& key, const std::string& uid);
  void plan_round(std::chrono::milliseconds delay);
  std::chrono::milliseconds until(TimePoint when) const;
  std::chrono::milliseconds until_full_round() const;
  void do_round();
  void do_steps();
  void begin_full_round();
  std::set<std::uint32_t> step_due_gangs();
  void tell_engine(const std::set<std::uint32_t>& jobs);
  void ask_slurmctld();
  void look_at_pod(const std::string& uid);
  void note_in_gang(const WorkloadPod& pod);
  void look_at_job(std::optional<std::uint32_t> job);
  void look_at_all();
  bool is_told_again(std::uint32_t job);
  void jobs_changed(const std::map<std::uint32_t, bool>& running);
  void count_all();
  void publish();
  bool is_listed() const;
  bool is_current() const;

  // Which pods belong together.
  void assign_pods();
  void assign(const WorkloadPod& pod);
  void restore(const WorkloadPod& pod);
  void identify_restored();
  void workload_read(const WorkloadRef& workload);
  void look_at_waiting(const std::set<std::string>& pods);
  bool has_claims(const WorkloadPod& pod);
  bool has_job_without_pods(const WorkloadRef& workload) const;

  // What plan_gang() says.
  void note_job(Gang& gang);
  void step(Gang& gang);
  bool is_busy() const;
  void submit_waiting();
  const JobShares& job_shares();
  bool has_many_jobs(std::size_t max) const;
  bool has_max_jobs();
  bool has_room(const Gang& gang, std::uint32_t user);
  bool put_off(const Gang& gang);
  void submit(Gang& gang);
  void note_submission(Gang& gang, const AllocationRequest& request);
  bool adopt(Gang& gang, std::uint32_t user);
  void submitted(std::uint64_t number, const Result<std::uint32_t>& job);
  void not_submitted(Gang& gang, const Error& error);
  void announce(Gang& gang, const Allocation& job);
  void refuse(Gang& gang, const Error& error);
  void regroup(Gang& gang);
  void replace_pods(Gang& gang, const Allocation& job, const std::vector<const WorkloadPod*>& pods);
  void bind(Gang& gang, const Allocation& job);
  bool has_counted_claims(Gang& gang);
  void tell_unread(const Gang& gang, const Error& error);
  void bind_pod(Gang& gang, const Allocation& job, const WorkloadPod& pod, const std::string& kube_nodes);
  void finish(Gang& gang, const JobResult& result);
  void give_up(Gang& gang, const JobResult& result);
  void evict(const Gang& gang, const Allocation& job);
  void forget(Gang& gang);
  EarlierPods earlier_than(const Gang& gang) const;
  void refresh(Gang& gang);
  void drop(Gang& gang);
  void tell_wait(const Gang& gang, const std::string& message);
  void tell_incomplete(const Gang& gang);
  void report_ignored(const Gang& gang);
  void report_unknown(Gang& gang);
  void report_overdue(Gang& gang);
  void end_orphans();

  std::set<std::uint32_t> jobs_of_gangs() const;
  std::vector<const WorkloadPod*> pods_of(const Gang& gang) const;
  JobAnnotations annotations_of(const Gang& gang) const;
  Result<IdentityRule> identity_of(const Gang& gang, const JobAnnotations& annotations) const;
  Result<BridgeDevices> devices_of(const std::vector<const WorkloadPod*>& pods);
  Result<AllocationRequest> request_for(const Gang& gang);
  bool has_size(Gang& gang);
  Status choose_nodes(const std::vector<const WorkloadPod*>& pods, AllocationRequest& request);
  Result<std::vector<const NodeSelector*>> selectors_of(const WorkloadPod& pod);
  bool are_selecting(const std::vector<const NodeSelector*>& selectors, const std::string& kube_node) const;
  std::set<std::string> find_nodes_behind_taints(const std::vector<const WorkloadPod*>& pods);
  Result<bool> is_misplaced(const Gang& gang);
  std::vector<NodeTaint> find_taints_in_the_way(const Gang& gang) const;
  void give_back(Gang& gang, const std::vector<NodeTaint>& untolerated);
  std::string kube_nodes_of(const Gang& gang) const;
  std::string hostname_of(const std::string& kube_node) const;
  NodeTopologies topologies_of(const Allocation& job) const;
  void note_occupied_nodes();
  PodWriter& writer(const std::string& name_space);

  const BridgeParts parts_;
  const BridgeOptions options_;
  kube::Throttle throttle_;                                    // one 429 pauses all writers
  std::map<std::string, std::unique_ptr<PodWriter>> writers_;  // by namespace
  JobKeeper jobs_;
  WorkloadCache workloads_;
  ClaimCache claims_;
  kube::Reflector pods_reflector_;
  kube::Reflector gated_pods_reflector_;  // pods with kLabelBridge
  kube::Reflector nodes_reflector_;       // slurmd's pods
  kube::Reflector kube_nodes_reflector_;
  kube::Reflector nodesets_reflector_;

  WorkloadPods pods_;
  std::map<kube::ObjectKey, std::string> uids_;
  std::set<kube::ObjectKey> gated_;  // pods of gated_pods_reflector_
  KubeNodes kube_node_of_;
  ExternalNodes external_nodes_{kube_node_of_};
  PoweredDownNodes powered_down_nodes_;
  KubeNodePlaces kube_nodes_;
  std::map<std::string, BehindTaints> behind_taints_;        // Slurm nodes that jobs were given in vain
  std::map<std::string, std::string> kube_node_topologies_;  // of Kubernetes nodes; empty: none
  Gangs gangs_;
  StartedWorkloads started_;
  std::set<std::uint64_t> unidentified_;        // restored gangs whose workload isn't known yet
  std::set<std::uint64_t> due_;                 // gangs of the next round
  std::set<std::string> unassigned_;            // pods that the next round assigns to gangs, by uid
  bool is_full_ = true;                         // the next round is about all gangs and pods
  TimePoint full_at_{};                         // when the last one of these was
  std::set<std::uint64_t> submit_next_;         // gangs whose submission waits for others
  SubmitPause submit_pause_;                    // no job is submitted meanwhile
  std::map<std::uint64_t, TimePoint> binding_;  // gangs that are being bound, since when; not those that take long
  std::set<std::string> settled_;               // uids of pods of forgotten gangs: nothing is left to do
  std::set<std::uint64_t> ended_;               // gangs whose jobs have ended
  std::set<std::string> occupied_;              // Kubernetes nodes with pods of ended jobs; of this round
  std::map<std::uint32_t, TimePoint> orphans_;  // jobs without pods, since when
  std::set<std::string> orphan_comments_;       // theirs, without the pods
  bool is_engine_started_ = false;              // EngineLink::start() was called
  std::optional<JobShares> job_shares_;         // none: to be counted
  std::map<std::string, std::set<std::string>>
      unresolved_;                                       // pods whose workload or claims aren't known: comments_of()
  std::map<WorkloadRef, std::set<std::string>> unread_;  // workloads that aren't known, and pods that wait for them
  std::map<std::string, PutOff> put_off_;                // pods whose next gang gets no job before then, by uid
  std::set<std::string> told_ignored_;                   // pods with an event that names fields without effect, by uid
  std::set<std::string> refused_;                        // pods that are in no gang, since they can't have a job
  TimePoint engine_up_since_{};                          // of the connection that the last round had; {}: none
  bool needs_jobs_ = false;                              // a gang needs a list of jobs from after its submission
  std::size_t submitting_ = 0;                           // submissions without an answer
  std::vector<std::uint32_t> pending_;                   // jobs that wait; of the last full round
  bool lacks_position_ = false;                          // one of these has no position in the queue yet
  bool lacks_new_position_ = false;                      // one of these is newer than the last list
  std::multimap<TimePoint, std::uint64_t> tell_at_;      // when to tell the pods of a gang about its new job
  std::size_t next_pending_ = 0;                         // whose reason is read next
  TimePoint pending_read_{};                             // when reasons were last asked for
  std::unique_ptr<EngineLink> engine_;                   // null: BridgeOptions::engine_socket is empty
  BridgeCounts counts_;
  Timers::Id round_timer_ = 0;
  TimePoint round_due_{};
};

}  // namespace slurmk8s
