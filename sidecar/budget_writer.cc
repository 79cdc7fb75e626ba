// SPDX-License-Identifier: GPL-2.0-or-later
// PodDisruptionBudgets of NodeSets.
#include "sidecar/budget_writer.hpp"

#include "nodeset/names.hpp"

namespace slurmk8s {
namespace {

std::string budget_name(const std::string& nodeset) { return nodeset + "-busy"; }

/** What we set of a budget's spec is there. The API server adds nothing that changes it. */
bool has_spec(const Json& budget, const Json& wanted) {
  return budget["spec"]["maxUnavailable"].equals(wanted["spec"]["maxUnavailable"]) &&
         budget["spec"]["minAvailable"].is_null() && budget["spec"]["selector"].equals(wanted["spec"]["selector"]);
}

}  // namespace

Json build_budget(const NodeSet& nodeset) {
  Json owner = owner_reference(nodeset).set("controller", Json::boolean(true));
  Json labels = Json::object();
  labels.set(kLabelManagedBy, "slurm-k8s").set(kLabelNodeSet, nodeset.name);
  Json metadata = Json::object();
  metadata.set("name", budget_name(nodeset.name))
      .set("namespace", nodeset.name_space)
      .set("labels", std::move(labels))
      .set("ownerReferences", Json::array().push(std::move(owner)));
  Json match = Json::object().set(kLabelNodeSet, nodeset.name).set(kLabelBusy, "true");
  Json spec = Json::object();
  spec.set("maxUnavailable", Json::integer(0)).set("selector", Json::object().set("matchLabels", std::move(match)));
  Json budget = Json::object();
  budget.set("apiVersion", "policy/v1")
      .set("kind", "PodDisruptionBudget")
      .set("metadata", std::move(metadata))
      .set("spec", std::move(spec));
  return budget;
}

BudgetWriter::BudgetWriter(kube::Writer& client, const Clock& clock, kube::Throttle& throttle, std::string name_space,
                           Jitter jitter)
    : writer_(
          client, clock, throttle,
          {.resource = kube::kDisruptionBudgets, .name_space = std::move(name_space), .what = "poddisruptionbudget"},
          std::move(jitter)) {}

void BudgetWriter::observe(const Json& budget) {
  entries_[std::string(budget.at({"metadata", "name"}).text())].known = budget;
}

void BudgetWriter::forget(const std::string& name) {
  const auto found = entries_.find(name);
  if (found != entries_.end()) found->second.known = Json();
}

void BudgetWriter::round(const NodeSets& nodesets) {
  if (!listed_) return;
  std::map<std::string, const NodeSet*> wanted;
  for (const auto& [name, known] : nodesets) {
    // Of a NodeSet whose spec can't be read the budget stays as it is.
    if (known.spec.ok()) wanted[budget_name(name)] = known.spec->protects_busy ? &*known.spec : nullptr;
  }
  for (const auto& [name, nodeset] : wanted) reconcile(name, entries_[name], nodeset);
  // What is left of a NodeSet that is gone is Kubernetes' to remove.
  std::erase_if(entries_, [&](const auto& entry) {
    return wanted.count(entry.first) == 0 && entry.second.known.is_null() && !writer_.is_writing(entry.first);
  });
}

void BudgetWriter::reconcile(const std::string& name, Entry& entry, const NodeSet* wanted) {
  if (!writer_.may_write(name)) return;
  const Json metadata = entry.known["metadata"];
  const bool is_there = !entry.known.is_null() && metadata["deletionTimestamp"].is_null();
  const auto answered = [this, name](bool removal) {
    return [this, name, removal](const Result<Json>& answer) { on_answer(name, removal, answer); };
  };
  if (wanted == nullptr) {
    entry.failure.clear();
    if (!is_there) return;
    writer_.remove(name, {.uid = std::string(metadata["uid"].text())}, answered(true));
    return;
  }
  const Json budget = build_budget(*wanted);
  if (entry.known.is_null()) {
    writer_.create(name, budget, answered(false));
  } else if (has_spec(entry.known, budget)) {
    entry.failure.clear();
  } else if (is_there) {
    // As a merge patch: a member that somebody has added goes only by name.
    Json spec = budget["spec"].clone();
    spec.set("minAvailable", Json());
    writer_.patch(name, kube::PatchType::merge, Json::object().set("spec", std::move(spec)), answered(false));
  }
}

void BudgetWriter::on_answer(const std::string& name, bool removal, const Result<Json>& answer) {
  Entry& entry = entries_[name];
  if (answer.ok()) {
    entry.failure.clear();
    if (!removal) entry.known = *answer;
    return;
  }
  const Error& error = answer.error();
  if (removal && error.code() == Errc::not_found) return;
  entry.failure = error.code() == Errc::already_exists
                      ? "poddisruptionbudget " + name + " exists and belongs to somebody else"
                      : error.message();
}

Condition BudgetWriter::condition(const std::string& nodeset, const KnownNodeSet& known,
                                  const std::string& watch_error) const {
  const auto say = [](bool status, const char* reason, std::string message) {
    return Condition{"DisruptionProtected", status, reason, std::move(message)};
  };
  const auto found = entries_.find(budget_name(nodeset));
  const bool in_place = found != entries_.end() && !found->second.known.is_null();
  if (!known.spec.ok()) return say(in_place, "InvalidSpec", "as it was before the spec became invalid");
  if (!known.spec->protects_busy) return say(false, "Disabled", "spec.workloadDisruptionProtection is false");
  if (found != entries_.end() && !found->second.failure.empty()) {
    return say(in_place, "BudgetRefused", found->second.failure);
  }
  if (in_place) return say(true, "BudgetInPlace", "pods of nodes in use can't be evicted");
  if (!watch_error.empty()) return say(false, "BudgetUnreadable", watch_error);
  return say(false, "BudgetPending", "the PodDisruptionBudget is being created");
}

}  // namespace slurmk8s
