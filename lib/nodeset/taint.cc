// SPDX-License-Identifier: GPL-2.0-or-later
// Taints and tolerations.
#include "nodeset/taint.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace slurmk8s {
namespace {

bool is_of_kubernetes(std::string_view key) { return key.starts_with("node.kubernetes.io/"); }

bool keeps_pods_away(const Taint& taint) { return taint.effect == "NoSchedule" || taint.effect == "NoExecute"; }

}  // namespace

std::vector<Taint> decode_taints(const Json& kube_node) {
  std::vector<Taint> taints;
  kube_node.at({"spec", "taints"}).each([&](const Json& one) {
    Taint taint{std::string(one["key"].text()), std::string(one["value"].text()), std::string(one["effect"].text())};
    if (keeps_pods_away(taint) && !is_of_kubernetes(taint.key)) taints.push_back(std::move(taint));
  });
  return taints;
}

std::vector<Toleration> decode_tolerations(const Json& tolerations) {
  std::vector<Toleration> decoded;
  tolerations.each([&](const Json& one) {
    if (is_of_kubernetes(one["key"].text())) return;
    decoded.push_back({std::string(one["key"].text()), std::string(one["value"].text()),
                       std::string(one["effect"].text()), one["operator"].text() == "Exists"});
  });
  return decoded;
}

// An empty key tolerates every key, an empty effect every effect; the operator is Equal unless it says Exists.
bool is_tolerated(const Taint& taint, const std::vector<Toleration>& tolerations) {
  return std::any_of(tolerations.begin(), tolerations.end(), [&](const Toleration& one) {
    if (!one.effect.empty() && one.effect != taint.effect) return false;
    return one.key.empty() ? one.exists : one.key == taint.key && (one.exists || one.value == taint.value);
  });
}

const Taint* find_untolerated(const std::vector<Taint>& taints, const std::vector<Toleration>& tolerations) {
  const auto found =
      std::find_if(taints.begin(), taints.end(), [&](const Taint& taint) { return !is_tolerated(taint, tolerations); });
  return found == taints.end() ? nullptr : &*found;
}

}  // namespace slurmk8s
