// SPDX-License-Identifier: GPL-2.0-or-later
// Features of Kubernetes nodes: reading the annotation.
#include "sidecar/kube_node_features.hpp"

#include <algorithm>

#include "base/strings.hpp"

namespace slurmk8s {
namespace {

constexpr std::string_view kPrefix = "k8s/";
constexpr const char* kSlinkyFeatures = "features.slinky.slurm.net/spec";
constexpr std::size_t kMaxFeatures = 32;
constexpr std::size_t kMaxLength = 256;  // of one feature

/** Some others have a meaning in a job's constraint. */
bool is_plain(std::string_view text) {
  return text.size() <= kMaxLength && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  std::string_view("_-.:/=").find(c) != std::string_view::npos;
         });
}

}  // namespace

KubeNodeFeatures decode_kube_node_features(const Json& annotations) {
  KubeNodeFeatures kube_node;
  const Json own = annotations[kAnnotationFeatures];
  const std::string text(own.is_null() ? annotations[kSlinkyFeatures].text() : own.text());
  for (const std::string_view entry : split(text, ',')) {
    const std::string_view feature = trim(entry);
    if (feature.empty()) continue;
    if (!is_plain(feature)) {
      kube_node.wrong = "\"" + std::string(feature.substr(0, kMaxLength)) + "\": must be letters, digits and _-.:/=";
    } else if (kube_node.features.size() == kMaxFeatures) {
      kube_node.wrong = format("more than %zu features", kMaxFeatures);
    } else {
      kube_node.features.push_back(std::string(feature.starts_with(kPrefix) ? "" : kPrefix) + std::string(feature));
    }
  }
  return kube_node;
}

bool is_kube_node_feature(std::string_view feature) { return feature.starts_with(kPrefix); }

}  // namespace slurmk8s
