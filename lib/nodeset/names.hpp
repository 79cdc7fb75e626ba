// SPDX-License-Identifier: GPL-2.0-or-later
// Names: of nodes, labels and annotations. Pure; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace slurmk8s {

inline constexpr const char* kLabelNodeSet = "slurm-k8s.io/nodeset";  ///< on a node's pod: its NodeSet
inline constexpr const char* kLabelNode = "slurm-k8s.io/node";        ///< on a node's pod: its Slurm node
/** "true" on a node's pod while the node is in use; the engine sets it with the pod, the sidecar keeps it true. */
inline constexpr const char* kLabelBusy = "slurm-k8s.io/busy";
/** On a node's pod: Slurm's state of the node, "idle" for example, and whether it takes jobs or has some. */
inline constexpr const char* kLabelState = "slurm-k8s.io/state";
inline constexpr const char* kConditionInService = "slurm-k8s.io/InService";
/** On a node's pod: which template of the NodeSet it was made from (hash_template()). */
inline constexpr const char* kLabelTemplate = "slurm-k8s.io/template-hash";
/** On a node's pod: the variant of the template that it was made from; a pod of the template itself has none. */
inline constexpr const char* kLabelVariant = "slurm-k8s.io/variant";
inline constexpr const char* kLabelApp = "app.kubernetes.io/name";
inline constexpr const char* kLabelManagedBy = "app.kubernetes.io/managed-by";
/** On a node's pod: the id of the resume request that it was made for. A pod of an older request is of no use to
 * slurmctld, which ignores a slurmd that booted before the request. */
inline constexpr const char* kAnnotationRequest = "slurm-k8s.io/request";
inline constexpr const char* kAnnotationJobs = "slurm-k8s.io/jobs";  ///< ids of the jobs that it was resumed for

/** What the autoscalers of clusters heed: cluster-autoscaler and Karpenter. */
inline constexpr const char* kAnnotationSafeToEvict = "cluster-autoscaler.kubernetes.io/safe-to-evict";
inline constexpr const char* kAnnotationDoNotDisrupt = "karpenter.sh/do-not-disrupt";

inline constexpr const char* kSlurmdContainer = "slurmd";

/** Slurm's name of node `ordinal` of a NodeSet: "gpu-007" with padding 3. It is the pod's name and host name too. */
std::string node_name(std::string_view nodeset, std::int64_t ordinal, int padding);

/** Most characters of a DNS label, and so of a node's name, which is its pod's host name. */
inline constexpr std::size_t kMaxLabel = 63;

/** Lower-case letters, digits and '-', at most 63, with a letter or digit at both ends: as host names are. */
bool is_dns_label(std::string_view text);

struct NodeName {
  std::string_view nodeset;
  std::int64_t ordinal;
};
/** Takes "gpu-007" apart at its last '-'; empty when no number follows it. The views are into `name`. */
std::optional<NodeName> parse_node_name(std::string_view name);

/**
 * The name of a Kubernetes node as a part of a host name, from which it can be told again: '.' becomes "--", and n '-'
 * in a row, n > 1, become n + 1. "m-1.example.org" is "m-1--example--org". A '.' is never beside a '-' there.
 */
std::string encode_kube_node(std::string_view kube_node);
/** The Kubernetes node's name; empty when encode_kube_node() makes no such text. */
std::optional<std::string> decode_kube_node(std::string_view text);

}  // namespace slurmk8s
