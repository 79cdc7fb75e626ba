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
#include "slurm/partition_options.hpp"
#include "nodeset/update_strategy.hpp"
#include "nodeset/variants.hpp"
#include "json/json.hpp"

namespace slurmk8s {

/** Most nodes of one NodeSet: Slurm's MaxNodeCount can't be larger. */
inline constexpr std::int64_t kMaxReplicas = 65536;

enum class ScalingMode {
  on_demand,   ///< a node's pod exists while Slurm has jobs for it, and some time longer
  always,      ///< it exists all the time
  daemon_set,  ///< so it does, and there is a node for each Kubernetes node that its pod fits on, named after it
};

/** Kubernetes nodes by ordinal in decimal digits: status.ordinalToNode. */
using Pins = std::map<std::string, std::string, std::less<>>;

/** A pod that a job can choose instead of the template's. */
struct Variant {
  VariantAccess access;
  Json slurmd;  ///< as NodeSet's members of these names, with the variant's patch over them
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
  int ordinal_padding = 0;
  ScalingMode scaling_mode = ScalingMode::on_demand;
  /**
   * How long a pod that no Kubernetes node has room for is waited for, since a cluster autoscaler may be bringing one.
   */
  std::chrono::seconds unschedulable_grace{240};
  bool protects_busy = true;                  ///< pods of nodes in use are kept from evictions
  std::optional<PartitionOptions> partition;  ///< of the partition with its name; none: it has none
  bool pins_nodes = false;                    ///< a node's pod goes back to where it was before
  Pins pins;                                  ///< with pins_nodes: where that is
  ClaimTemplates claims;                      ///< of each node's own volumes
  UpdateStrategy update;
  std::string template_hash;         ///< hash_template(); decode_nodeset() sets it
  std::string extra_conf;            ///< spec.extraConf without its features, one blank between words
  std::set<std::string> gres_names;  ///< of Gres in spec.extraConf
  std::string features;              ///< the NodeSet's name, those of extraConf, and variants: "gpu,a100,v1"
  std::map<std::string, Variant, std::less<>> variants;
  bool names_jobs = false;            ///< labels or annotations of its pods have placeholders for their job
  std::uint32_t cpus = 1;             ///< of a node: floor of the slurmd container's CPU limit, at least 1
  std::uint64_t real_memory_mib = 0;  ///< of a node: the container's memory limit less the reserve
  Json slurmd;                        ///< overlay of the slurmd container; null when absent
  Json pod_metadata;                  ///< template.metadata; null when absent
  Json pod_spec;                      ///< template.spec; null when absent

  bool keeps_up() const { return scaling_mode != ScalingMode::on_demand; }
};

/** The node of a NodeSet with scalingMode DaemonSet for a Kubernetes node. It may be too long for a host name. */
std::string daemon_node_name(const NodeSet& nodeset, std::string_view kube_node);

/** The Kubernetes node that the pod of this node has to be on; empty: any. `node` is one of the NodeSet's. */
std::string kube_node_of(const NodeSet& nodeset, std::string_view node);

/** Finds a NodeSet by name: what decode_nodeset() made of it, or null. */
using FindNodeSet = std::function<const Result<NodeSet>*(const std::string& name)>;

/**
 * The name of the NodeSet whose nodes are named like this: NAME-3, or with scalingMode DaemonSet NAME-KUBENODE. Of
 * several it is the one with the longest name; one whose spec is wrong counts, since nobody knows its mode.
 */
std::optional<std::string> owner_name(std::string_view node, const FindNodeSet& find);

/**
 * Decodes and checks an object of the API. Error (invalid): "nodeset NS/NAME: spec.FIELD: what is wrong", the first
 * problem found. What the CRD's schema refuses is checked here too: the schema may be of another version.
 */
Result<NodeSet> decode_nodeset(const Json& object);

/** The NodeSet as it makes pods with a variant; itself when the variant is empty, or it has none of that name. */
NodeSet with_variant(const NodeSet& nodeset, std::string_view variant);

/** Those of its features that aren't variants, with commas. */
std::string static_features(const NodeSet& nodeset);

/** The variant among a record's active features: "compute,v1" → "v1"; empty: none. */
std::string find_variant(const NodeSet& nodeset, std::string_view active_features);

/** What the plugins of slurmctld are to know of it. */
VariantCatalog::Entry catalog_entry(const NodeSet& nodeset);

/** The NodeSet as an entry of ownerReferences, for what goes when it goes. */
Json owner_reference(const NodeSet& nodeset);

/** "CPUs=2 RealMemory=936 Weight=10": a node's definition as `scontrol create` and `slurmd --conf` take it. */
std::string node_definition(const NodeSet& nodeset);

/** Kubernetes quantities: "1500m" → 1500; "2" → 2000. Error (invalid) quotes the text. */
Result<std::int64_t> parse_quantity_milli(std::string_view text);

}  // namespace slurmk8s
