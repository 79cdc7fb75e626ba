// SPDX-License-Identifier: GPL-2.0-or-later
// plan_update(): a look at all members, whether to go on, then as many steps as fit.
#include "sidecar/update_plan.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "slurm/hostlist.hpp"
#include "nodeset/template_hash.hpp"
#include "slurm/node_state.hpp"
#include "sidecar/record_definition.hpp"

namespace slurmk8s {
namespace {

using Kind = NodeAction::Kind;
using Type = UpdateStrategy::Type;
using Names = std::vector<std::string>;

/** What a pod of this variant would be made from now; nothing: the NodeSet has no such variant any more. */
std::optional<std::string> present_hash(const PodFacts& pod, const NodeSet& nodeset) {
  if (pod.variant.empty()) return nodeset.template_hash;
  const auto found = nodeset.variants.find(pod.variant);
  if (found == nodeset.variants.end()) return std::nullopt;
  return found->second.template_hash;
}

/** Counts against max_unavailable. A plain suspend doesn't, but for the moment in which its pod is a former one. */
bool is_unavailable(const SlurmNode& node, bool outdated, const NodeSet& nodeset) {
  if (is_drained_for_update(node) || is_given_up(node)) return true;
  if (is_going_down_for_update(node) || (node.going_down() && outdated)) return true;
  return nodeset.keeps_up() && !is_registered(node) && !is_held_by_administrator(node);
}

/** Whether the strategy lets an outdated node be recycled now. */
bool is_eligible(const SlurmNode& node, const UpdateStrategy& update) {
  return update.type == Type::rolling || (update.type == Type::scheduled && node.maintenance);
}

class Planner {
 public:
  explicit Planner(const UpdateInput& input) : input_(input), nodeset_(input.nodeset) {}

  UpdatePlan plan() {
    count_members();
    judge();
    for (const UpdateMember& member : input_.members) proceed(member);
    take(true);
    take(false);
    describe();
    return std::move(plan_);
  }

 private:
  void count_members() {
    RollOut& out = plan_.roll_out;
    out.template_hash = revision_of(nodeset_);
    const bool always = nodeset_.keeps_up();
    if (always) unavailable_ = input_.missing;
    for (const auto& [node, taken] : input_.members) {
      const bool outdated = is_outdated(*node, input_.pods, nodeset_);
      const auto pod = input_.pods.find(node->name);
      const bool is_present =
          pod != input_.pods.end() && pod->second.template_hash == present_hash(pod->second, nodeset_);
      if (is_registered(*node) && is_present) out.up.insert(node->name);
      if (is_given_up(*node) && !outdated) out.failed.insert(node->name);
      unavailable_ += is_unavailable(*node, outdated, nodeset_);
      if (outdated) outdated_.push_back(node->name);
      out.updated += !outdated;
      if (always && !is_registered(*node) && !is_held_by_administrator(*node)) not_up_.push_back(node->name);
    }
  }

  /** What had failed already when the template came says nothing about it. */
  void judge() {
    RollOut& out = plan_.roll_out;
    const RollOut* before = input_.before;
    if (!before) out.stopped = !out.template_hash.empty() && input_.stopped_template == out.template_hash;
    if (!before || before->template_hash != out.template_hash) return;
    const bool came_up = !std::includes(before->up.begin(), before->up.end(), out.up.begin(), out.up.end());
    const bool failed =
        !std::includes(before->failed.begin(), before->failed.end(), out.failed.begin(), out.failed.end());
    out.stopped = failed || (before->stopped && !came_up);
  }

  bool is_halted() const { return plan_.roll_out.stopped || input_.is_protected; }

  bool may_go(const SlurmNode& node) const {
    return !is_halted() && is_eligible(node, nodeset_.update) && is_outdated(node, input_.pods, nodeset_);
  }

  void add(Kind kind, const SlurmNode& node) { plan_.steps.push_back({kind, &node}); }

  /** With nodes that were taken before. */
  void proceed(const UpdateMember& member) {
    const SlurmNode& node = *member.node;
    if (member.taken || !is_drained_for_update(node) || node.going_down()) return;
    if (!may_go(node)) return add(Kind::undrain, node);
    if (is_idle(node) && is_registered(node)) return add(Kind::recycle, node);
    if (is_busy(node)) wait_for_jobs_.push_back(node.name);
  }

  /** Further ones, either those that are idle or those that are not. */
  void take(bool idle) {
    const std::int64_t max = nodeset_.update.unavailable_limit(std::ssize(input_.members) + input_.missing);
    for (const auto& [node, taken] : input_.members) {
      if (unavailable_ >= max) return;
      if (taken || !is_in_service(*node) || is_idle(*node) != idle || !may_go(*node)) continue;
      add(idle ? Kind::recycle : Kind::drain, *node);
      if (!idle) wait_for_jobs_.push_back(node->name);
      unavailable_++;
    }
  }

  /** The condition RolledOut: the first thing that keeps it from being so. */
  void describe() {
    RollOut& out = plan_.roll_out;
    const std::string cause = input_.failure.empty() ? "" : ": " + std::string(input_.failure);
    if (out.stopped && (!outdated_.empty() || out.up.empty())) {
      return set(kRollOutStopped, "no node has come up with the template since one failed to" + cause);
    }
    if (!outdated_.empty()) return describe_outdated(cause);
    if (!not_up_.empty()) return set("PoweringUp", describe_hostlist(not_up_) + ": not up yet");
    out.done = true;
    set("TemplateInUse", "no node has a previous template");
  }

  /** The same while nodes have a former template. */
  void describe_outdated(const std::string& cause) {
    const std::string names = describe_hostlist(outdated_);
    if (nodeset_.update.type == Type::on_delete) return set("OnDelete", names + ": updated when their pods go");
    if (input_.is_protected) return set("Protected", names + ": not updated while the NodeSet is protected" + cause);
    if (nodeset_.update.type == Type::scheduled && plan_.steps.empty() && unavailable_ == 0) {
      return set("WaitingForMaintenance", names + ": updated in a maintenance reservation");
    }
    if (!wait_for_jobs_.empty()) {
      return set("WaitingForJobs",
                 names + ": to be updated; recycled when their jobs are over: " + describe_hostlist(wait_for_jobs_));
    }
    if (plan_.steps.empty() && !not_up_.empty()) {
      return set("WaitingForNodes", names + ": to be updated when others are up: " + describe_hostlist(not_up_));
    }
    return set("RollingOut", names + ": to be updated");
  }

  void set(const char* reason, std::string message) {
    plan_.roll_out.reason = reason;
    plan_.roll_out.message = std::move(message);
  }

  const UpdateInput& input_;
  const NodeSet& nodeset_;
  UpdatePlan plan_;
  std::int64_t unavailable_ = 0;
  Names outdated_, wait_for_jobs_, not_up_;
};

}  // namespace

bool is_outdated(const SlurmNode& node, const Pods& pods, const NodeSet& nodeset) {
  const auto pod = pods.find(node.name);
  if (pod == pods.end()) return false;
  const auto present = present_hash(pod->second, nodeset);
  return has_other_size(node, nodeset.size) || !present || is_former_template(pod->second.template_hash, *present);
}

UpdatePlan plan_update(const UpdateInput& input) { return Planner(input).plan(); }

}  // namespace slurmk8s
