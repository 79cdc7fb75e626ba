// SPDX-License-Identifier: GPL-2.0-or-later
// Reconciler: holds the NodeSets and pods, and in rounds brings Slurm's node records to what they say.
//
// One thread, which its calls to slurmctld block. It keeps nothing that it couldn't find out again: after a restart the
// first round starts from what Slurm has.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <ctime>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/backoff.hpp"
#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/random.hpp"
#include "sidecar/cancelled_starts.hpp"
#include "slurm/slurm.hpp"
#include "json/json.hpp"
#include "sidecar/node_plan.hpp"
#include "sidecar/other_pods.hpp"
#include "sidecar/power_up_pace.hpp"
#include "sidecar/open_jobs.hpp"
#include "sidecar/steady_resources.hpp"

namespace slurmk8s {

/** What a Reconciler does beside its calls to slurmctld; each may be empty. */
struct ReconcilerHooks {
  /** slurmctld has been asked to power nodes up or down, which it begins within a second by itself. */
  std::function<void()> wake_power_save = {};
  /** Writes gres_conf.hpp's text, which slurmctld reads when it makes nodes. When it fails none are made. */
  std::function<Status(const std::string& text)> write_gres_conf = {};
  /** The nodes that have lines in it. */
  std::function<std::set<std::string>()> gres_conf_nodes = {};
  /** Keeps for the next sidecar whether there are records that the scheduler may not see yet. */
  std::function<Status(bool unsettled)> keep_unsettled = {};
  /** What the former sidecar kept. */
  bool unsettled = false;
};

class Reconciler {
 public:
  /** References must outlive it. */
  Reconciler(SlurmReader& reader, SlurmWriter& writer, const Clock& clock, ReconcilerHooks hooks = {},
             Jitter jitter = random_unit)
      : reader_(reader),
        writer_(writer),
        clock_(clock),
        hooks_(std::move(hooks)),
        jitter_(std::move(jitter)),
        unsettled_(hooks_.unsettled),
        kept_unsettled_(hooks_.unsettled) {}

  /** A NodeSet as the API server has it now. */
  void upsert(const Json& object);
  /** A NodeSet is gone: its records go as their nodes become free. */
  void remove(const std::string& name);
  /** A pod as the API server has it now. True when that may change the plan. */
  bool upsert_pod(const Json& object);
  /** A pod is gone. True when that may change the plan. */
  bool remove_pod(const std::string& name, const std::string& uid);
  /** A Kubernetes node as the API server has it now. True when that may change the plan. */
  bool upsert_kube_node(const Json& object);
  void remove_kube_node(const std::string& name);
  /** All Kubernetes nodes have been handed over once. Before this, or if it never happens, they decide nothing. */
  void set_kube_nodes_listed();
  /**
   * Pods that Slurm doesn't count, which decide the sizes of external nodes; null: they aren't known. The object is
   * read in each round. `error`: why they can't be watched; empty: they can, or it isn't known yet.
   */
  void set_other_pods(const OtherPods* pods, const std::string& error);
  /** All NodeSets and pods have been handed over once. Before this, round() does nothing. */
  void set_listed() { listed_ = true; }
  bool listed() const { return listed_; }

  /** slurmctld may have another configuration: the next round asks for it. */
  void forget_config() { config_until_ = {}; }

  /** One round. Returns how long to wait before the next one, if no NodeSet changes meanwhile. */
  std::chrono::milliseconds round();
  /** How long a round that can wait is to wait: slurmctld has just copied all its records, which takes it some time. */
  std::chrono::milliseconds until_next_copy() const;

  const NodeSets& nodesets() const { return nodesets_; }
  const Pods& pods() const { return pods_; }
  /** Slurm's node records, as of the last round in which Slurm answered, with the power-ups that it accepted since. */
  const std::vector<SlurmNode>& nodes() const { return nodes_; }
  /** Another number whenever nodesets() or nodes() may be others than before. */
  std::uint64_t version() const { return version_; }
  /** What each NodeSet's status is to say, as of the last round in which Slurm answered. */
  const NodeSetStates& states() const { return states_; }
  /** When slurmctld last answered; empty before it ever did. */
  std::optional<TimePoint> slurm_answered() const { return slurm_answered_; }

  /** What slurmctld has carried out since this was last called. */
  std::vector<NodeAction> take_done() { return std::exchange(done_, {}); }

  struct Count {
    std::uint64_t ok = 0;
    std::uint64_t failed = 0;
  };
  /** Requests to slurmctld by kind: "load", "create", "delete" … */
  const std::map<std::string, Count>& requests() const { return requests_; }

 private:
  struct Key {
    std::string nodeset;
    NodeAction::Kind kind;
    std::string target;  // the requested state: a refused one does not delay others
    auto operator<=>(const Key&) const = default;
  };
  struct Failure {
    unsigned count;
    TimePoint retry;
    std::string text;
  };

  struct Suspect {
    std::time_t booted;                // slurmctld, before the create
    std::optional<CreateStop> before;  // what is true if it is the same slurmctld still
  };

  std::chrono::milliseconds next_round() const;
  std::chrono::milliseconds copy_pause() const;
  Status load(bool& changed);
  bool refresh_jobs();
  void refresh_spares();
  void refresh_left();
  void write_gres_conf(const std::vector<NodeAction>& actions);
  bool apply(const std::vector<NodeAction>& actions);
  Status call(const NodeAction& action);
  static Key failure_key(const NodeAction& action);
  void note_lost_answer(const NodeAction& action, Errc code);
  void forget_made_again(const NodeAction& action);
  void note(const NodeAction& action, const Status& status);
  bool is_to_settle() const;
  void settle();
  void keep_unsettled(bool unsettled);
  bool may_recover(const std::string& nodeset) const;
  void note_recovery(const std::string& nodeset);
  void forget_recoveries(const std::vector<NodeAction>& planned);
  void forget_failures(const std::string& nodeset);
  void show_failures();
  bool count(const std::string& request, bool ok);
  bool is_due() const;
  void remember(const NodeAction& action);
  void show_power_up(const std::set<std::string>& names, const std::optional<std::string>& active_features);
  bool registers_at_once(const std::string& nodeset) const;
  bool pins_nodes(const Json& pod) const;
  bool gives_something(const std::string& kube_node) const;
  bool is_stopped(const NodeAction& action) const;
  std::string key_of(const NodeAction& action) const;
  void stop(const NodeAction& action);
  void judge_stops();
  void show_stop(const NodeAction& action);

  SlurmReader& reader_;
  SlurmWriter& writer_;
  const Clock& clock_;
  const ReconcilerHooks hooks_;
  const Jitter jitter_;
  NodeSets nodesets_;
  Pods pods_;
  KubeNodes kube_nodes_;
  std::map<std::string, Pins> pins_;  // by NodeSet; at first those of its status
  bool kube_nodes_listed_ = false;
  const OtherPods* other_pods_ = nullptr;
  std::string pods_error_;
  std::optional<SteadyResources> left_;  // of Kubernetes nodes; without a value: not known
  bool listed_ = false;
  bool dirty_ = true;  // NodeSets or pods have changed since the last plan
  std::vector<SlurmNode> nodes_;
  std::uint64_t version_ = 0;
  std::time_t since_ = 0;
  Status gres_conf_;     // whether the file is as the last plan needs it
  bool copied_ = false;  // in this round slurmctld sent all records
  std::optional<TimePoint> copied_at_;
  std::optional<SlurmConfig> config_;
  TimePoint config_until_{};
  SuspendExemptions exemptions_;
  PowerUpPace pace_{jitter_};
  CancelledStarts cancelled_;
  OpenJobs open_jobs_{clock_};
  SpareCounts spares_;
  std::int64_t spares_minute_ = -1;          // when they were counted, on the wall clock
  std::set<std::string, std::less<>> idle_;  // nodes that are up, or start, and that no job has, nor a suspended one
  std::optional<TimePoint> held_until_;      // the end of the back-off of a node in the last plan
  NodeSetStates states_;
  std::vector<NodeAction> done_;
  std::map<Key, Failure> failures_;
  std::map<std::string, CreateStop> stops_;  // by NodeSet; at first those of their status
  std::map<std::string, Suspect> suspects_;  // of stops_ those that slurmctld, when it answers, has to confirm
  struct Recovery {
    unsigned count;
    TimePoint next;
  };
  std::map<std::string, Recovery> recoveries_;  // by NodeSet: each is a reconfiguration
  bool unsettled_;                              // records were made that the scheduler may not see yet
  bool kept_unsettled_;                         // for the next sidecar
  unsigned settle_failures_ = 0;                // in a row
  TimePoint settle_next_{};                     // after a failure
  unsigned load_failures_ = 0;
  std::optional<TimePoint> slurm_answered_;
  std::map<std::string, Count> requests_;
  Backoff load_backoff_{std::chrono::seconds(1), std::chrono::seconds(10)};
  Backoff recovery_backoff_{std::chrono::seconds(60), std::chrono::hours(1)};
  Backoff action_backoff_{std::chrono::seconds(2), std::chrono::seconds(60)};
  LogLimiter limiter_{std::chrono::seconds(30)};
};

}  // namespace slurmk8s
