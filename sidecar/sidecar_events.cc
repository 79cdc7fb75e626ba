// SPDX-License-Identifier: GPL-2.0-or-later
// SidecarEvents: from actions and conditions to the words of events.
#include "sidecar/sidecar_events.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "slurm/hostlist.hpp"
#include "daemon/condition.hpp"
#include "slurm/reasons.hpp"
#include "sidecar/kube_node_mirror.hpp"
#include "sidecar/roll_out.hpp"

namespace slurmk8s {
namespace {

using Kind = kube::EventRecorder::Kind;
using Subject = kube::EventRecorder::Subject;

constexpr Kind kUnfitKubeNode{"Warning", "KubernetesNodeUnfit", "DrainNodes"};
constexpr Kind kRollOutBegun{"Normal", "RollOutStarted", "RecycleNodes"};
constexpr Kind kRollOutHalted{"Warning", "RollOutStopped", "KeepPreviousTemplate"};
constexpr Kind kRollOutOver{"Normal", "RollOutDone", "None"};

/** Reasons of the condition Ready that somebody has to do something about: the event's are the same. */
constexpr std::array kFaults{
    Kind{"Warning", "InvalidSpec", "None"},         Kind{"Warning", "NameTaken", "None"},
    Kind{"Warning", "NameTooLong", "None"},         Kind{"Warning", "KubernetesNodesUnknown", "None"},
    Kind{"Warning", "Corrected", "None"},           Kind{"Warning", "CreateFailed", "CreateNodes"},
    Kind{"Warning", "DeleteFailed", "DeleteNodes"}, Kind{"Warning", "UpdateFailed", "UpdateNodes"}};

/** Reasons of the condition RolledOut while nodes have a former template. */
constexpr std::array<std::string_view, 7> kRollingOut{"RollingOut",   "WaitingForJobs",        "WaitingForNodes",
                                                      "OnDelete",     "WaitingForMaintenance", "Protected",
                                                      kRollOutStopped};

bool is_rolling_out(std::string_view reason) {
  return std::find(kRollingOut.begin(), kRollingOut.end(), reason) != kRollingOut.end();
}

/** Empty: of no interest, or the engine tells it. */
std::optional<Kind> kind_of(const NodeAction& action) {
  if (action.reason.starts_with(kReasonKubeNode)) return kUnfitKubeNode;
  switch (action.kind) {
    case NodeAction::Kind::create: return Kind{"Normal", "NodesCreated", "CreateNodes"};
    case NodeAction::Kind::remove: return Kind{"Normal", "NodesRemoved", "DeleteNodes"};
    case NodeAction::Kind::drain: return Kind{"Normal", "NodesDrained", "DrainNodes"};
    case NodeAction::Kind::undrain: return Kind{"Normal", "NodesUndrained", "UndrainNodes"};
    case NodeAction::Kind::recycle: return Kind{"Normal", "NodesRecycled", "PowerDownNodes"};
    default: return std::nullopt;
  }
}

/** Our Reasons say in Slurm whose they are; an event has that elsewhere. */
std::string without_prefix(std::string_view reason) {
  if (reason.starts_with(kReason)) reason.remove_prefix(kReason.size());
  return std::string(reason);
}

Subject subject_of(const std::string& nodeset, const std::string& uid) {
  return {kube::kNodeSets.api, "NodeSet", nodeset, uid};
}

}  // namespace

SidecarEvents::SidecarEvents(kube::Writer& client, Timers& timers, const Clock& clock, kube::Throttle& throttle,
                             std::string name_space)
    : recorder_(client, timers, clock, throttle, std::move(name_space), "slurm-k8s.io/sidecar", compress_hostlist) {}

void SidecarEvents::observe(const Json& object) {
  const auto [entry, is_new] = nodesets_.try_emplace(std::string(object.at({"metadata", "name"}).text()));
  entry->second.uid = object.at({"metadata", "uid"}).text();
  if (is_new) entry->second.rolls_out = is_rolling_out(find_condition(object["status"], "RolledOut")["reason"].text());
}

void SidecarEvents::forget(const std::string& nodeset) { nodesets_.erase(nodeset); }

void SidecarEvents::acted(const NodeAction& action) {
  const auto known = nodesets_.find(action.nodeset);
  const std::optional<Kind> kind = kind_of(action);
  if (known == nodesets_.end() || !kind) return;
  const Result<std::vector<std::string>> nodes = expand_hostlist(action.nodes);
  if (!nodes.ok()) return;
  recorder_.record(subject_of(action.nodeset, known->second.uid), *kind, *nodes, without_prefix(action.reason));
}

void SidecarEvents::status_changed(const std::string& nodeset, const Json& before, const Json& after) {
  const auto known = nodesets_.find(nodeset);
  if (known == nodesets_.end()) return;
  const Subject subject = subject_of(nodeset, known->second.uid);
  tell_ready(subject, before, after);
  tell_roll_out(subject, known->second, before, after);
}

void SidecarEvents::tell_ready(const Subject& subject, const Json& before, const Json& after) {
  const Json old = find_condition(before, "Ready");
  const Json now = find_condition(after, "Ready");
  if (old["reason"].equals(now["reason"]) && old["message"].equals(now["message"])) return;
  const auto fault = std::find_if(kFaults.begin(), kFaults.end(),
                                  [&](const Kind& kind) { return now["reason"].text() == kind.reason; });
  if (fault != kFaults.end()) recorder_.record(subject, *fault, {}, std::string(now["message"].text()));
}

// A pod that dies makes the condition False for a while, too: that is no roll-out.
void SidecarEvents::tell_roll_out(const Subject& subject, Known& known, const Json& before, const Json& after) {
  const std::string_view old = find_condition(before, "RolledOut")["reason"].text();
  const Json now = find_condition(after, "RolledOut");
  const std::string_view reason = now["reason"].text();
  const std::string text =
      "template " + std::string(after["updateRevision"].text()) + ": " + std::string(now["message"].text());
  const bool is_other = !before["updateRevision"].equals(after["updateRevision"]);
  if (reason == kRollOutStopped) {
    if (old != reason || is_other) recorder_.record(subject, kRollOutHalted, {}, text);
  } else if (is_rolling_out(reason)) {
    if (!known.rolls_out || is_other || old == kRollOutStopped) recorder_.record(subject, kRollOutBegun, {}, text);
  } else if (known.rolls_out && now["status"].text() == "True") {
    recorder_.record(subject, kRollOutOver, {}, text);
    known.rolls_out = false;
  }
  known.rolls_out |= is_rolling_out(reason);
}

}  // namespace slurmk8s
