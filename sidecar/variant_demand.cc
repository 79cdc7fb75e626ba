// SPDX-License-Identifier: GPL-2.0-or-later
// find_variant_demand(): jobs and nodes matched the way slurmctld would, as far as variants go.
#include "sidecar/variant_demand.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>

#include "slurm/hostlist.hpp"
#include "base/words.hpp"
#include "nodeset/constraint.hpp"
#include "slurm/node_state.hpp"
#include "sidecar/record_owner.hpp"

namespace slurmk8s {
namespace {

/** A node that a job could be given, now or when it is powered down. */
struct Candidate {
  const SlurmNode* node;
  bool taken = false;
};

class Matcher {
 public:
  Matcher(const NodeSets& nodesets, const std::vector<SlurmNode>& nodes) : nodesets_(nodesets) {
    for (const SlurmNode& node : nodes) {
      if (!node.cloud || !is_free(node) || is_starting(node)) continue;
      const auto owner = record_owner(node, nodesets);
      const auto found = owner ? nodesets.find(*owner) : nodesets.end();
      if (found == nodesets.end() || !found->second.spec.ok()) continue;
      if (!found->second.spec->variants.empty()) candidates_.push_back({&node});
    }
  }

  void serve(const SlurmJob& job) {
    const auto constraint = parse_constraint(job.features);
    if (!constraint || constraint->has_count) return;
    std::vector<FeatureSet> alternatives;
    for (const auto& alternative : constraint->alternatives) alternatives.push_back(constraint->names(alternative));
    for (const FeatureSet& features : alternatives) {
      if (!find_variant(features)) return;
    }
    for (const FeatureSet& features : alternatives) {
      if (take(job, features, *find_variant(features))) return;
    }
  }

  VariantDemand demand() { return std::move(demand_); }

 private:
  std::optional<std::string> find_variant(const FeatureSet& features) const {
    for (const std::string& feature : features) {
      for (const auto& [name, nodeset] : nodesets_) {
        if (nodeset.spec.ok() && nodeset.spec->variants.contains(feature)) return feature;
      }
    }
    return std::nullopt;
  }

  /** The nodes that a job's partitions have. Jobs of a partition share one list. */
  const std::set<std::string, std::less<>>& nodes_of(const SlurmJob& job) {
    const auto [entry, is_new] = nodes_by_list_.try_emplace(job.partition_nodes);
    if (is_new) {
      const auto names = expand_hostlist(job.partition_nodes);
      if (names) entry->second.insert(names->begin(), names->end());
    }
    return entry->second;
  }

  bool take(const SlurmJob& job, const FeatureSet& features, const std::string& variant) {
    const auto& allowed = nodes_of(job);
    std::vector<Candidate*> ready, others;
    for (Candidate& candidate : candidates_) {
      const SlurmNode& node = *candidate.node;
      const bool fits = !candidate.taken && allowed.contains(node.name) &&
                        std::all_of(features.begin(), features.end(),
                                    [&](const std::string& feature) { return has_word(node.features, feature); });
      if (!fits) continue;
      const bool is_ready = is_booted_for_next_job(node) || has_word(node.active_features, variant);
      (is_ready ? ready : others).push_back(&candidate);
    }
    const std::size_t wanted = std::max<std::size_t>(1, job.nodes);
    if (ready.size() + others.size() < wanted) return false;
    ready.resize(std::min(ready.size(), wanted));
    others.resize(wanted - ready.size());
    for (Candidate* candidate : ready) {
      candidate->taken = true;
      if (is_booted_for_next_job(*candidate->node)) demand_.reserved.insert(candidate->node->name);
    }
    for (Candidate* candidate : others) {
      candidate->taken = true;
      demand_.recycle.insert(candidate->node->name);
    }
    return true;
  }

  const NodeSets& nodesets_;
  std::vector<Candidate> candidates_;
  std::map<std::string, std::set<std::string, std::less<>>> nodes_by_list_;
  VariantDemand demand_;
};

}  // namespace

VariantDemand find_variant_demand(const NodeSets& nodesets, const std::vector<SlurmNode>& nodes,
                                  const std::vector<SlurmJob>& jobs) {
  if (jobs.empty()) return {};
  Matcher matcher(nodesets, nodes);
  for (const SlurmJob& job : jobs) {
    if (job.waits) matcher.serve(job);
  }
  return matcher.demand();
}

}  // namespace slurmk8s
