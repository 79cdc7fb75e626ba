// SPDX-License-Identifier: GPL-2.0-or-later
// merge_overlay(): the lists of a pod, and how they meet.
#include "kube/overlay.hpp"

#include <array>
#include <vector>

namespace slurmk8s {
namespace {

/** A list of a pod that is merged element by element: which member tells its elements apart, and how two meet. */
struct ListRule {
  std::string_view list;
  std::string_view key;
  bool replace;  ///< the element is replaced whole: it is a union (`value` or `valueFrom`), whose halves must not mix
};

const ListRule* list_rule(std::string_view list) {
  static constexpr std::array<ListRule, 8> kRules{{{"containers", "name", false},
                                                   {"initContainers", "name", false},
                                                   {"volumes", "name", true},
                                                   {"env", "name", true},
                                                   {"imagePullSecrets", "name", true},
                                                   {"volumeMounts", "mountPath", true},
                                                   {"volumeDevices", "devicePath", true},
                                                   {"ports", "containerPort", false}}};
  for (const ListRule& rule : kRules) {
    if (rule.list == list) return &rule;
  }
  return nullptr;
}

Json merge_list(const Json& base, const Json& overlay, const ListRule& rule) {
  Json out = Json::array();
  std::vector<bool> used(overlay.size(), false);
  base.each([&](const Json& element) {
    for (std::size_t i = 0; i < overlay.size(); ++i) {
      if (!used[i] && overlay[i][rule.key].equals(element[rule.key])) {
        used[i] = true;
        out.push(rule.replace ? overlay[i].clone() : merge_overlay(element, overlay[i]));
        return;
      }
    }
    out.push(element.clone());
  });
  for (std::size_t i = 0; i < overlay.size(); ++i) {
    if (!used[i]) out.push(overlay[i].clone());
  }
  return out;
}

}  // namespace

Json merge_overlay(const Json& base, const Json& overlay) {
  if (overlay.is_null()) return base.clone();
  if (!base.is_object() || !overlay.is_object()) return overlay.clone();
  Json out = base.clone();
  overlay.each([&](std::string_view key, const Json& value) {
    const Json old = base[key];
    if (value.is_null()) {
      out.erase(key);
    } else if (const ListRule* rule = list_rule(key); rule && value.is_array() && old.is_array()) {
      out.set(key, merge_list(old, value, *rule));
    } else {
      out.set(key, merge_overlay(old, value));
    }
  });
  return out;
}

}  // namespace slurmk8s
