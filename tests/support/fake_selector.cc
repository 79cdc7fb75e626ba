// SPDX-License-Identifier: GPL-2.0-or-later
// Selectors as an API server reads them.
#include "support/fake_selector.hpp"

#include <algorithm>
#include <array>

#include "base/strings.hpp"

namespace slurmk8s::kube {
namespace {

/** Pods can be selected by these; everything by its name and namespace. */
constexpr std::array<std::string_view, 6> kPodFields{"spec.nodeName",    "spec.schedulerName", "spec.restartPolicy",
                                                     "spec.hostNetwork", "status.phase",       "status.podIP"};

/** At the commas that are in no parentheses. */
std::vector<std::string_view> split_terms(std::string_view text) {
  std::vector<std::string_view> terms;
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '(') ++depth;
    if (i < text.size() && text[i] == ')') --depth;
    if (i < text.size() && (text[i] != ',' || depth > 0)) continue;
    if (i > begin) terms.push_back(trim(text.substr(begin, i - begin)));
    begin = i + 1;
  }
  return terms;
}

Error unparsable(std::string_view text) {
  return Error(Errc::invalid, "unable to parse requirement: " + std::string(text));
}

}  // namespace

Result<FakeSelector::Requirement> FakeSelector::parse_requirement(std::string_view text) {
  Requirement result;
  if (const std::size_t list = text.find(" ("); list != std::string_view::npos) {
    const std::string_view before = text.substr(0, list);
    const std::size_t blank = before.find(' ');
    const std::string_view word = blank == std::string_view::npos ? "" : before.substr(blank + 1);
    if ((word != "in" && word != "notin") || !text.ends_with(')')) return unparsable(text);
    result.key = before.substr(0, blank);
    result.negated = word == "notin";
    for (const std::string_view value : split(text.substr(list + 2, text.size() - list - 3), ',')) {
      result.values.emplace(trim(value));
    }
    return result;
  }
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) {
    result.negated = text.starts_with('!');
    result.any_value = true;
    result.key = text.substr(result.negated ? 1 : 0);
    return result;
  }
  result.negated = equals > 0 && text[equals - 1] == '!';
  result.key = text.substr(0, result.negated ? equals - 1 : equals);
  std::string_view value = text.substr(equals + 1);
  if (value.starts_with('=') && !result.negated) value.remove_prefix(1);
  if (result.key.empty() || value.find('=') != std::string_view::npos) return unparsable(text);
  result.values.emplace(value);
  return result;
}

Result<FakeSelector> FakeSelector::parse(std::string_view labels, std::string_view fields, std::string_view plural) {
  FakeSelector selector;
  for (const std::string_view term : split_terms(labels)) {
    selector.labels_.push_back(SLURMK8S_TRY(parse_requirement(term)));
  }
  for (const std::string_view term : split_terms(fields)) {
    Requirement field = SLURMK8S_TRY(parse_requirement(term));
    const bool common = field.key == "metadata.name" || field.key == "metadata.namespace";
    const bool of_pods = std::find(kPodFields.begin(), kPodFields.end(), field.key) != kPodFields.end();
    if (field.any_value || !(common || (of_pods && plural == "pods"))) {
      return Error(Errc::invalid, "field label not supported: " + field.key);
    }
    selector.fields_.push_back(std::move(field));
  }
  return selector;
}

bool FakeSelector::matches(const Json& object) const {
  if (object.is_null()) return false;
  const Json labels = object.at({"metadata", "labels"});
  const auto label_fits = [&](const Requirement& label) {
    const bool found = labels.has(label.key) && (label.any_value || label.values.contains(labels[label.key].text()));
    return found != label.negated;
  };
  const auto field_fits = [&](const Requirement& field) {
    Json value = object;
    for (const std::string_view part : split(field.key, '.')) value = value[part];
    return field.values.contains(value.text()) != field.negated;
  };
  return std::all_of(labels_.begin(), labels_.end(), label_fits) &&
         std::all_of(fields_.begin(), fields_.end(), field_fits);
}

}  // namespace slurmk8s::kube
