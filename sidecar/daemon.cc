// SPDX-License-Identifier: GPL-2.0-or-later
// The sidecar's parts, joined.
#include "sidecar/daemon.hpp"

#include <algorithm>

#include "base/log.hpp"
#include "base/strings.hpp"
#include "nodeset/names.hpp"
#include "nodeset/omit.hpp"
#include "sidecar/metrics.hpp"

namespace slurmk8s {
namespace {

constexpr std::chrono::milliseconds kPodsDelay{100};  // pods come and go by the hundred: one round for many

bool has_external_nodes(const NodeSets& nodesets) {
  return std::ranges::any_of(nodesets,
                             [](const auto& one) { return one.second.spec.ok() && !one.second.spec->has_pods(); });
}

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
      throttle_(*parts.loop.clock()),
      reconciler_(parts.slurm_reader, parts.slurm_writer, *parts.loop.clock(), parts.hooks),
      events_(parts.kube_writer, parts.loop.timers(), *parts.loop.clock(), throttle_, name_space),
      writer_(parts.kube_writer, parts.loop.timers(), *parts.loop.clock(), throttle_, name_space,
              [this](const std::string& name, const Json& before, const Json& after) {
                events_.status_changed(name, before, after);
              }),
      partitions_(parts.slurm_reader, parts.slurm_writer, *parts.loop.clock()),
      marker_(parts.kube_writer, *parts.loop.clock(), throttle_, name_space),
      budgets_(parts.kube_writer, *parts.loop.clock(), throttle_, name_space),
      claims_(parts.kube_writer, *parts.loop.clock(), throttle_, name_space),
      nodesets_(parts.kube_reader, parts.loop.timers(), *parts.loop.clock(),
                {.resource = kube::kNodeSets, .name_space = name_space}, listen_for_nodesets()),
      pods_(parts.kube_reader, parts.loop.timers(), *parts.loop.clock(),
            {.resource = kube::kPods, .name_space = name_space, .label_selector = kLabelNode, .omit = kOmitOfPods},
            listen_for_pods()),
      kube_nodes_(parts.kube_reader, parts.loop.timers(), *parts.loop.clock(),
                  {.resource = kube::kNodes, .omit = kOmitOfKubernetesNodes}, listen_for_kube_nodes()),
      other_pods_({name_space, parts.bridge_scheduler}),
      budgets_reflector_(
          parts.kube_reader, parts.loop.timers(), *parts.loop.clock(),
          {.resource = kube::kDisruptionBudgets, .name_space = name_space, .label_selector = kBudgetSelector},
          listen_for_budgets(budgets_)),
      claims_reflector_(parts.kube_reader, parts.loop.timers(), *parts.loop.clock(),
                        {.resource = kube::kVolumeClaims, .name_space = name_space, .label_selector = kClaimSelector},
                        listen_for_claims(claims_)) {
  if (parts.token_caller != nullptr) {
    token_keeper_.emplace(
        TokenKeeperParts{parts.kube_writer, parts.loop.timers(), *parts.loop.clock(), throttle_, *parts.token_caller},
        parts.tokens);
  }
  if (parts.config_installer == nullptr) return;
  config_pusher_.emplace(
      ConfigPusherParts{parts.kube_reader, parts.kube_writer, parts.loop.timers(), *parts.loop.clock(), throttle_,
                        parts.slurm_reader, parts.slurm_writer, *parts.config_installer,
                        [this] {
                          reconciler_.forget_config();
                          partitions_.forget_config();
                          plan_round(std::chrono::milliseconds(0));
                        },
                        parts.is_own_slurmctld},
      parts.config);
}

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
    if (reconciler_.upsert_pod(object)) plan_round_for_pods();
  };
  listener.remove = [this](const kube::ObjectKey& key, const std::string& uid, const Json&) {
    marker_.forget(key.name);
    if (reconciler_.remove_pod(key.name, uid)) plan_round_for_pods();
  };
  listener.synced = [this] { synced(); };
  return listener;
}

// They aren't waited for: they may be forbidden.
kube::ReflectorListener Daemon::listen_for_kube_nodes() {
  kube::ReflectorListener listener;
  listener.upsert = [this](const Json& object) {
    if (reconciler_.upsert_kube_node(object)) plan_round_for_pods();
  };
  listener.remove = [this](const kube::ObjectKey& key, const std::string&, const Json&) {
    reconciler_.remove_kube_node(key.name);
    plan_round_for_pods();
  };
  listener.synced = [this] {
    reconciler_.set_kube_nodes_listed();
    plan_round(std::chrono::milliseconds(0));
  };
  return listener;
}

/** No round for them: they come and go as they like, and a round is never far. */
kube::ReflectorListener Daemon::listen_for_other_pods() {
  return {[this](const Json& object) { other_pods_.upsert(object); },
          [this](const kube::ObjectKey& key, const std::string&, const Json&) { other_pods_.remove(key); }, [] {}};
}

// Ended pods give their resources back; others have none before they have a Kubernetes node.
void Daemon::follow_other_pods() {
  const bool is_wanted = has_external_nodes(reconciler_.nodesets());
  if (is_wanted && !other_pods_reflector_) {
    other_pods_reflector_ = std::make_unique<kube::Reflector>(
        parts_.kube_reader, parts_.loop.timers(), *parts_.loop.clock(),
        kube::ReflectorOptions{.resource = kube::kPods,
                               .field_selector = "spec.nodeName!=,status.phase!=Succeeded,status.phase!=Failed",
                               .omit = kOmitOfOtherPods},
        listen_for_other_pods());
    other_pods_reflector_->start();
  } else if (!is_wanted && other_pods_reflector_) {
    other_pods_reflector_.reset();
    other_pods_.clear();
  }
  const bool is_known = other_pods_reflector_ && other_pods_reflector_->synced();
  const bool has_error = other_pods_reflector_ && (!is_known || other_pods_reflector_->forbidden());
  reconciler_.set_other_pods(is_known ? &other_pods_ : nullptr, has_error ? other_pods_reflector_->last_error() : "");
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

/** Of the sidecar's own requests; the engine has an event, and a metric. */
Condition Daemon::throttled_condition() const {
  constexpr const char* kType = "Throttled";
  const std::optional<std::chrono::seconds> asked = throttle_.asked_lately();
  if (!asked) return {kType, false, "NotThrottled", "the API server has not asked for a pause in the last 5 minutes"};
  return {kType, true, "TooManyRequests",
          format("the API server asked for a pause of %lld s (Retry-After); pauses end after 60 s",
                 static_cast<long long>(asked->count()))};
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
  if (config_pusher_) config_pusher_->start();
  if (token_keeper_) token_keeper_->start();
  publish();
}

void Daemon::stop() {
  for (kube::Reflector* one : {&nodesets_, &pods_, &kube_nodes_, &budgets_reflector_, &claims_reflector_}) one->stop();
  if (other_pods_reflector_) other_pods_reflector_->stop();
  if (config_pusher_) config_pusher_->stop();
  if (token_keeper_) token_keeper_->stop();
  parts_.loop.timers().cancel(round_timer_);
}

// Several changes that arrive together make one round: the first that is due.
void Daemon::plan_round(std::chrono::milliseconds delay) {
  const TimePoint due = parts_.loop.clock()->now() + delay;
  if (round_timer_ != 0 && round_due_ <= due) return;
  if (round_timer_ != 0) parts_.loop.timers().cancel(round_timer_);
  round_due_ = due;
  round_timer_ = parts_.loop.timers().after(delay, [this] { do_round(); });
}

// Also of Kubernetes nodes. The first change after a while is not held up by those after it.
void Daemon::plan_round_for_pods() { plan_round(std::max(kPodsDelay, reconciler_.until_next_copy())); }

void Daemon::do_round() {
  round_timer_ = 0;
  follow_other_pods();
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
          kube_nodes_condition(), throttled_condition()};
}

void Daemon::publish() {
  const std::string config = config_pusher_ ? encode_config_metrics(config_pusher_->counts()) : "";
  parts_.admin.publish({.listed = reconciler_.listed(),
                        .slurm_answered = reconciler_.slurm_answered(),
                        .metrics = encode_metrics(reconciler_, writer_, version_) + config});
}

}  // namespace slurmk8s
