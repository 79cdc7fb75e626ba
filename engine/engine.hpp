// SPDX-License-Identifier: GPL-2.0-or-later
// Engine: holds NodeSets, pods and wanted nodes, asks the plan what to do, and has it done. One thread owns it.
//
// Data flows one way: Slurm's requests and the watches change a Node, which is queued; pump() takes queued nodes while
// the executor has room, plans each again and starts its action; the answer changes the Node, which is queued again.
// Nothing is decided from a queued action, always from the node as it is when its turn comes.
#pragma once

#include <deque>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/backoff.hpp"
#include "base/clock_watch.hpp"
#include "base/random.hpp"
#include "event/timers.hpp"
#include "engine/catalog_keeper.hpp"
#include "engine/claim_maker.hpp"
#include "engine/engine_metrics.hpp"
#include "engine/engine_events.hpp"
#include "engine/executor.hpp"
#include "engine/node.hpp"
#include "engine/nodeset_store.hpp"
#include "settings/options.hpp"
#include "engine/plan.hpp"
#include "engine/pod_orders.hpp"
#include "engine/recovered_jobs.hpp"
#include "control/resume_request.hpp"
#include "slurm/slurm_caller.hpp"
#include "engine/slurm_reports.hpp"
#include "engine/user_lookup.hpp"
#include "kube/reflector.hpp"

namespace slurmk8s {

class Engine {
 public:
  struct Parts {
    kube::Client& client;  ///< no fence: slurmctld being in control is the engine's (Worker)
    Timers& timers;
    const Clock& clock;
    SlurmCaller& slurm;
    const Options& options;                     ///< name_space resolved
    CatalogKeeper::Publish publish = {};        ///< takes the catalog of variants at each change; empty: not published
    std::function<void()> wake_scheduler = {};  ///< has slurmctld look for jobs to start; empty: it does when it does
    /** Has slurmctld ask a node's slurmd to register; empty: it can't be asked to. */
    std::function<void(const std::string& node)> ask_registration = {};
    CatalogKeeper::FormerIds former_ids = {};  ///< of users, until `users` has found them; empty: there are none
    UserLookup* users = nullptr;  ///< of variants that are for some users only; null: those are for no user by name
    bool one_shot = false;        ///< made for one request: nothing is compared with Slurm's records or put off
    Jitter jitter = random_unit;  ///< of back-offs
    TimePoint ends_told_at{};     ///< see PlanContext
  };

  explicit Engine(Parts parts);

  /** Starts the watches. Nothing is sent about a pod before ready(). */
  void start();

  /** Slurm wants these nodes up. Idempotent for one request id. */
  void resume(const ResumeRequest& request);
  /** Slurm wants these nodes down; nodes without a pod are done already. */
  void suspend(const std::vector<std::string>& names);

  /** NodeSets and pods are listed and, unless one_shot, compared with Slurm's records (or that took too long). */
  bool ready() const { return nodesets_reflector_.synced() && pods_reflector_.synced() && reconciled_; }
  /** slurmctld has answered with its records: it has read its configuration. */
  bool has_compared() const { return compared_; }
  /** Nothing is left to be done about any of these nodes: each has its pod, or none, or was reported. */
  bool settled(const std::vector<std::string>& names) const;

  const EngineMetrics& metrics() const { return metrics_; }
  EngineGauges gauges() const;

 private:
  void on_nodeset(const Json& object);
  void on_nodeset_removed(const std::string& name);
  void on_pod(const Json& object);
  void on_pod_removed(const std::string& name, const std::string& uid);
  void on_synced();
  void observe(const std::string& name, Pod pod);
  void tell_at_once(const std::string& name, Node& node);
  void note_pod(const std::string& name, Node& node, Pod pod);
  void time_steps(Node& node);

  void watch_clock();
  void await_records();
  void reconcile();
  void schedule_reconcile(std::chrono::seconds wait);
  void note_record(const SlurmNode& record, bool owned);
  void on_slurm_nodes(const Result<std::vector<SlurmNode>>& records, TimePoint begun);
  void renew(const std::vector<std::string>& unregistered);

  bool is_watched(const std::string& name, const Node& node) const {
    return pods_reflector_.knows({parts_.options.name_space, name}, node.pod_uid());
  }
  bool watch_fails() const { return !pods_reflector_.last_error().empty(); }
  void on_pause(const kube::Throttle::Pause& pause);
  void record(const EventKind& kind, const std::string& node, const std::string& note);
  SlurmReports::Waiting waits_for(const std::string& name) const;

  PlanContext context(const Owner& owner) const {
    return {owner, parts_.clock.now(), parts_.one_shot, parts_.ends_told_at};
  }

  // engine_actions.cc
  void enqueue(const std::string& name);
  void enqueue_at(const std::string& name, TimePoint at);
  void pump();
  void act(const std::string& name, Node& node);
  void change(const std::string& name, Node& node, const Action& action);
  /** Stores an answer about a node, and does at once what follows from it. */
  void decide(const std::string& name, Answer answer, std::string text = {});
  void order(const std::string& name, Node& node, const NodeSet& nodeset);
  void create(const std::string& name, Node& node, const NodeSet& nodeset);
  void create_pod(const std::string& name, const std::string& request, const Status& claims);
  void remove(const std::string& name, Node& node, const std::string& uid);
  void replace(const std::string& name, Node& node, const Action& action);
  void adopt(const std::string& name, Node& node);
  void ask(const std::string& name, Node& node);
  void get_pod(const std::string& name, Node& node, Action::Kind why);
  void fail(const std::string& name, Node& node, const Action& action);
  void tell_stuck(const std::string& name, Node& node, const Action& action);
  void on_order(const std::string& name, const PodOrders::Question& question, const Result<PodOrders::Facts>& facts);
  void on_created(const std::string& name, const std::string& request, const Result<Json>& result);
  void on_removed(const std::string& name, const std::string& uid, const Result<Json>& result);
  void on_pod_read(const std::string& name, Action::Kind why, const Result<Json>& result);
  void on_record(const std::string& name, const Result<SlurmNode>& record);
  void on_verdict(const std::string& name, const Action& action, const Result<Verdict>& verdict);
  void on_stuck(const std::string& name, const Result<StuckVerdict>& verdict);
  void back_off(const std::string& name, const std::string& cause);
  Node& answered(const std::string& name);

  Parts parts_;
  EngineMetrics metrics_;
  kube::Writer& writer_;
  Executor executor_;
  ClaimMaker claims_{executor_};
  SlurmReports reports_;
  PodOrders orders_;
  NodeSetStore nodesets_;
  RecoveredJobs recovered_jobs_;
  CatalogKeeper catalog_;
  kube::EventRecorder events_;
  kube::Reflector nodesets_reflector_;
  kube::Reflector pods_reflector_;

  std::unordered_map<std::string, Node> nodes_;
  std::deque<std::string> queue_;
  std::unordered_set<std::string> queued_;
  ClockWatch clock_watch_;
  bool reconciled_ = false;  // or given up waiting for it
  bool compared_ = false;    // at Slurm's records
  // Doubles: slurmctld may have come back with a state older than the world, which its first seconds show.
  std::chrono::seconds reconcile_interval_{1};
  Backoff backoff_{std::chrono::milliseconds(200), std::chrono::seconds(30)};
  LogLimiter api_limiter_{std::chrono::seconds(5)};
};

}  // namespace slurmk8s
