// SPDX-License-Identifier: GPL-2.0-or-later
// A node record's state in one word.
#include "node_service_state.hpp"

#include "node_state.hpp"

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
  NodeServiceState story;
  story.label = word_of(node);
  story.reason = in_camel_case(story.label);
  story.in_service = story.label == "idle" || story.label == "allocated" || story.label == "mixed" ||
                     story.label == "completing" || story.label == "suspended";
  if (!story.in_service) story.message = node.reason;
  return story;
}

}  // namespace slurmk8s
