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
/** "true" on a node's pod while the node is in use; set by the engine with the pod, updated by the sidecar. */
inline constexpr const char* kLabelBusy = "slurm-k8s.io/busy";
/** On a node's pod: Slurm's state of the node, for example "idle", and a condition: whether it is in service. */
inline constexpr const char* kLabelState = "slurm-k8s.io/state";
inline constexpr const char* kConditionInService = "slurm-k8s.io/InService";
/** On a node's pod: hash of the template from which it was created (hash_template()). */
inline constexpr const char* kLabelTemplate = "slurm-k8s.io/template-hash";
/** On a node's pod: the variant from which it was created; absent on a pod of the template. */
inline constexpr const char* kLabelVariant = "slurm-k8s.io/variant";
inline constexpr const char* kLabelApp = "app.kubernetes.io/name";
inline constexpr const char* kLabelManagedBy = "app.kubernetes.io/managed-by";
/** On a node's pod: the id of its resume request. slurmctld ignores a slurmd that booted before the request, so a
 * pod of an older request is useless. */
inline constexpr const char* kAnnotationRequest = "slurm-k8s.io/request";
inline constexpr const char* kAnnotationJobs = "slurm-k8s.io/jobs";  ///< ids of the jobs for which it was resumed

/** On a pod, with the bridge's scheduler name: kube-scheduler is to bind it when its Slurm job has started. */
inline constexpr const char* kLabelBridge = "slurm-k8s.io/bridge";
/** On a pod of the bridge that has its node: its Slurm job. */
inline constexpr const char* kAnnotationJob = "slurm-k8s.io/job-id";

/** Annotations of cluster-autoscaler and Karpenter. */
inline constexpr const char* kAnnotationSafeToEvict = "cluster-autoscaler.kubernetes.io/safe-to-evict";
inline constexpr const char* kAnnotationDoNotDisrupt = "karpenter.sh/do-not-disrupt";

inline constexpr const char* kSlurmdContainer = "slurmd";

/** Slurm's name of node `ordinal` of a NodeSet: "gpu-007" with padding 3. Also the pod's name and host name. */
std::string node_name(std::string_view nodeset, std::int64_t ordinal, int padding);

/** Maximum length of a DNS label, and of a node's name, which is its pod's host name. */
inline constexpr std::size_t kMaxLabel = 63;

/** Whether it is at most 63 lower-case letters, digits and '-', with a letter or digit at both ends. */
bool is_dns_label(std::string_view text);

struct NodeName {
  std::string_view nodeset;
  std::int64_t ordinal;
};
/** Splits "gpu-007" at its last '-'; empty when no number follows. Views into `name`. */
std::optional<NodeName> parse_node_name(std::string_view name);

/**
 * The name of a Kubernetes node as a part of a host name, reversibly: '.' becomes "--", and n '-' in a row, n > 1,
 * become n + 1. "m-1.example.org" is "m-1--example--org". Names of Kubernetes nodes never have '.' next to '-'.
 */
std::string encode_kube_node(std::string_view kube_node);
/** The Kubernetes node's name; empty when `text` is no result of encode_kube_node(). */
std::optional<std::string> decode_kube_node(std::string_view text);

}  // namespace slurmk8s
