// SPDX-License-Identifier: GPL-2.0-or-later
// Marks of pods in use.
#include "pod_marker.hpp"

#include <unordered_map>

#include "core/names.hpp"
#include "core/pod_builder.hpp"
#include "node_state.hpp"

namespace slurmk8s {
namespace {

constexpr int kMostRequests = 16;  // under way at a time: the API server has better to do
constexpr double kJitter = 0.5;

/** It has a job, or is being made for one. */
bool is_in_use(const SlurmNode& node) { return is_busy(node) || is_starting(node); }

}  // namespace

PodMarker::PodMarker(kube::Client& client, const Clock& clock, std::string name_space)
    : client_(client), clock_(clock), name_space_(std::move(name_space)) {}

PodMarker::~PodMarker() {
  for (const auto& [name, entry] : entries_) {
    if (entry.request != 0) client_.cancel(entry.request);
  }
}

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
    entry.idle_since = entry.not_before = {};
    entry.failures = 0;
  }
  entry.nodeset = labels[kLabelNodeSet].text();
  entry.marked = labels[kLabelBusy].text() == "true";
  unfinished_ = true;
}

void PodMarker::forget(const std::string& name) {
  const auto found = entries_.find(name);
  if (found == entries_.end()) return;
  if (found->second.request != 0) {
    client_.cancel(found->second.request);
    in_flight_--;
  }
  entries_.erase(found);
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
    judge(name, entry, *nodeset->second.spec, is_in_use(*record->second));
  }
}

void PodMarker::judge(const std::string& name, Entry& entry, const NodeSet& nodeset, bool in_use) {
  const TimePoint now = clock_.now();
  if (in_use) {
    entry.idle_since = {};
  } else if (entry.idle_since == TimePoint{}) {
    entry.idle_since = now;
  }
  const bool busy = nodeset.protects_busy && in_use;
  if (busy == entry.marked) return;
  const bool waits = !busy && nodeset.protects_busy && now < entry.idle_since + kIdleFor;
  if (waits || entry.request != 0 || now < entry.not_before || in_flight_ >= kMostRequests) {
    unfinished_ = true;
    return;
  }
  write(name, entry, nodeset, busy);
}

void PodMarker::write(const std::string& name, Entry& entry, const NodeSet& nodeset, bool busy) {
  Json metadata = busy_marks(nodeset, busy);
  metadata.set("uid", entry.uid);  // another pod of this name is a conflict
  in_flight_++;
  entry.request = client_.patch(kube::kPods, name_space_, name, "", kube::PatchType::merge,
                                Json::object().set("metadata", std::move(metadata)),
                                [this, name](Result<Json> answer) { on_answer(name, std::move(answer)); });
}

void PodMarker::on_answer(const std::string& name, Result<Json> answer) {
  in_flight_--;
  unfinished_ = true;
  Entry& entry = entries_[name];  // forget() cancels: it is there
  entry.request = 0;
  if (answer.ok()) {
    entry.failures = 0;
    observe(*answer);
    return;
  }
  const Error& error = answer.error();
  entry.not_before = clock_.now() + backoff_.delay(++entry.failures, kJitter, error.retry_after());
  // It went, or another one has its name by now: the watch will tell.
  if (error.code() == Errc::not_found || error.code() == Errc::conflict) return;
  unsigned held_back = 0;
  if (limiter_.allow(clock_.now(), held_back)) {
    log_warning("pod %s/%s: mark: %s (%u more held back)", name_space_.c_str(), name.c_str(), error.message().c_str(),
                held_back);
  }
}

}  // namespace slurmk8s
