// SPDX-License-Identifier: GPL-2.0-or-later
// select_spares(): sorts by how soon a job could start on a node.
#include "sidecar/spares.hpp"

#include <algorithm>
#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

#include "slurm/node_state.hpp"

namespace slurmk8s {
namespace {

/** How far a node is from running a job, nearest first. */
enum class Stage { up, starting, powered_down };

/** Empty: no job could start on it, or one has it. */
std::optional<Stage> stage_of(const SlurmNode& node, const SparesInput& input) {
  if (!is_free(node) || node.going_down()) return std::nullopt;
  if (is_starting(node)) return Stage::starting;
  if (is_schedulable(node)) return Stage::up;
  if (can_power_up(node) && !input.is_held(node.name)) return Stage::powered_down;
  return std::nullopt;
}

/** Smaller is selected first. */
struct Rank {
  Stage stage;
  bool is_new;  ///< not exempt from suspends yet
  std::int64_t ordinal;
  const SlurmNode* node;
  std::string variant;  ///< that it is up or starting with
  auto operator<=>(const Rank&) const = default;
};

std::vector<Rank> rank_nodes(const SparesInput& input) {
  std::vector<Rank> ranks;
  for (const auto& [ordinal, node] : input.members) {
    const std::optional<Stage> stage = stage_of(*node, input);
    if (!stage) continue;
    const bool is_off = *stage == Stage::powered_down;
    ranks.push_back({*stage, !input.exemptions.covers(input.nodeset.name, node->name), ordinal, node,
                     is_off ? "" : find_variant(input.nodeset, node->active_features)});
  }
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

}  // namespace

Spares select_spares(const SparesInput& input) {
  Spares spares;
  if (input.nodeset.spare_replicas.empty()) return spares;
  const std::vector<Rank> ranks = rank_nodes(input);
  for (const auto& [variant, count] : input.nodeset.spare_replicas) {
    std::int64_t missing = count;
    for (const Rank& rank : ranks) {
      if (missing == 0) break;
      if (rank.stage != Stage::powered_down && rank.variant != variant) continue;
      if (spares.emplace(rank.node->name, variant).second) missing--;
    }
  }
  return spares;
}

}  // namespace slurmk8s
