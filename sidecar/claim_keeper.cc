// SPDX-License-Identifier: GPL-2.0-or-later
// Volume claims of nodes: owners, and removal after a scale-in.
#include "sidecar/claim_keeper.hpp"

#include <algorithm>
#include <unordered_set>

#include "base/log.hpp"
#include "nodeset/claim_builder.hpp"
#include "nodeset/names.hpp"

namespace slurmk8s {
namespace {

constexpr std::chrono::seconds kWatchGrace{5};  // the watch shows a change within this
constexpr int kMaxRequests = 128;               // a scale-in of thousands, at one round a second

/** The owners that a claim has beside a NodeSet stay. */
Json with_owners(const Json& have, const Json& wanted) {
  Json owners = Json::array();
  have.each([&](const Json& owner) {
    if (owner["kind"].text() != "NodeSet") owners.push(owner.clone());
  });
  wanted.each([&](const Json& owner) { owners.push(owner.clone()); });
  return owners;
}

struct ScaleIn {
  bool chosen = false;  // the node leaves, or has left
  bool done = false;    // and nothing of the NodeSet is missing: its claims may go
};

/** `marked`: a plan chose the node before, perhaps one of a sidecar that has ended. */
ScaleIn judge_scale_in(const std::string& node, const KnownNodeSet& known, const NodeSetState& state, bool has_record,
                       bool marked) {
  const bool complete = !has_record && state.ready && state.generation == known.generation;
  if (known.spec->is_per_kube_node()) return {false, complete && !state.chosen.contains(node)};
  const bool chosen = state.scaled_in.contains(node) || (marked && !has_record);
  return {chosen, chosen && complete};
}

}  // namespace

bool has_claims(const NodeSets& nodesets) {
  return std::ranges::any_of(nodesets, [](const auto& entry) {
    return entry.second.spec.ok() && !entry.second.spec->claims.templates.empty();
  });
}

ClaimKeeper::ClaimKeeper(kube::Writer& client, const Clock& clock, kube::Throttle& throttle, std::string name_space,
                         Jitter jitter)
    : clock_(clock),
      name_space_(std::move(name_space)),
      writer_(
          client, clock, throttle,
          {.resource = kube::kVolumeClaims, .name_space = name_space_, .what = "claim", .max_in_flight = kMaxRequests},
          std::move(jitter)) {}

void ClaimKeeper::observe(const Json& claim) {
  const Json metadata = claim["metadata"];
  const std::string name(metadata["name"].text());
  if (!metadata["deletionTimestamp"].is_null()) return forget(name);
  Entry& entry = entries_[name];
  entry.uid = metadata["uid"].text();
  entry.nodeset = metadata.at({"labels", kLabelNodeSet}).text();
  entry.node = metadata.at({"labels", kLabelNode}).text();
  entry.owners = metadata["ownerReferences"];
  entry.scaled_in = metadata.at({"annotations", kAnnotationScaledIn}).text() == "true";
}

void ClaimKeeper::forget(const std::string& name) {
  writer_.forget(name);
  entries_.erase(name);
}

void ClaimKeeper::round(const NodeSets& nodesets, const std::vector<SlurmNode>& nodes,
                        const std::map<std::string, NodeSetState>& states) {
  if (entries_.empty()) return;
  std::unordered_set<std::string_view> records;
  for (const SlurmNode& node : nodes) records.insert(node.name);
  for (auto& [name, entry] : entries_) {
    const auto nodeset = nodesets.find(entry.nodeset);
    if (nodeset == nodesets.end() || !nodeset->second.spec.ok()) continue;
    const auto state = states.find(entry.nodeset);
    if (state == states.end()) continue;
    reconcile(name, entry, nodeset->second, state->second, records.contains(entry.node));
  }
}

void ClaimKeeper::reconcile(const std::string& name, Entry& entry, const KnownNodeSet& known, const NodeSetState& state,
                            bool has_record) {
  if (clock_.now() < entry.settled || !writer_.may_write(name)) return;
  const ScaleIn scale_in = judge_scale_in(entry.node, known, state, has_record, entry.scaled_in);
  if (scale_in.done && known.spec->claims.delete_when_scaled) {
    log_info("claim %s/%s: deleted: node %s was scaled in", name_space_.c_str(), name.c_str(), entry.node.c_str());
    writer_.remove(name, {.uid = entry.uid}, [this, name](const Result<Json>& answer) { on_answer(name, answer); });
    return;
  }
  const Json owners = with_owners(entry.owners, claim_owners(*known.spec));
  const bool same_owners = owners.equals(entry.owners) || (owners.size() == 0 && entry.owners.size() == 0);
  if (!same_owners || scale_in.chosen != entry.scaled_in) patch(name, entry, owners, scale_in.chosen);
}

void ClaimKeeper::patch(const std::string& name, const Entry& entry, const Json& owners, bool scaled_in) {
  Json metadata = Json::object();
  metadata.set("uid", entry.uid).set("ownerReferences", owners);
  if (scaled_in != entry.scaled_in) {
    metadata.set("annotations", Json::object().set(kAnnotationScaledIn, scaled_in ? Json::string("true") : Json()));
  }
  writer_.patch(name, kube::PatchType::merge, Json::object().set("metadata", std::move(metadata)),
                [this, name](const Result<Json>& answer) { on_answer(name, answer); });
}

void ClaimKeeper::on_answer(const std::string& name, const Result<Json>& answer) {
  if (!answer.ok()) return;
  // Of a deletion it may be a Status: then the watch tells, and until it does there is no second try.
  entries_[name].settled = clock_.now() + kWatchGrace;
  if ((*answer)["metadata"]["name"].text() == name) observe(*answer);
}

}  // namespace slurmk8s
