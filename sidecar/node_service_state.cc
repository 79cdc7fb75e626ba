// SPDX-License-Identifier: GPL-2.0-or-later
// A node record's state in one word.
#include "sidecar/node_service_state.hpp"

#include "slurm/node_state.hpp"

namespace slurmk8s {
namespace {

/** What says most comes first: a node that is powered down may be drained as well. */
std::string word_of(const SlurmNode& node) {
  using Base = SlurmNode::Base;
  if (node.powered_down) return "powered-down";
  if (node.going_down()) return "powering-down";
  if (is_starting(node)) return "powering-up";
  if (is_down(node)) return "down";
  if (node.not_responding) return "not-responding";
  if (node.draining) return is_busy(node) ? "draining" : "drained";
  if (node.base == Base::allocated) return "allocated";
  if (node.base == Base::mixed) return "mixed";
  if (node.completing) return "completing";
  if (node.has_suspended_job) return "suspended";
  return node.base == Base::idle ? "idle" : "unknown";
}

/** "powering-up" -> "PoweringUp". */
std::string in_camel_case(const std::string& word) {
  std::string out;
  bool starts = true;
  for (const char c : word) {
    if (c != '-') out += starts ? static_cast<char>(c - 'a' + 'A') : c;
    starts = c == '-';
  }
  return out;
}

}  // namespace

NodeServiceState describe_service_state(const SlurmNode& node) {
  NodeServiceState service_state;
  service_state.label = word_of(node);
  service_state.reason = in_camel_case(service_state.label);
  service_state.in_service = service_state.label == "idle" || service_state.label == "allocated" ||
                             service_state.label == "mixed" || service_state.label == "completing" ||
                             service_state.label == "suspended";
  if (!service_state.in_service) service_state.message = node.reason;
  return service_state;
}

}  // namespace slurmk8s
