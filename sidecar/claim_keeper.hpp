// SPDX-License-Identifier: GPL-2.0-or-later
// ClaimKeeper: does with the volume claims of nodes what persistentVolumeClaimRetentionPolicy says. The engine makes
// them; here their owner is kept right (whenDeleted), and those of nodes that were scaled in go (whenScaled).
//
// Same thread rules as kube::Client. It is careful: data that is deleted by mistake doesn't come back.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "kube/object_writer.hpp"
#include "sidecar/node_plan.hpp"

namespace slurmk8s {

/** What the watch of claims is to select: those that the engine made. */
inline constexpr const char* kClaimSelector = "app.kubernetes.io/managed-by=slurm-k8s,slurm-k8s.io/node";

/** On a claim: "true" since a scale-in chose its node. A sidecar that is restarted before the claim goes reads it. */
inline constexpr const char* kAnnotationScaledIn = "slurm-k8s.io/scaled-in";

/** Whether any NodeSet has claims: nobody needs to watch them before. */
bool has_claims(const NodeSets& nodesets);

class ClaimKeeper {
 public:
  /** References must outlive it. */
  ClaimKeeper(kube::Writer& client, const Clock& clock, kube::Throttle& throttle, std::string name_space,
              Jitter jitter = random_unit);

  /** A claim as a watch or an answer has just shown it. */
  void observe(const Json& claim);
  void forget(const std::string& name);

  /**
   * Brings the claims to what the NodeSets say; to be called once a second. A claim goes only when its NodeSet is
   * there, says Delete, has all records that its spec asks for (`states`: Ready), and the claim's node has gone by a
   * scale-in: of a DaemonSet its Kubernetes node is not chosen. A record may be missing for other reasons.
   * Those of a NodeSet that is gone are Kubernetes' to remove, by their owner.
   */
  void round(const NodeSets& nodesets, const std::vector<SlurmNode>& nodes,
             const std::map<std::string, NodeSetState>& states);

 private:
  struct Entry {
    std::string uid;
    std::string nodeset;
    std::string node;
    Json owners;             // null: none
    bool scaled_in = false;  // its annotation
    TimePoint settled{};     // by then the watch has shown the last write
  };

  void reconcile(const std::string& name, Entry& entry, const KnownNodeSet& known, const NodeSetState& state,
                 bool has_record);
  void patch(const std::string& name, const Entry& entry, const Json& owners, bool scaled_in);
  void on_answer(const std::string& name, const Result<Json>& answer);

  const Clock& clock_;
  const std::string name_space_;
  std::map<std::string, Entry> entries_;
  kube::ObjectWriter writer_;
};

}  // namespace slurmk8s
