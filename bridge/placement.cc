// SPDX-License-Identifier: GPL-2.0-or-later
// Ranks, and the nodes that have them.
#include "bridge/placement.hpp"

#include <algorithm>
#include <cctype>
#include <limits>

namespace slurmk8s {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/** The digits at the beginning, without zeros before them; takes them off `text`. */
std::string_view take_number(std::string_view& text) {
  std::size_t end = 0;
  while (end < text.size() && is_digit(text[end])) ++end;
  std::string_view number = text.substr(0, end);
  text.remove_prefix(end);
  while (number.size() > 1 && number.front() == '0') number.remove_prefix(1);
  return number;
}

/** Pods that its CPUs, GPUs and memory of the job carry. */
std::uint32_t room_on(const AllocatedNode& node, const PodSize& size) {
  std::uint32_t room = node.cpus / std::max<std::uint32_t>(size.cpus, 1);
  if (size.gpus != 0) room = std::min(room, node.gpus / size.gpus);
  if (size.memory_mib != 0 && node.memory_mib != 0) {
    room = static_cast<std::uint32_t>(std::min<std::uint64_t>(room, node.memory_mib / size.memory_mib));
  }
  return size.per_node == 0 ? room : std::min(room, size.per_node);
}

/** Of `pods` that are left for it and the nodes after it, `nodes` in all. */
std::size_t pods_on(const AllocatedNode& node, const PodSize& size, std::size_t pods, std::size_t nodes) {
  const std::size_t spare = pods > nodes ? pods - nodes : 0;  // beyond one for each node
  return std::min<std::size_t>(room_on(node, size), spare + 1);
}

}  // namespace

void take_room(AllocatedNode& node, const PodSize& size) {
  node.cpus -= std::min(node.cpus, size.cpus);
  node.gpus -= std::min(node.gpus, size.gpus);
  if (size.memory_mib == 0 || node.memory_mib == 0) return;
  if (node.memory_mib <= size.memory_mib) node.cpus = 0;  // 0 MiB would be an unknown size
  node.memory_mib -= std::min(node.memory_mib, size.memory_mib);
}

bool is_before_naturally(std::string_view a, std::string_view b) {
  const std::string_view whole_a = a;
  const std::string_view whole_b = b;
  while (!a.empty() && !b.empty()) {
    if (is_digit(a.front()) && is_digit(b.front())) {
      const std::string_view x = take_number(a);
      const std::string_view y = take_number(b);
      if (x.size() != y.size()) return x.size() < y.size();
      if (x != y) return x < y;
      continue;
    }
    if (a.front() != b.front()) return a.front() < b.front();
    a.remove_prefix(1);
    b.remove_prefix(1);
  }
  if (a.empty() != b.empty()) return a.empty();
  return whole_a < whole_b;  // "n01" and "n1"
}

std::vector<const WorkloadPod*> sort_by_rank(std::vector<const WorkloadPod*> pods) {
  const auto rank_of = [](const WorkloadPod& pod) {
    return pod.rank < 0 ? std::numeric_limits<std::int64_t>::max() : pod.rank;
  };
  std::sort(pods.begin(), pods.end(), [&](const WorkloadPod* a, const WorkloadPod* b) {
    if (rank_of(*a) != rank_of(*b)) return rank_of(*a) < rank_of(*b);
    return is_before_naturally(a->name, b->name);
  });
  return pods;
}

std::vector<PlacedPod> place_pods(const std::vector<const WorkloadPod*>& pods, std::vector<AllocatedNode> nodes,
                                  const PodSize& size, const NodeTopologies& topologies) {
  const auto topology_of = [&](const AllocatedNode& node) {
    const auto found = topologies.find(node.name);
    return found == topologies.end() ? std::string_view() : std::string_view(found->second);
  };
  std::sort(nodes.begin(), nodes.end(), [&](const AllocatedNode& a, const AllocatedNode& b) {
    const std::string_view of_a = topology_of(a);
    const std::string_view of_b = topology_of(b);
    if (of_a.empty() != of_b.empty()) return of_b.empty();
    return of_a == of_b ? is_before_naturally(a.name, b.name) : is_before_naturally(of_a, of_b);
  });
  std::erase_if(nodes, [&](const AllocatedNode& node) { return room_on(node, size) == 0; });
  std::vector<PlacedPod> placed;
  auto node = nodes.begin();
  std::size_t left = node == nodes.end() ? 0 : pods_on(*node, size, pods.size(), nodes.size());
  for (const WorkloadPod* pod : sort_by_rank(pods)) {
    if (left == 0 && node != nodes.end() && ++node != nodes.end()) {
      left = pods_on(*node, size, pods.size() - placed.size(), static_cast<std::size_t>(nodes.end() - node));
    }
    PlacedPod one{pod, static_cast<std::uint32_t>(placed.size()), {}};
    if (node != nodes.end()) {
      one.node = node->name;
      --left;
    }
    placed.push_back(std::move(one));
  }
  return placed;
}

}  // namespace slurmk8s
