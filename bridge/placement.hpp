// SPDX-License-Identifier: GPL-2.0-or-later
// Placement: which pod of a job goes to which of its nodes. Pure; any thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "bridge/workload_pod.hpp"
#include "slurm/allocations.hpp"

namespace slurmk8s {

struct PlacedPod {
  const WorkloadPod* pod = nullptr;
  std::uint32_t rank = 0;
  std::string node;  ///< Slurm's name; empty: the job's nodes have no room for it
};

/** By completion index; pods without one after the others, by name: "worker-2" before "worker-10". */
std::vector<const WorkloadPod*> sort_by_rank(std::vector<const WorkloadPod*> pods);

/** What each pod of a job takes. */
struct PodSize {
  std::uint32_t cpus = 1;
  std::uint32_t gpus = 0;
  std::uint32_t per_node = 0;    ///< that many pods on a node at most; 0: as many as there is room for
  std::uint64_t memory_mib = 0;  ///< 0: Slurm's default
};

/** Less of the node is left for other pods, by one pod of the size. */
void take_room(AllocatedNode& node, const PodSize& size);

/** Topologies of Slurm nodes, such as "default:rack1"; empty, or not there: the node has none. */
using NodeTopologies = std::map<std::string, std::string>;

/**
 * Neighbours in rank go to neighbouring nodes: each node takes as many pods as the job's part of it carries, but leaves
 * one for each node after it. So no node of an exclusive job, which has all CPUs of its nodes, stays without. Nodes are
 * in natural order of their topologies, and of their names in one; those without a topology come last. A pod's rank is
 * its place in sort_by_rank().
 */
std::vector<PlacedPod> place_pods(const std::vector<const WorkloadPod*>& pods, std::vector<AllocatedNode> nodes,
                                  const PodSize& size, const NodeTopologies& topologies);

/** "n2" before "n10": numbers in names count as numbers. */
bool is_before_naturally(std::string_view a, std::string_view b);

}  // namespace slurmk8s
