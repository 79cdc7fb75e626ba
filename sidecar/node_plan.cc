// SPDX-License-Identifier: GPL-2.0-or-later
// plan_nodes(): which records to make, drain, power down and delete.
//
// Facts of Slurm that decide the order of things when a node is to go:
// - Deleting is refused under slurmctld's lock when the node is busy: a powered-down idle node can be deleted at once.
// - POWER_DOWN of a node that got a job meanwhile only takes effect when the job is over.
// - DRAIN requeues the job of a node that is allocated and still powering up: such a node is left alone until it is up.
// - POWER_DOWN clears DRAIN, and a powered-down node takes jobs again: a node that is powering down is drained, so that
//   no job gets it in the moment before it is deleted.
// - Without its record, a slurmd that still runs would register as a new node: a node is deleted only powered down.
#include "sidecar/node_plan.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "slurm/hostlist.hpp"
#include "slurm/node_state.hpp"
#include "slurm/reasons.hpp"
#include "base/strings.hpp"
#include "base/words.hpp"
#include "nodeset/names.hpp"
#include "sidecar/kube_node_match.hpp"
#include "sidecar/kube_node_mirror.hpp"
#include "nodeset/kube_node_topology.hpp"
#include "sidecar/node_features.hpp"
#include "sidecar/pins.hpp"
#include "sidecar/record_definition.hpp"
#include "sidecar/record_owner.hpp"
#include "sidecar/scale_in.hpp"
#include "sidecar/spares.hpp"
#include "sidecar/update_plan.hpp"

namespace slurmk8s {
namespace {

using Kind = NodeAction::Kind;

/**
 * True when slurmctld only waits for SuspendTimeout, and the pod is gone. The engine ends such a power-down by itself,
 * but not one of a drained node, since that takes back the drain.
 */
bool can_end_power_down(const SlurmNode& node, const Pods& pods) {
  return awaits_suspend_timeout(node) && !pods.contains(node.name);
}

/** The next step on the way out of a node that is no longer wanted; empty: wait. */
std::optional<Kind> removal_step(const SlurmNode& node, const Pods& pods) {
  if (is_removable(node)) return Kind::remove;
  if (can_end_power_down(node, pods)) return Kind::resume;
  if (will_start(node)) return std::nullopt;
  if (is_busy(node) || node.going_down()) return node.draining ? std::nullopt : std::optional(Kind::drain);
  if (must_stay(node) || node.powered_down) return std::nullopt;
  return Kind::power_down;
}

using NodesByName = std::map<std::string_view, const SlurmNode*>;

/** Names, put together to one hostlist at the end. */
using Names = std::vector<std::string>;

std::string to_hostlist(const Names& names) { return compress_hostlist(names); }

/** Builds the plan of one NodeSet. */
class NodeSetPlanner {
 public:
  NodeSetPlanner(const std::string& name, const NodePlanInput& input, NodePlan& plan)
      : name_(name), input_(input), plan_(plan) {}

  /** The first thing to do, of one that has a spec. */
  void begin(const NodeSet& nodeset, const KnownNodeSet& known, NodeSetState& state) {
    definition_ = read_definition(nodeset.extra_conf);
    state.extra_conf = nodeset.extra_conf;
    state.features = nodeset.features;
    if (!nodeset.variants.empty() && !input_.has_node_features) {
      refuse("VariantsUnknown",
             "slurm.conf has no NodeFeaturesPlugins=node_features/k8s, or no JobSubmitPlugins=k8s, or Slurm "
             "is older than 23.02: no job can ask for a variant");
    }
    if (!can_have_nodes(nodeset)) {
      refuse("ExternalNodesUnknown", "spec.scalingMode: External: Slurm is older than 26.05");
    }
    if (input_.gres_types) {
      for (const std::string& name : nodeset.gres_names) {
        if (has_word(*input_.gres_types, name)) continue;
        refuse("GresUnknown", "Gres: slurm.conf's GresTypes has no " + name + ": slurmctld ignores it");
      }
    }
    const NodeSetState* before = find_before();
    if (before && before->extra_conf == nodeset.extra_conf) made_again_ = before->made_again;
    const bool had_weight = before && (before->resets_weight || read_definition(before->extra_conf).weight);
    resets_weight_ = had_weight && !definition_.weight;
    if (resets_weight_) definition_.weight = 1;  // Slurm's default
    records_ = before ? before->records : known.records;
    if (before) scaled_in_ = before->scaled_in;
    state.records.definition = definition_.rest;
  }

  /** A record that is no longer wanted; `never_up` says why its pod can't come up any more. */
  void plan_removal(const SlurmNode& node, const std::string& never_up = {}) {
    leaving_.push_back(node.name);
    note_outdated(node);
    if (!never_up.empty() && is_starting(node) && !node.going_down())
      return add(Kind::force_power_down, node, never_up);
    const std::optional<Kind> step = removal_step(node, input_.pods);
    if (step) add(*step, node, *step == Kind::drain ? kReasonScaleIn : "");
  }

  /** A numbered record that is one too many. */
  void scale_in(const SlurmNode& node) {
    scaled_in_.insert(node.name);
    plan_removal(node);
  }

  /** A wanted record, compared with the NodeSet. */
  void keep(const SlurmNode& node, const NodeSet& nodeset) {
    scaled_in_.erase(node.name);
    const bool is_other = is_to_be_made_again(node, nodeset);
    if (is_other) resizing_.push_back(node.name);
    if ((is_other || needs_suspend_time(node) || is_off_for_good(node)) && is_removable(node) && is_free(node)) {
      // It is made again in the next plan, once it is gone.
      add(Kind::remove, node);
      made_again_.insert(node.name);
      kept_.push_back({&node, true});
      return;
    }
    const bool taken = input_.kube_nodes && follow_kube_node(node, nodeset);
    const KubeNodeFacts* kube_node = input_.kube_nodes ? find_kube_node(node, nodeset) : nullptr;
    take_features(node, nodeset, kube_node);
    if (kube_node && needs_topology(node, kube_node->topology)) {
      change(Kind::topology, node, {.topology = kube_node->topology});
    }
    if (has_former_reason(node)) change(Kind::clear_reason, node, {.reason = kReasonReleased});
    if (definition_.weight && node.weight != *definition_.weight) {
      change(Kind::set_weight, node, {.weight = definition_.weight});
      sets_weight_ = true;
    }
    const bool wanted_otherwise = !taken && (is_recycled_for_a_job(node) || is_unused(node, nodeset));
    if (wanted_otherwise) add(Kind::power_down, node);
    if (nodeset.keeps_up()) {
      if (!is_registered(node)) not_up_.push_back(node.name);
      keep_up(node, taken || !nodeset.has_pods());
    } else if (const auto spare = spares_.find(node.name); spare != spares_.end()) {
      keep_up(node, taken || wanted_otherwise, active_with_variant(node, nodeset, spare->second));
    } else if (!nodeset.spare_replicas.empty() && is_busy(node)) {
      up_.insert(node.name);  // it may be a spare again: until then an exemption does nothing
    }
    kept_.push_back({&node, taken || wanted_otherwise});
    if (!is_drained_for_scale_in(node)) return;
    if (!node.going_down()) add(Kind::undrain, node);
    if (can_end_power_down(node, input_.pods)) add(Kind::resume, node);
  }

  /** The numbers of spare nodes at this time. */
  void take_spares(NodeSet& nodeset) {
    if (input_.spares && input_.spares->contains(name_)) {
      const SpareCount& spares = input_.spares->at(name_);
      nodeset.spare_replicas = spares.replicas;
      if (!spares.problem.empty()) refuse("SparesNotKept", spares.problem);
    }
    if (input_.has_node_features) return;
    std::erase_if(nodeset.spare_replicas, [](const auto& spares) { return !spares.first.empty(); });
  }

  /** Which of the nodes that stay are spare, before any of them is kept. */
  void select_spares_of(const NodeSet& nodeset, const Members& members) {
    if (nodeset.spare_replicas.empty()) return;
    if (!input_.exemptions.can_change()) {
      return refuse(
          "SparesNotKept",
          "spec.spareReplicas: slurmctld's SuspendExcNodes cannot be changed at run time: Slurm is older than "
          "23.02, or an entry of SuspendExcNodes has a count");
    }
    const auto is_held = [this](const std::string& node) { return input_.held.contains(node) || is_a_jobs(node); };
    spares_ = select_spares({nodeset, members, input_.exemptions, is_held});
  }

  /** A wanted node without a record. */
  void miss(std::string name) {
    scaled_in_.erase(name);
    missing_.push_back(std::move(name));
  }

  /** A node that a NodeSet of Kubernetes nodes wants, as soon as its Kubernetes node is ready. */
  void choose(const std::string& name) { chosen_.insert(name); }

  /** A wanted node whose name is taken by a record that we didn't make, or that slurmctld has lost. */
  void block(std::string name) {
    const auto has_name = [&](const SlurmNode& node) { return node.name == name; };
    const auto found = std::find_if(input_.nodes.begin(), input_.nodes.end(), has_name);
    (found != input_.nodes.end() && is_lost(*found) ? lost_ : blocked_).push_back(std::move(name));
  }

  /** Something wanted can't be. */
  void refuse(const char* reason, std::string message) { refused_ = {reason, std::move(message)}; }

  /** Makes the missing records for which there is `room`, and takes their number from it. */
  void create(const NodeSet& nodeset, std::int64_t& room) {
    if (!can_have_nodes(nodeset)) return missing_.clear();
    const auto count = std::clamp<std::int64_t>(room, 0, static_cast<std::int64_t>(missing_.size()));
    room -= count;
    over_.assign(missing_.begin() + count, missing_.end());
    missing_.resize(static_cast<std::size_t>(count));
    std::map<NodeSize, Names> by_size;
    for (const std::string& name : missing_) by_size[*size_of(name, nodeset)].push_back(name);
    for (const auto& [size, names] : by_size) {
      const std::string nodes = to_hostlist(names);
      const std::string line = "NodeName=" + nodes + " State=" + (nodeset.has_pods() ? "CLOUD" : "EXTERNAL") +
                               " Feature=" + static_features(nodeset) + " " + node_definition(nodeset, size);
      plan_.actions.push_back({Kind::create, name_, nodes, line, {}});
    }
  }

  /** What a record is to have; without a value: its Kubernetes node has no room for one. */
  std::optional<NodeSize> size_of(std::string_view node, const NodeSet& nodeset) const {
    if (nodeset.has_pods()) return nodeset.size;
    if (!input_.left) return std::nullopt;
    const auto left = input_.left->find(kube_node_of(nodeset, node));
    return left == input_.left->end() ? std::nullopt : fit_size(nodeset, left->second);
  }

  /** Brings the nodes that are kept to the NodeSet's template. */
  void update(const NodeSet& nodeset, const KnownNodeSet& known, NodeSetState& state) {
    const NodeSetState* before = find_before();
    const UpdatePlan plan = plan_update({.nodeset = nodeset,
                                         .members = kept_,
                                         .missing = std::ssize(missing_),
                                         .pods = input_.pods,
                                         .is_protected = state.failures.is_protected,
                                         .failure = state.failures.cause,
                                         .before = before ? &before->roll_out : nullptr,
                                         .stopped_template = known.stopped_template});
    for (const UpdateStep& step : plan.steps) {
      add(step.kind, *step.node, step.kind == Kind::undrain ? "" : kReasonUpdate);
    }
    state.roll_out = plan.roll_out;
  }

  /** Adds the actions on records that are there. */
  void finish() {
    // A name that is exempt by our doing, and whose node isn't kept up any more: it may be scaled in, or on demand now.
    for (const auto& [name, nodeset] : input_.exemptions.ours()) {
      if (nodeset == name_ && !up_.contains(name)) targets_[{Kind::unexempt, {}}].push_back(name);
    }
    for (const auto& [target, names] : targets_) {
      plan_.actions.push_back({target.first, name_, to_hostlist(names), {}, target.second});
    }
    if (!lost_.empty()) plan_.actions.push_back({Kind::drop_lost, name_, to_hostlist(lost_), {}, {}});
    for (const auto& [target, names] : changes_) {
      plan_.actions.push_back({target.first, name_, to_hostlist(names), {}, {}, target.second});
    }
  }

  /** The condition Ready: the first thing that isn't as the spec says. And what the next plan must know. */
  void describe_state(std::int64_t max_nodes, NodeSetState& state) const {
    state.made_again = made_again_;
    state.scaled_in = scaled_in_;
    state.chosen = chosen_;
    state.records.outdated = outdated_;
    state.resets_weight = resets_weight_ && sets_weight_;
    if (formers_.size() == 1) state.records.former = *formers_.begin();
    const auto set = [&](const char* reason, std::string message) {
      state.reason = reason;
      state.message = std::move(message);
    };
    state.ready = false;
    if (!blocked_.empty()) {
      return set("NameTaken",
                 describe_hostlist(blocked_) + ": slurm has nodes of these names that slurm-k8s did not create");
    }
    if (!lost_.empty()) {
      return set("NodesLost", describe_hostlist(lost_) + ": slurmctld found no address for them; they are made again");
    }
    if (!refused_.first.empty()) return set(refused_.first.c_str(), refused_.second);
    if (!over_.empty()) {
      return set("CreateFailed", format("%s: slurm's MaxNodeCount=%lld is reached", describe_hostlist(over_).c_str(),
                                        static_cast<long long>(max_nodes)));
    }
    if (!missing_.empty()) return set("ScalingOut", describe_hostlist(missing_) + ": to be made");
    if (!leaving_.empty()) {
      return set("ScalingIn", describe_hostlist(leaving_) + ": removed when idle and powered down");
    }
    if (!resizing_.empty()) {
      return set("Resizing", describe_hostlist(resizing_) + ": made again when idle and powered down");
    }
    if (!not_up_.empty()) {
      return set("PoweringUp", describe_hostlist(not_up_) + ": not up yet, as its scalingMode wants them");
    }
    if (!corrected_.empty()) {
      return set("Corrected", describe_hostlist(corrected_) +
                                  ": slurmctld has them otherwise than spec.extraConf says: "
                                  "its log has the reason");
    }
    state.ready = true;
    set("NodesMatch", format("%lld node records as the spec says", static_cast<long long>(state.desired)));
  }

 private:
  void add(Kind kind, const SlurmNode& node, const std::string& reason = {}) {
    targets_[{kind, reason}].push_back(node.name);
  }
  void change(Kind kind, const SlurmNode& node, SlurmNodeUpdate update) {
    changes_[{kind, std::move(update)}].push_back(node.name);
  }

  const NodeSetState* find_before() const {
    if (!input_.before) return nullptr;
    const auto found = input_.before->find(name_);
    return found == input_.before->end() ? nullptr : &found->second;
  }

  /** True when it was made with another part of extraConf that can't be compared. */
  bool note_outdated(const SlurmNode& node) {
    if (!is_outdated(records_, definition_, node.name)) return false;
    formers_.insert(made_with(records_, node.name));
    return outdated_.insert(node.name).second;
  }

  /** Its size is another one, or what extraConf says. slurmctld corrects some of that: it is asked for once. */
  bool is_to_be_made_again(const SlurmNode& node, const NodeSet& nodeset) {
    if (note_outdated(node) || is_to_be_resized(node, nodeset)) return true;
    if (!has_other_definition(node, definition_)) return false;
    const bool is_corrected = made_again_.contains(node.name);
    if (is_corrected) corrected_.push_back(node.name);
    return !is_corrected;
  }

  bool is_to_be_resized(const SlurmNode& node, const NodeSet& nodeset) const {
    if (!nodeset.has_pods() && !input_.left) return false;
    const std::optional<NodeSize> size = size_of(node.name, nodeset);
    return !size || has_other_size(node, *size);
  }

  bool can_have_nodes(const NodeSet& nodeset) const { return nodeset.has_pods() || input_.has_external_nodes; }

  /** It serves, but slurmctld deletes its pod too early. Only once: 0 may be what slurm.conf says. */
  bool needs_suspend_time(const SlurmNode& node) const {
    return !node.external && node.has_no_suspend_time && !made_again_.contains(node.name);
  }

  /** An external node was powered down, which an exemption should prevent: no slurmd would ever end its power-up. */
  static bool is_off_for_good(const SlurmNode& node) { return node.external && node.powered_down; }

  /** Powers it up, unless it `waits` for something else. With `active` it comes up with these active features. */
  void keep_up(const SlurmNode& node, bool waits, const std::optional<std::string>& active = {}) {
    up_.insert(node.name);
    if (input_.exemptions.can_change() && !input_.exemptions.covers(name_, node.name))
      add(Kind::exempt_from_suspend, node);
    if (!can_power_up(node) || waits || is_a_jobs(node.name) || input_.held.contains(node.name)) return;
    change(Kind::power_up, node, {.state = SlurmNodeUpdate::State::power_up, .active_features = active});
  }

  bool is_a_jobs(const std::string& node) const { return input_.demand && input_.demand->reserved.contains(node); }

  bool is_recycled_for_a_job(const SlurmNode& node) const {
    return input_.demand && input_.demand->recycle.contains(node.name);
  }

  /** It powers up, or has, for a job that was cancelled. slurmctld powers it down only if no job has it by then. */
  bool is_unused(const SlurmNode& node, const NodeSet& nodeset) const {
    return input_.unused && input_.unused->contains(node.name) && !nodeset.keeps_up() && is_free(node) &&
           !is_booted_for_next_job(node) && !spares_.contains(node.name);
  }

  /** True when something is to be done with the node. */
  bool follow_kube_node(const SlurmNode& node, const NodeSet& nodeset) {
    const auto pod = input_.pods.find(node.name);
    const auto step = kube_node_step(node, pod == input_.pods.end() ? nullptr : &pod->second, *input_.kube_nodes,
                                     nodeset.pod_spec["tolerations"], kube_node_of(nodeset, node.name));
    if (step) add(step->kind, node, step->reason);
    return step.has_value();
  }

  /** Where its pod is, or is to be; null: nobody knows yet. */
  const KubeNodeFacts* find_kube_node(const SlurmNode& node, const NodeSet& nodeset) const {
    const auto pod = input_.pods.find(node.name);
    const bool is_there = pod != input_.pods.end() && !pod->second.kube_node.empty();
    const auto found = input_.kube_nodes->find(is_there ? pod->second.kube_node : kube_node_of(nodeset, node.name));
    return found == input_.kube_nodes->end() ? nullptr : &found->second;
  }

  void take_features(const SlurmNode& node, const NodeSet& nodeset, const KubeNodeFacts* kube_node) {
    const NodeSetState* before = find_before();
    const WantedFeatures wanted{nodeset, input_.has_node_features, before ? before->features : "",
                                input_.kube_nodes != nullptr, kube_node ? &kube_node->features : nullptr};
    const auto update = features_change(node, wanted);
    if (update) change(Kind::features, node, *update);
  }

  const std::string& name_;
  const NodePlanInput& input_;
  NodePlan& plan_;
  RecordDefinition definition_;
  std::set<std::string> made_again_, scaled_in_, chosen_;
  RecordsState records_;  // before
  std::set<std::string> outdated_;
  bool resets_weight_ = false;
  std::set<std::string> formers_;  // definitions of outdated_
  bool sets_weight_ = false;
  std::map<std::pair<Kind, std::string>, Names> targets_;      // by kind and reason
  std::map<std::pair<Kind, SlurmNodeUpdate>, Names> changes_;  // by kind and change
  Names leaving_, resizing_, corrected_, missing_, blocked_, lost_, over_, not_up_;
  std::vector<UpdateMember> kept_;
  std::pair<std::string, std::string> refused_;  // reason and message
  Spares spares_;
  std::set<std::string_view> up_;  // nodes whose exemptions from suspends stay
};

/** Records by NodeSet, and the names that others have. */
struct Sorted {
  std::map<std::string, NodesByName, std::less<>> managed;
  std::set<std::string_view> taken;
};

Sorted sort_nodes(const NodeSets& nodesets, const std::vector<SlurmNode>& nodes) {
  Sorted sorted;
  for (const SlurmNode& node : nodes) {
    if (const std::optional<std::string> owner = record_owner(node, nodesets)) {
      sorted.managed[*owner].emplace(node.name, &node);
    } else {
      sorted.taken.insert(node.name);
    }
  }
  return sorted;
}

using Taken = std::set<std::string_view>;

/** `replicas` nodes, numbered. Returns how many there are to be. */
std::int64_t plan_ordinals(const NodeSet& nodeset, const NodesByName& records, const Taken& taken,
                           const NodePlanInput& input, NodeSetPlanner& planner) {
  Members members;
  for (const auto& [name, node] : records) {
    const std::optional<NodeName> parsed = parse_node_name(name);
    if (parsed && name == node_name(nodeset.name, parsed->ordinal, nodeset.ordinal_padding)) {
      members.emplace(parsed->ordinal, node);
    } else {
      planner.plan_removal(*node);  // of another padding or scalingMode
    }
  }
  std::vector<std::string> free;
  std::int64_t present = std::ssize(members);
  for (std::int64_t ordinal = 0; ordinal < nodeset.replicas; ordinal++) {
    if (members.contains(ordinal)) continue;
    std::string name = node_name(nodeset.name, ordinal, nodeset.ordinal_padding);
    if (taken.contains(name)) {
      planner.block(std::move(name));
      present++;
    } else {
      free.push_back(std::move(name));
    }
  }
  // Ordinals below `replicas` that nobody has are at least as many as are missing.
  for (std::int64_t i = 0; i < nodeset.replicas - present; i++) {
    planner.miss(std::move(free[static_cast<std::size_t>(i)]));
  }
  const std::int64_t excess = std::max<std::int64_t>(0, present - nodeset.replicas);
  const std::set<std::int64_t> removed = select_nodes_to_remove(members, static_cast<std::size_t>(excess), input.pods);
  for (const std::int64_t ordinal : removed) {
    planner.scale_in(*members.at(ordinal));
    members.erase(ordinal);
  }
  planner.select_spares_of(nodeset, members);
  for (const auto& [ordinal, node] : members) planner.keep(*node, nodeset);
  return nodeset.replicas;
}

/** Why a NodeSet of Kubernetes nodes can't know which nodes it is to have: reason and message; empty: it can. */
std::pair<const char*, std::string> find_unknown(const NodeSet& nodeset, const NodePlanInput& input) {
  if (!input.kube_nodes) {
    return {"KubernetesNodesUnknown",
            "no node is created or removed before the Kubernetes nodes are known: see KubernetesNodesWatched"};
  }
  if (nodeset.has_pods() || !input.has_external_nodes || (input.left && input.pods_error.empty())) return {};
  std::string message = "spec.scalingMode: External: the sizes of nodes depend on the pods of all namespaces, which ";
  message += input.pods_error.empty() ? "are being listed" : "the sidecar must be able to list and watch: ";
  return {"PodsUnknown", message.append(input.pods_error)};
}

/** A node for each Kubernetes node that is chosen. Returns how many there are to be. */
std::int64_t plan_kube_nodes(const NodeSet& nodeset, const NodesByName& records, const Taken& taken,
                             const NodePlanInput& input, NodeSetPlanner& planner) {
  const auto [reason, message] = find_unknown(nodeset, input);
  if (reason) planner.refuse(reason, message);
  if (!input.kube_nodes || (reason && !input.left)) {
    for (const auto& [name, node] : records) planner.keep(*node, nodeset);
    return std::ssize(records);
  }
  DaemonNodes nodes = choose_daemon_nodes(nodeset, *input.kube_nodes);
  Names ambiguous, crowded;
  for (const auto& [name, ready] : nodes.wanted) {
    planner.choose(name);
    const auto found = records.find(name);
    if (!is_name_of(nodeset.name, name, input.nodesets)) {
      ambiguous.push_back(name);
    } else if (found != records.end()) {
      // What would have to come up on a silent Kubernetes node goes instead, so that no job waits for it.
      if (ready || !is_removable(*found->second)) planner.keep(*found->second, nodeset);
    } else if (taken.contains(name)) {
      planner.block(name);
    } else if (ready && !planner.size_of(name, nodeset)) {
      crowded.push_back(name);
    } else if (ready) {
      planner.miss(name);
    }
  }
  const std::int64_t count = std::ssize(nodes.wanted) - std::ssize(crowded);
  for (const std::string& name : ambiguous) nodes.wanted.erase(name);
  for (const auto& [name, node] : records) {
    const auto found = nodes.wanted.find(std::string(name));
    if (found != nodes.wanted.end() && (found->second || !is_removable(*node))) continue;
    const std::string kube_node = kube_node_of(nodeset, name);
    const bool is_gone = !kube_node.empty() && !input.kube_nodes->contains(kube_node);
    planner.plan_removal(*node, is_gone ? std::string(kReasonKubeNode) + kube_node + " is gone" : std::string());
  }
  if (!crowded.empty() && input.has_external_nodes) {
    planner.refuse(
        "InsufficientResources",
        describe_hostlist(crowded) + ": other pods leave less than 1 CPU or 1 MiB of their Kubernetes nodes");
  }
  if (!nodes.too_long.empty()) {
    planner.refuse("NameTooLong", describe_hostlist(nodes.too_long) + ": a host name has at most 63 characters");
  }
  if (!ambiguous.empty()) {
    planner.refuse("NameTaken", describe_hostlist(ambiguous) + ": the names of another NodeSet's nodes");
  }
  return count;
}

/** Records whose NodeSet is gone. */
void plan_orphans(const std::string& nodeset, const NodesByName& records, const NodePlanInput& input, NodePlan& plan) {
  NodeSetPlanner planner(nodeset, input, plan);
  for (const auto& [name, node] : records) {
    planner.plan_removal(*node);
  }
  planner.finish();
}

}  // namespace

NodePlan plan_nodes(const NodePlanInput& input) {
  NodePlan plan;
  const Sorted sorted = sort_nodes(input.nodesets, input.nodes);
  std::int64_t room = input.max_nodes - std::ssize(input.nodes);
  for (const auto& [name, known] : input.nodesets) {
    NodeSetState& state = plan.states[name];
    state.generation = known.generation;
    const auto found = sorted.managed.find(name);
    static const NodesByName kNone;
    const NodesByName& records = found == sorted.managed.end() ? kNone : found->second;
    for (const auto& [node_name, node] : records) {
      state.counts.add(*node);
      state.failures.add(*node);
    }
    static const Pins kNoPins;
    const Pins& before = input.pins && input.pins->contains(name) ? input.pins->at(name) : kNoPins;
    if (known.spec.ok()) {
      NodeSet nodeset = *known.spec;
      nodeset.pins = state.pins = plan_pins(nodeset, before, records, input.pods, input.kube_nodes);
      NodeSetPlanner planner(name, input, plan);
      planner.begin(nodeset, known, state);
      planner.take_spares(nodeset);
      const auto plan_records = nodeset.is_per_kube_node() ? plan_kube_nodes : plan_ordinals;
      state.desired = plan_records(nodeset, records, sorted.taken, input, planner);
      planner.update(nodeset, known, state);
      planner.create(nodeset, room);
      planner.finish();
      planner.describe_state(input.max_nodes, state);
    } else {
      state.pins = before;
      const bool has_before = input.before && input.before->contains(name);
      state.records = known.records;
      if (has_before) state.keep(input.before->at(name));
      state.reason = state.roll_out.reason = "InvalidSpec";
      state.message = state.roll_out.message = known.spec.error().message();
    }
  }
  for (const auto& [name, records] : sorted.managed) {
    if (!input.nodesets.contains(name)) plan_orphans(name, records, input, plan);
  }
  for (const auto& [node, nodeset] : input.exemptions.ours()) {
    if (const auto state = plan.states.find(nodeset); state != plan.states.end()) state->second.exempt.insert(node);
  }
  std::stable_sort(plan.actions.begin(), plan.actions.end(),
                   [](const NodeAction& a, const NodeAction& b) { return a.kind < b.kind; });
  return plan;
}

}  // namespace slurmk8s
