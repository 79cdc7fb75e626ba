// SPDX-License-Identifier: GPL-2.0-or-later
// Daemon: the sidecar's main loop, which joins watch, rounds, status writes and signals.
#pragma once

#include <functional>
#include <string>

#include "daemon/admin_http.hpp"
#include "event/timers.hpp"
#include "base/unique_fd.hpp"
#include "sidecar/budget_writer.hpp"
#include "sidecar/claim_keeper.hpp"
#include "sidecar/sidecar_events.hpp"
#include "http/transport.hpp"
#include "kube/client.hpp"
#include "kube/reflector.hpp"
#include "sidecar/partition_keeper.hpp"
#include "sidecar/pod_marker.hpp"
#include "sidecar/reconciler.hpp"
#include "sidecar/status_writer.hpp"

namespace slurmk8s {

/** What a Daemon works with; all must outlive it, and all but `admin` are used by its thread alone. */
struct DaemonParts {
  http::Transport& transport;
  kube::Client& client;
  Slurm& slurm;
  AdminState& admin;
  Timers& timers;
  const Clock& clock;
  bool watch_kube_nodes = false;               ///< follow the Kubernetes nodes
  std::function<void()> wake_power_save = {};  ///< Reconciler's
};

class Daemon {
 public:
  Daemon(const DaemonParts& parts, const std::string& name_space, const std::string& version);

  /** Begins to watch; run() or turn() then do the work. */
  void start();
  /**
   * Turns the loop until `signal_fd` can be read (a signalfd): true; or until `goes_on`, asked once a second, says no:
   * false. An empty one says yes.
   */
  bool run(int signal_fd, const std::function<bool()>& goes_on = {});
  /** One turn: waits at most `max_wait` for something to do. */
  void turn(std::chrono::milliseconds max_wait);

 private:
  kube::ReflectorListener listen_for_nodesets();
  kube::ReflectorListener listen_for_pods();
  kube::ReflectorListener listen_for_kube_nodes();
  Condition kube_nodes_condition() const;
  void synced();
  void plan_round(std::chrono::milliseconds delay);
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
  kube::Reflector nodesets_;
  kube::Reflector pods_;
  kube::Reflector kube_nodes_;
  kube::Reflector budgets_reflector_;
  kube::Reflector claims_reflector_;  // started when a NodeSet has claims: it needs rights of its own
  bool watches_claims_ = false;
  Timers::Id round_timer_ = 0;
  TimePoint round_due_{};
  bool stop_ = false;
};

/** Waits until `may_start`, asked once a second, says yes: true; or until `signal_fd` can be read: false. */
bool stand_by(int signal_fd, AdminState& admin, const std::function<bool()>& may_start);

/**
 * Blocks SIGTERM and SIGINT, and SIGPIPE, in this thread and those that it starts. Returns a signalfd for the former.
 */
Result<UniqueFd> block_signals();

}  // namespace slurmk8s
