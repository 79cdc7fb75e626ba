// SPDX-License-Identifier: GPL-2.0-or-later
// Daemon: the sidecar's parts, joined: watches, rounds, writes. All on the thread of one event loop.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/admin_http.hpp"
#include "daemon/fence.hpp"
#include "event/event_loop.hpp"
#include "sidecar/budget_writer.hpp"
#include "sidecar/claim_keeper.hpp"
#include "sidecar/config_pusher.hpp"
#include "sidecar/sidecar_events.hpp"
#include "kube/client.hpp"
#include "kube/reflector.hpp"
#include "sidecar/other_pods.hpp"
#include "sidecar/partition_keeper.hpp"
#include "sidecar/pod_marker.hpp"
#include "sidecar/reconciler.hpp"
#include "sidecar/status_writer.hpp"
#include "sidecar/token_keeper.hpp"

namespace slurmk8s {

/** What a Daemon works with; all must outlive it, and all but `admin` are used by its thread alone. */
struct DaemonParts {
  EventLoop& loop;
  kube::Reader& kube_reader;
  FencedKubeWriter& kube_writer;
  SlurmReader& slurm_reader;
  FencedSlurmWriter& slurm_writer;
  AdminState& admin;
  bool watch_kube_nodes = false;      ///< follow the Kubernetes nodes
  std::string bridge_scheduler = {};  ///< the bridge's scheduler name; empty: there is no bridge
  ReconcilerHooks hooks = {};
  ConfigInstaller* config_installer = nullptr;  ///< null: changes of the configuration are not followed
  ConfigPusherOptions config = {};
  std::function<bool()> is_own_slurmctld = {};  ///< of ConfigPusherParts
  TokenCaller* token_caller = nullptr;          ///< null: no tokens are kept
  std::vector<TokenSpec> tokens = {};
};

class Daemon {
 public:
  Daemon(const DaemonParts& parts, const std::string& name_space, const std::string& version);

  /** Begins to watch; the loop's turns then do the work. */
  void start();
  /** Begins nothing more; what is under way is given up with the client. */
  void stop();

 private:
  kube::ReflectorListener listen_for_nodesets();
  kube::ReflectorListener listen_for_pods();
  kube::ReflectorListener listen_for_kube_nodes();
  kube::ReflectorListener listen_for_other_pods();
  void follow_other_pods();
  Condition kube_nodes_condition() const;
  Condition throttled_condition() const;
  void synced();
  void plan_round(std::chrono::milliseconds delay);
  void plan_round_for_pods();
  void do_round();
  Conditions conditions(const std::string& nodeset) const;
  void publish();

  DaemonParts parts_;
  std::string version_;
  kube::Throttle throttle_;  // one 429 pauses all writers
  Reconciler reconciler_;
  SidecarEvents events_;
  StatusWriter writer_;
  PartitionKeeper partitions_;
  PodMarker marker_;
  BudgetWriter budgets_;
  ClaimKeeper claims_;
  std::optional<ConfigPusher> config_pusher_;
  std::optional<TokenKeeper> token_keeper_;
  kube::Reflector nodesets_;
  kube::Reflector pods_;
  kube::Reflector kube_nodes_;
  OtherPods other_pods_;
  std::unique_ptr<kube::Reflector> other_pods_reflector_;  // while a NodeSet has external nodes: it needs more rights
  kube::Reflector budgets_reflector_;
  kube::Reflector claims_reflector_;  // started when a NodeSet has claims: it needs rights of its own
  bool watches_claims_ = false;
  Timers::Id round_timer_ = 0;
  TimePoint round_due_{};
};

}  // namespace slurmk8s
