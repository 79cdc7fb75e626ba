// SPDX-License-Identifier: GPL-2.0-or-later
// Features of machines: reading the annotation, and comparing with what a node record has.
#include "machine_features.hpp"

#include <algorithm>
#include <set>

#include "base/text.hpp"

namespace slurmk8s {
namespace {

constexpr std::string_view kPrefix = "k8s/";
constexpr const char* kSlinkyFeatures = "features.slinky.slurm.net/spec";
constexpr std::size_t kMostFeatures = 32;
constexpr std::size_t kMostLength = 256;  // of one feature

/** Some others have a meaning in a job's constraint. */
bool is_plain(std::string_view text) {
  return text.size() <= kMostLength && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_-.:/=").find(c) != std::string_view::npos;
  });
}

/** `list` without what machines gave, with what this one gives. */
std::string with_machine(std::string_view list, const MachineFeatures* machine) {
  std::string all;
  const auto add = [&all](std::string_view feature) {
    if (!all.empty()) all += ',';
    all += feature;
  };
  for (const std::string_view feature : split(list, ',')) {
    if (!feature.empty() && !feature.starts_with(kPrefix)) add(feature);
  }
  if (machine) {
    for (const std::string& feature : machine->features) add(feature);
  }
  return all;
}

/** The order says nothing. */
bool are_same(const std::string& a, const std::string& b) {
  const auto split_a = split(a, ','), split_b = split(b, ',');
  return std::set(split_a.begin(), split_a.end()) == std::set(split_b.begin(), split_b.end());
}

}  // namespace

MachineFeatures decode_machine_features(const Json& annotations) {
  MachineFeatures machine;
  const Json own = annotations[kAnnotationFeatures];
  const std::string text(own.is_null() ? annotations[kSlinkyFeatures].text() : own.text());
  for (const std::string_view entry : split(text, ',')) {
    const std::string_view feature = trim(entry);
    if (feature.empty()) continue;
    if (!is_plain(feature)) {
      machine.wrong = "\"" + std::string(feature.substr(0, kMostLength)) + "\": letters, digits and _-.:/= are needed";
    } else if (machine.features.size() == kMostFeatures) {
      machine.wrong = format("more than %zu features", kMostFeatures);
    } else {
      machine.features.push_back(std::string(feature.starts_with(kPrefix) ? "" : kPrefix) + std::string(feature));
    }
  }
  return machine;
}

std::optional<SlurmNodeUpdate> features_change(const SlurmNode& node, const MachineFeatures* machine) {
  const std::string& active = node.active_features.empty() ? node.features : node.active_features;
  const bool has_none = node.features.find(kPrefix) == std::string::npos && active.find(kPrefix) == std::string::npos;
  if (has_none && (!machine || machine->features.empty())) return std::nullopt;
  SlurmNodeUpdate update;
  update.features = with_machine(node.features, machine);
  update.active_features = with_machine(active, machine);
  if (are_same(*update.features, node.features) && are_same(*update.active_features, active)) return std::nullopt;
  return update;
}

}  // namespace slurmk8s
