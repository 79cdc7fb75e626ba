// SPDX-License-Identifier: GPL-2.0-or-later
// The features of a node record: its NodeSet's, with the variants, and its Kubernetes node's; what an administrator
// adds stays. Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "nodeset/nodeset.hpp"
#include "slurm/records.hpp"
#include "sidecar/kube_node_features.hpp"

namespace slurmk8s {

/** What decides which features a record is to have. */
struct WantedFeatures {
  const NodeSet& nodeset;
  /** slurmctld has node_features/k8s: without it a variant would count as active everywhere. */
  bool knows_variants = true;
  /** NodeSet::features as the last plan had them: those that are in it no more are taken away. Empty: not known. */
  std::string before;
  bool knows_kube_nodes = false;                ///< false: those of Kubernetes nodes stay as they are
  const KubeNodeFeatures* kube_node = nullptr;  ///< null: it is on none
};

/**
 * What is to be changed of a record; empty: nothing. Active features are given without variants: node_features/k8s
 * keeps the one that slurmctld has noted, which may be another one by the time that the change arrives.
 */
std::optional<SlurmNodeUpdate> features_change(const SlurmNode& node, const WantedFeatures& wanted);

/** The active features with which a powered-down node comes up as the variant. Without a variant: empty, they stay. */
std::optional<std::string> active_with_variant(const SlurmNode& node, const NodeSet& nodeset, std::string_view variant);

}  // namespace slurmk8s
