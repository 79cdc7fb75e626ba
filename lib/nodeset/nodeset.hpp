// SPDX-License-Identifier: GPL-2.0-or-later
// NodeSet: the decoded object, checked. Pure; values; any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "nodeset/claims.hpp"
#include "nodeset/confinement.hpp"
#include "nodeset/node_size.hpp"
#include "slurm/partition_options.hpp"
#include "nodeset/template_hash.hpp"
#include "nodeset/spare_schedule.hpp"
#include "nodeset/update_strategy.hpp"
#include "nodeset/variants.hpp"
#include "json/json.hpp"

namespace slurmk8s {

struct SlurmNode;

/** Maximum number of nodes of a NodeSet: Slurm's MaxNodeCount cannot be larger. */
inline constexpr std::int64_t kMaxReplicas = 65536;

enum class ScalingMode {
  on_demand,   ///< a node's pod exists while Slurm has jobs for it, and for SuspendTime after
  always,      ///< a node's pod always exists
  daemon_set,  ///< as always, with a node for each Kubernetes node that the pods fit on, named after it
  external,    ///< the same nodes without a pod (Slurm's State=EXTERNAL): only pods of the bridge run there
};

/** Kubernetes nodes by ordinal in decimal digits: status.ordinalToNode. */
using Pins = std::map<std::string, std::string, std::less<>>;

/** A pod template that a job can choose with --constraint. */
struct Variant {
  VariantAccess access;
  Json slurmd;  ///< this and the next two: NodeSet's members, patched by the variant
  Json pod_metadata;
  Json pod_spec;
  std::string template_hash;
};

struct NodeSet {
  std::string name_space;
  std::string name;
  std::string uid;
  std::int64_t generation = 0;

  std::int64_t replicas = 1;
  SpareReplicas spare_replicas;    ///< nodes that are up and idle, beyond those in use; only on_demand
  SpareSchedules spare_schedules;  ///< windows of time with more of them
  int ordinal_padding = 0;
  ScalingMode scaling_mode = ScalingMode::on_demand;
  /** Time to wait for an unschedulable pod before its node is set DOWN: a cluster autoscaler may add capacity. */
  std::chrono::seconds unschedulable_grace{240};
  bool protects_busy = true;                  ///< protect pods of nodes in use from evictions
  std::optional<PartitionOptions> partition;  ///< of the NodeSet's partition; empty: it has none
  bool pins_nodes = false;                    ///< spec.pinToNode: a node's pod returns to its previous Kubernetes node
  Pins pins;                                  ///< with pins_nodes: that Kubernetes node
  ClaimTemplates claims;                      ///< volume claims of each node
  UpdateStrategy update;
  std::string template_hash;  ///< hash_template(); decode_nodeset() sets it
  /** spec.extraConf without its features, one blank between words; with device_gres, and TmpDisk of its pods. */
  std::string extra_conf;
  std::set<std::string> gres_names;  ///< of Gres in extra_conf
  std::int64_t claimed_gpus = 0;     ///< GPUs that the resource claims (DRA) of the pod give
  /** GPUs in limits, claims or bridgeDevices, "gpu:a100:8". Their gres.conf is ours. Empty: none, or extraConf's. */
  std::string device_gres;
  bool has_bridge_devices = false;  ///< device_gres is of bridgeDevices: pods of the bridge get them, slurmd's has none
  Confinement confinement = Confinement::none;
  std::string features;  ///< the NodeSet's name, those of extraConf, and variants: "gpu,a100,v1"
  std::map<std::string, Variant, std::less<>> variants;
  bool names_jobs = false;          ///< labels or annotations have job placeholders
  NodeSize size;                    ///< of a node; of an external one the maximum
  std::int64_t memory_reserve = 0;  ///< bytes: spec.memoryReserve
  std::uint32_t cpu_multiple = 1;   ///< CoresPerSocket times ThreadsPerCore: Slurm would change other numbers of CPUs
  Json slurmd;                      ///< overlay of the slurmd container; null when absent
  Json pod_metadata;                ///< template.metadata; null when absent
  Json pod_spec;                    ///< template.spec; null when absent

  /** Its nodes are never powered down for being idle. */
  bool keeps_up() const { return scaling_mode != ScalingMode::on_demand; }
  bool has_pods() const { return scaling_mode != ScalingMode::external; }
  /** One node for each Kubernetes node, named after it; otherwise as many as `replicas` says. */
  bool is_per_kube_node() const {
    return scaling_mode == ScalingMode::daemon_set || scaling_mode == ScalingMode::external;
  }
};

/** Name of the node for a Kubernetes node, of a NodeSet that is_per_kube_node(). May be too long for a host name. */
std::string daemon_node_name(const NodeSet& nodeset, std::string_view kube_node);

/** The Kubernetes node on which the pod of `node`, a node of the NodeSet, must run; empty: any. */
std::string kube_node_of(const NodeSet& nodeset, std::string_view node);

/** Finds a NodeSet by name: the result of decode_nodeset(), or null. */
using FindNodeSet = std::function<const Result<NodeSet>*(const std::string& name)>;

/**
 * The NodeSet that owns a node name: NAME-3, or NAME-KUBERNETESNODE when it is_per_kube_node(). Of several NodeSets the
 * one with the longest name; a NodeSet with an invalid spec counts, since its mode is unknown.
 */
std::optional<std::string> owner_name(std::string_view node, const FindNodeSet& find);

/** "gpu-REST" with the feature gpu: as the records of NodeSet gpu are made, whatever its scalingMode. */
bool is_made_for(const SlurmNode& record, std::string_view nodeset);

/**
 * Decodes and checks an object of the API. Error (invalid): "nodeset NS/NAME: spec.FIELD: Invalid value: …", for the
 * first invalid field. Checks what the CRD's schema checks too: the schema may be of another version.
 */
Result<NodeSet> decode_nodeset(const Json& object);

/** The NodeSet with a variant's template; unchanged if it has no such variant. */
NodeSet with_variant(const NodeSet& nodeset, std::string_view variant);

/** Its features without variants, comma-separated. */
std::string static_features(const NodeSet& nodeset);

/** The variant among a record's active features: "compute,v1" → "v1"; empty: none. */
std::string find_variant(const NodeSet& nodeset, std::string_view active_features);

/** Its entry in the catalog for slurmctld's plugins. */
VariantCatalog::Entry catalog_entry(const NodeSet& nodeset);

/** The NodeSet as an entry of ownerReferences. */
Json owner_reference(const NodeSet& nodeset);

/** "CPUs=2 RealMemory=936 Weight=10": a node's definition as `scontrol create` and `slurmd --conf` take it. */
std::string node_definition(const NodeSet& nodeset);
/** The same of a node of this size. */
std::string node_definition(const NodeSet& nodeset, const NodeSize& size);

/** What hash_template() is made of. */
TemplateParts template_parts(const NodeSet& nodeset);

/** Names all that the NodeSet's pods are made from, its variants included: another one when one of them is. */
std::string revision_of(const NodeSet& nodeset);

}  // namespace slurmk8s
