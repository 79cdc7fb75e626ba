// SPDX-License-Identifier: GPL-2.0-or-later
// What pods tell of their nodes.
#include "sidecar/pod_marker.hpp"

#include <algorithm>
#include <unordered_map>

#include "daemon/condition.hpp"
#include "nodeset/names.hpp"
#include "nodeset/omit.hpp"
#include "nodeset/pod_builder.hpp"
#include "slurm/node_state.hpp"

namespace slurmk8s {
namespace {

/** It has a job, or is being made for one. */

const char* status_of(const NodeServiceState& service_state) { return service_state.in_service ? "True" : "False"; }

bool tells(const Json& condition, const NodeServiceState& service_state) {
  return condition["status"].text() == status_of(service_state) && condition["reason"].text() == service_state.reason &&
         condition["message"].text() == service_state.message;
}

}  // namespace

PodMarker::PodMarker(kube::Writer& client, const Clock& clock, kube::Throttle& throttle, std::string name_space,
                     Jitter jitter)
    : clock_(clock),
      // More in flight than kStatesPerSecond, so that the marks of pods in use don't wait for those that tell states.
      writer_(client, clock, throttle,
              {.resource = kube::kPods,
               .name_space = std::move(name_space),
               .what = "pod",
               .action = "mark",
               .omit = kOmitOfPods},
              std::move(jitter)) {}

void PodMarker::observe(const Json& pod) {
  const Json metadata = pod["metadata"];
  const Json labels = metadata["labels"];
  const std::string name(metadata["name"].text());
  if (labels[kLabelNode].text() != name || !metadata["deletionTimestamp"].is_null()) {
    forget(name);
    return;
  }
  Entry& entry = entries_[name];
  if (entry.uid != metadata["uid"].text()) {
    entry.uid = metadata["uid"].text();
    entry.since = {};
    writer_.forget(name);  // it was the former pod's
  }
  entry.nodeset = labels[kLabelNodeSet].text();
  entry.marked = labels[kLabelBusy].text() == "true";
  entry.label = labels[kLabelState].text();
  entry.condition = find_condition(pod["status"], kConditionInService).clone();
  unfinished_ = true;
}

void PodMarker::forget(const std::string& name) {
  writer_.forget(name);
  entries_.erase(name);
}

void PodMarker::round(const NodeSets& nodesets, const std::vector<SlurmNode>& nodes, std::uint64_t version) {
  if (version == version_ && !unfinished_) return;
  version_ = version;
  unfinished_ = false;
  if (entries_.empty()) return;
  std::unordered_map<std::string_view, const SlurmNode*> records;
  for (const SlurmNode& node : nodes) records.emplace(node.name, &node);
  for (auto& [name, entry] : entries_) {
    const auto record = records.find(name);
    const auto nodeset = nodesets.find(entry.nodeset);
    // Without a record or a good NodeSet nobody knows better than what the pod says.
    if (record == records.end() || nodeset == nodesets.end() || !nodeset->second.spec.ok()) continue;
    judge(name, entry, *nodeset->second.spec, *record->second);
  }
}

void PodMarker::judge(const std::string& name, Entry& entry, const NodeSet& nodeset, const SlurmNode& node) {
  NodeServiceState service_state = describe_service_state(node);
  if (entry.since == TimePoint{} || service_state != entry.service_state) {
    entry.service_state = std::move(service_state);
    entry.since = clock_.now();
  }
  const bool busy = nodeset.protects_busy && is_in_use(node);
  const bool marks_differ = busy != entry.marked || entry.service_state.label != entry.label;
  if (!marks_differ && tells(entry.condition, entry.service_state)) return;
  unfinished_ = true;
  if (!writer_.may_write(name)) return;

  const bool unmarks = entry.marked && nodeset.protects_busy && !busy;
  const std::chrono::seconds lasting = unmarks ? kIdleFor : is_changing(node) ? kLongChange : kSteady;
  if (busy && !entry.marked) {
    write_marks(name, entry, nodeset, true);
  } else if (!may_tell(entry, lasting)) {
    return;
  } else if (marks_differ) {
    write_marks(name, entry, nodeset, busy);
  } else {
    write_condition(name, entry);
  }
}

bool PodMarker::may_tell(const Entry& entry, std::chrono::seconds lasting) {
  const TimePoint now = clock_.now();
  if (now < entry.since + lasting) return false;
  const std::chrono::duration<double> passed = now - allowed_at_;
  allowance_ = std::min(kStatesPerSecond, allowance_ + passed.count() * kStatesPerSecond);
  allowed_at_ = now;
  if (allowance_ < 1) return false;
  allowance_ -= 1;
  return true;
}

void PodMarker::write_marks(const std::string& name, Entry& entry, const NodeSet& nodeset, bool busy) {
  Json metadata = busy_marks(nodeset, busy);
  Json labels = metadata["labels"].clone();
  labels.set(kLabelState, entry.service_state.label);
  metadata.set("labels", std::move(labels));
  metadata.set("uid", entry.uid);  // of another pod of this name the API server refuses it as invalid
  send(name, "", kube::PatchType::merge, Json::object().set("metadata", std::move(metadata)));
}

void PodMarker::write_condition(const std::string& name, Entry& entry) {
  Json condition = Json::object();
  condition.set("type", kConditionInService)
      .set("status", status_of(entry.service_state))
      .set("reason", entry.service_state.reason)
      .set("message", entry.service_state.message)
      .set("lastTransitionTime", transition_time(entry.condition, status_of(entry.service_state), clock_.wall()));
  Json patch = Json::object();
  patch.set("metadata", Json::object().set("uid", entry.uid));
  patch.set("status", Json::object().set("conditions", Json::array().push(std::move(condition))));
  // The other conditions are kubelet's: a strategic merge keeps them.
  send(name, "status", kube::PatchType::strategic_merge, patch);
}

void PodMarker::send(const std::string& name, const char* subresource, kube::PatchType type, const Json& patch) {
  const auto answered = [this](const Result<Json>& answer) {
    unfinished_ = true;
    if (answer.ok()) observe(*answer);
  };
  writer_.patch(name, type, patch, answered, subresource);
}

}  // namespace slurmk8s
