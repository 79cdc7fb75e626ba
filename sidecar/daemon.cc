// SPDX-License-Identifier: GPL-2.0-or-later
// The sidecar's main loop.
#include "sidecar/daemon.hpp"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>

#include <algorithm>

#include "base/log.hpp"
#include "nodeset/names.hpp"
#include "nodeset/omit.hpp"
#include "sidecar/metrics.hpp"

namespace slurmk8s {
namespace {

constexpr std::chrono::milliseconds kLongestWait{5000};
constexpr std::chrono::milliseconds kLook{1000};      // between two looks at whether we may act
constexpr std::chrono::milliseconds kPodsDelay{100};  // pods come and go by the hundred: one round for many

kube::ReflectorListener listen_for_claims(ClaimKeeper& claims) {
  return {[&claims](const Json& object) { claims.observe(object); },
          [&claims](const kube::ObjectKey& key, const std::string&, const Json&) { claims.forget(key.name); }, [] {}};
}

kube::ReflectorListener listen_for_budgets(BudgetWriter& budgets) {
  return {[&budgets](const Json& object) { budgets.observe(object); },
          [&budgets](const kube::ObjectKey& key, const std::string&, const Json&) { budgets.forget(key.name); },
          [&budgets] { budgets.set_listed(); }};
}

}  // namespace

Daemon::Daemon(const DaemonParts& parts, const std::string& name_space, const std::string& version)
    : parts_(parts),
      version_(version),
      throttle_(parts.clock),
      reconciler_(parts.slurm, parts.clock, parts.wake_power_save),
      events_(parts.client, parts.timers, parts.clock, name_space),
      writer_(parts.client, parts.timers, parts.clock, throttle_, name_space,
              [this](const std::string& name, const Json& before, const Json& after) {
                events_.status_changed(name, before, after);
              }),
      partitions_(parts.slurm, parts.clock),
      marker_(parts.client, parts.clock, throttle_, name_space),
      budgets_(parts.client, parts.clock, throttle_, name_space),
      claims_(parts.client, parts.clock, throttle_, name_space),
      nodesets_(parts.client, parts.timers, parts.clock, {.resource = kube::kNodeSets, .name_space = name_space},
                listen_for_nodesets()),
      pods_(parts.client, parts.timers, parts.clock,
            {.resource = kube::kPods, .name_space = name_space, .label_selector = kLabelNode, .omit = kOmitOfPods},
            listen_for_pods()),
      kube_nodes_(parts.client, parts.timers, parts.clock, {.resource = kube::kNodes, .omit = kOmitOfKubernetesNodes},
                  listen_for_kube_nodes()),
      budgets_reflector_(
          parts.client, parts.timers, parts.clock,
          {.resource = kube::kDisruptionBudgets, .name_space = name_space, .label_selector = kBudgetSelector},
          listen_for_budgets(budgets_)),
      claims_reflector_(parts.client, parts.timers, parts.clock,
                        {.resource = kube::kVolumeClaims, .name_space = name_space, .label_selector = kClaimSelector},
                        listen_for_claims(claims_)) {}

kube::ReflectorListener Daemon::listen_for_nodesets() {
  const auto changed = [this] { plan_round(std::chrono::milliseconds(0)); };
  kube::ReflectorListener listener;
  listener.upsert = [this, changed](const Json& object) {
    events_.observe(object);
    writer_.observe(object);
    reconciler_.upsert(object);
    changed();
  };
  listener.remove = [this, changed](const kube::ObjectKey& key, const std::string&, const Json&) {
    events_.forget(key.name);
    writer_.forget(key.name);
    reconciler_.remove(key.name);
    changed();
  };
  listener.synced = [this] { synced(); };
  return listener;
}

kube::ReflectorListener Daemon::listen_for_pods() {
  kube::ReflectorListener listener;
  listener.upsert = [this](const Json& object) {
    marker_.observe(object);
    if (reconciler_.upsert_pod(object)) plan_round(kPodsDelay);
  };
  listener.remove = [this](const kube::ObjectKey& key, const std::string& uid, const Json&) {
    marker_.forget(key.name);
    if (reconciler_.remove_pod(key.name, uid)) plan_round(kPodsDelay);
  };
  listener.synced = [this] { synced(); };
  return listener;
}

// They aren't waited for: they may be forbidden.
kube::ReflectorListener Daemon::listen_for_kube_nodes() {
  kube::ReflectorListener listener;
  listener.upsert = [this](const Json& object) {
    if (reconciler_.upsert_kube_node(object)) plan_round(kPodsDelay);
  };
  listener.remove = [this](const kube::ObjectKey& key, const std::string&, const Json&) {
    reconciler_.remove_kube_node(key.name);
    plan_round(kPodsDelay);
  };
  listener.synced = [this] {
    reconciler_.set_kube_nodes_listed();
    plan_round(std::chrono::milliseconds(0));
  };
  return listener;
}

// What fails after the first list is tried again, with what is known meanwhile: that isn't worth a change of the
// status.
Condition Daemon::kube_nodes_condition() const {
  constexpr const char* kType = "KubernetesNodesWatched";
  if (!parts_.watch_kube_nodes) return {kType, false, "NotAsked", "slurm-k8s.conf has no WatchKubernetesNodes=yes"};
  if (kube_nodes_.synced()) {
    return {kType, true, "Watched", "cordons, taints and failures of Kubernetes nodes are followed"};
  }
  if (kube_nodes_.last_error().empty()) return {kType, false, "Listing", "the first list is under way"};
  return {kType, false, "Unreadable", kube_nodes_.last_error()};
}

// Pods are needed too: without them a scale-in would choose other nodes.
void Daemon::synced() {
  if (!nodesets_.synced() || !pods_.synced()) return;
  log_info("%zu nodesets and %zu pods listed", reconciler_.nodesets().size(), reconciler_.pods().size());
  reconciler_.set_listed();
  plan_round(std::chrono::milliseconds(0));
}

void Daemon::start() {
  nodesets_.start();
  pods_.start();
  budgets_reflector_.start();
  if (parts_.watch_kube_nodes) kube_nodes_.start();
  publish();
}

bool Daemon::run(int signal_fd, const std::function<bool()>& goes_on) {
  parts_.transport.watch_fd(signal_fd, [this] { stop_ = true; });
  bool may_act = true;
  TimePoint look = parts_.clock.now() + kLook;
  while (!stop_ && may_act) {
    turn(goes_on ? kLook : kLongestWait);
    if (!goes_on || parts_.clock.now() < look) continue;
    may_act = goes_on();
    look = parts_.clock.now() + kLook;
  }
  parts_.transport.unwatch_fd(signal_fd);
  for (kube::Reflector* one : {&nodesets_, &pods_, &kube_nodes_, &budgets_reflector_, &claims_reflector_}) one->stop();
  if (round_timer_ != 0) parts_.timers.cancel(round_timer_);
  return stop_;
}

void Daemon::turn(std::chrono::milliseconds max_wait) {
  parts_.transport.run_once(std::min(max_wait, parts_.timers.until_next().value_or(max_wait)));
  parts_.timers.run_due();
  parts_.admin.turned();
}

// Several changes that arrive together make one round: the first that is due.
void Daemon::plan_round(std::chrono::milliseconds delay) {
  const TimePoint due = parts_.clock.now() + delay;
  if (round_timer_ != 0 && round_due_ <= due) return;
  if (round_timer_ != 0) parts_.timers.cancel(round_timer_);
  round_due_ = due;
  round_timer_ = parts_.timers.after(delay, [this] { do_round(); });
}

void Daemon::do_round() {
  round_timer_ = 0;
  const std::chrono::milliseconds delay = reconciler_.round();
  for (const NodeAction& action : reconciler_.take_done()) events_.acted(action);
  const NodeSets& nodesets = reconciler_.nodesets();
  if (reconciler_.listed() && reconciler_.slurm_answered()) {
    partitions_.round(nodesets, reconciler_.nodes(), reconciler_.version());
    marker_.round(nodesets, reconciler_.nodes(), reconciler_.version());
    claims_.round(nodesets, reconciler_.nodes(), reconciler_.states());
  }
  if (!watches_claims_ && has_claims(nodesets)) {
    watches_claims_ = true;
    claims_reflector_.start();
  }
  budgets_.round(nodesets);
  for (const auto& [name, state] : reconciler_.states()) writer_.want(name, state, conditions(name));
  publish();
  plan_round(delay);
}

Conditions Daemon::conditions(const std::string& nodeset) const {
  const KnownNodeSet& known = reconciler_.nodesets().at(nodeset);
  return {budgets_.condition(nodeset, known, budgets_reflector_.last_error()), partitions_.condition(nodeset),
          kube_nodes_condition()};
}

void Daemon::publish() {
  parts_.admin.publish({.listed = reconciler_.listed(),
                        .slurm_answered = reconciler_.slurm_answered(),
                        .metrics = encode_metrics(reconciler_, writer_, version_)});
}

bool stand_by(int signal_fd, AdminState& admin, const std::function<bool()>& may_start) {
  admin.publish({.stands_by = true});
  for (;;) {
    admin.turned();
    if (may_start()) return true;
    pollfd signal{.fd = signal_fd, .events = POLLIN, .revents = 0};
    if (poll(&signal, 1, static_cast<int>(kLook.count())) > 0) return false;
  }
}

Result<UniqueFd> block_signals() {
  signal(SIGPIPE, SIG_IGN);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  UniqueFd fd(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd) return Error(Errc::internal, std::string("signalfd: ") + strerror(errno));
  return fd;
}

}  // namespace slurmk8s
