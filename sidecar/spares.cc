// SPDX-License-Identifier: GPL-2.0-or-later
// select_spares(): sorts by how soon a job could start on a node.
#include "sidecar/spares.hpp"

#include <algorithm>
#include <compare>
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
  auto operator<=>(const Rank&) const = default;
};

}  // namespace

std::set<std::string_view> select_spares(const SparesInput& input) {
  if (input.count <= 0) return {};
  std::vector<Rank> ranks;
  for (const auto& [ordinal, node] : input.members) {
    const std::optional<Stage> stage = stage_of(*node, input);
    if (stage) ranks.push_back({*stage, !input.exemptions.covers(input.nodeset, node->name), ordinal});
  }
  const std::int64_t count = std::min<std::int64_t>(input.count, std::ssize(ranks));
  std::partial_sort(ranks.begin(), ranks.begin() + count, ranks.end());
  std::set<std::string_view> spares;
  for (auto rank = ranks.begin(); rank != ranks.begin() + count; ++rank) {
    spares.insert(input.members.at(rank->ordinal)->name);
  }
  return spares;
}

}  // namespace slurmk8s
