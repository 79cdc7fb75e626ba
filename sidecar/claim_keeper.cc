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
    const bool complete =
        state != states.end() && state->second.ready && state->second.generation == nodeset->second.generation;
    reconcile(name, entry, *nodeset->second.spec, complete && !records.contains(entry.node));
  }
}

void ClaimKeeper::reconcile(const std::string& name, Entry& entry, const NodeSet& nodeset, bool scaled_in) {
  if (clock_.now() < entry.settled || !writer_.may_write(name)) return;
  const auto answered = [this, name](const Result<Json>& answer) { on_answer(name, answer); };
  if (scaled_in && nodeset.claims.delete_when_scaled) {
    log_info("claim %s/%s: deleted: node %s was scaled in", name_space_.c_str(), name.c_str(), entry.node.c_str());
    writer_.remove(name, {.uid = entry.uid}, answered);
    return;
  }
  const Json owners = with_owners(entry.owners, claim_owners(nodeset));
  if (owners.equals(entry.owners) || (owners.size() == 0 && entry.owners.size() == 0)) return;
  Json metadata = Json::object();
  metadata.set("uid", entry.uid).set("ownerReferences", owners);
  writer_.patch(name, kube::PatchType::merge, Json::object().set("metadata", std::move(metadata)), answered);
}

void ClaimKeeper::on_answer(const std::string& name, const Result<Json>& answer) {
  if (!answer.ok()) return;
  // Of a deletion it may be a Status: then the watch tells, and until it does there is no second try.
  entries_[name].settled = clock_.now() + kWatchGrace;
  if ((*answer)["metadata"]["name"].text() == name) observe(*answer);
}

}  // namespace slurmk8s
