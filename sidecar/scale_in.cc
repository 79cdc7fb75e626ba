// SPDX-License-Identifier: GPL-2.0-or-later
// select_nodes_to_remove(): sorts by what the loss of a node costs.
#include "sidecar/scale_in.hpp"

#include <algorithm>
#include <compare>
#include <vector>

#include "slurm/node_state.hpp"

namespace slurmk8s {
namespace {

/** What is lost with a node, least first. */
enum class Loss { none, going_down, useless, starting, idle, drained_busy, busy };

Loss loss_of(const SlurmNode& node) {
  if (is_removable(node)) return Loss::none;
  if (must_stay(node)) return Loss::busy;
  if (is_busy(node)) return is_drained_but_for_scale_in(node) ? Loss::drained_busy : Loss::busy;
  if (node.going_down()) return Loss::going_down;
  if (is_down(node) || is_drained_but_for_scale_in(node)) return Loss::useless;
  return is_starting(node) ? Loss::starting : Loss::idle;
}

/** Smaller leaves first. */
struct Rank {
  bool stays;  ///< not on its way out yet
  Loss loss;
  std::int32_t deletion_cost;
  std::int64_t from_the_end;
  auto operator<=>(const Rank&) const = default;
};

Rank rank_of(std::int64_t ordinal, const SlurmNode& node, const Pods& pods) {
  const auto pod = pods.find(node.name);
  return {!is_drained_for_scale_in(node), loss_of(node), pod == pods.end() ? 0 : pod->second.deletion_cost, -ordinal};
}

}  // namespace

std::set<std::int64_t> select_nodes_to_remove(const Members& members, std::size_t count, const Pods& pods) {
  std::vector<Rank> ranks;
  ranks.reserve(members.size());
  for (const auto& [ordinal, node] : members) ranks.push_back(rank_of(ordinal, *node, pods));
  count = std::min(count, ranks.size());
  std::partial_sort(ranks.begin(), ranks.begin() + static_cast<std::ptrdiff_t>(count), ranks.end());
  std::set<std::int64_t> removed;
  for (std::size_t i = 0; i < count; i++) removed.insert(-ranks[i].from_the_end);
  return removed;
}

}  // namespace slurmk8s
