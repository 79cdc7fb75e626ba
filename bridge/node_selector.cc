// SPDX-License-Identifier: GPL-2.0-or-later
// Node selectors as kube-scheduler reads them.
#include "bridge/node_selector.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/strings.hpp"
#include "nodeset/field_error.hpp"

namespace slurmk8s {
namespace {

/** Copies texts until there are too many. */
class Texts {
 public:
  std::string copy(const Json& value) {
    const std::string_view text = value.text();
    bytes_ += text.size() + sizeof(std::string);
    return is_too_long() ? std::string() : std::string(text);
  }
  void note_term() { bytes_ += sizeof(std::vector<NodeRequirement>); }
  bool is_too_long() const { return bytes_ > kMaxSelectorBytes; }

 private:
  std::size_t bytes_ = 0;
};

NodeRequirement decode_requirement(const Json& object, bool is_field, Texts& texts) {
  NodeRequirement requirement;
  requirement.is_field = is_field;
  requirement.key = texts.copy(object["key"]);
  requirement.op = texts.copy(object["operator"]);
  object["values"].each([&](const Json& value) {
    std::string text = texts.copy(value);
    if (!texts.is_too_long()) requirement.values.push_back(std::move(text));
  });
  return requirement;
}

/** `required`: null without a nodeAffinity. */
void decode_terms(const Json& required, NodeSelector& selector, Texts& texts) {
  selector.has_terms = !required.is_null();
  required["nodeSelectorTerms"].each([&](const Json& object) {
    if (texts.note_term(); texts.is_too_long()) return;
    std::vector<NodeRequirement>& term = selector.terms.emplace_back();
    object["matchExpressions"].each([&](const Json& one) { term.push_back(decode_requirement(one, false, texts)); });
    object["matchFields"].each([&](const Json& one) { term.push_back(decode_requirement(one, true, texts)); });
  });
}

/** Gt and Lt compare whole numbers. */
bool compares(const NodeRequirement& requirement, const std::string& value) {
  if (requirement.values.size() != 1) return false;
  const std::optional<std::int64_t> there = parse_int(value);
  const std::optional<std::int64_t> wanted = parse_int(requirement.values.front());
  if (!there || !wanted) return false;
  return requirement.op == "Gt" ? *there > *wanted : *there < *wanted;
}

/** `value`: null without the label. */
bool fits(const NodeRequirement& requirement, const std::string* value) {
  const auto& values = requirement.values;
  const bool is_listed = value != nullptr && std::find(values.begin(), values.end(), *value) != values.end();
  if (requirement.op == "In") return is_listed;
  if (requirement.op == "NotIn") return !is_listed;
  if (requirement.op == "Exists") return value != nullptr;
  if (requirement.op == "DoesNotExist") return value == nullptr;
  return value != nullptr && (requirement.op == "Gt" || requirement.op == "Lt") && compares(requirement, *value);
}

}  // namespace

bool NodeSelector::takes(const NodeLabels& present, const Fits& fits) const {
  const bool has_labels = std::all_of(labels.begin(), labels.end(), [&](const auto& label) {
    const auto found = present.find(label.first);
    return found != present.end() && found->second == label.second;
  });
  return has_labels && (!has_terms || std::any_of(terms.begin(), terms.end(), [&](const auto& term) {
           return !term.empty() && std::all_of(term.begin(), term.end(), fits);
         }));
}

bool NodeSelector::selects(const std::string& node, const NodeLabels& labels_of_node) const {
  return takes(labels_of_node, [&](const NodeRequirement& requirement) {
    if (requirement.is_field) return fits(requirement, requirement.key == "metadata.name" ? &node : nullptr);
    const auto found = labels_of_node.find(requirement.key);
    return fits(requirement, found == labels_of_node.end() ? nullptr : &found->second);
  });
}

bool NodeSelector::selects_all_with(const NodeLabels& known) const {
  return takes(known, [&](const NodeRequirement& requirement) {
    const auto found = known.find(requirement.key);
    return !requirement.is_field && found != known.end() && fits(requirement, &found->second);
  });
}

Result<NodeSelector> decode_node_selector(const Json& spec) {
  NodeSelector selector;
  Texts texts;
  spec["nodeSelector"].each([&](std::string_view key, const Json& value) {
    std::string text = texts.copy(value);
    if (!texts.is_too_long()) selector.labels[std::string(key)] = std::move(text);
  });
  if (texts.is_too_long()) return too_long_field("spec.nodeSelector", kMaxSelectorBytes);
  const Json affinity = spec.at({"affinity", "nodeAffinity"});
  decode_terms(affinity["requiredDuringSchedulingIgnoredDuringExecution"], selector, texts);
  if (texts.is_too_long()) return too_long_field("spec.affinity.nodeAffinity", kMaxSelectorBytes);
  return selector;
}

Result<NodeSelector> decode_volume_affinity(const Json& spec) {
  NodeSelector selector;
  Texts texts;
  decode_terms(spec.at({"nodeAffinity", "required"}), selector, texts);
  if (texts.is_too_long()) return too_long_field("spec.nodeAffinity", kMaxSelectorBytes);
  return selector;
}

}  // namespace slurmk8s
