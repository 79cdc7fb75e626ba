// SPDX-License-Identifier: GPL-2.0-or-later
// OtherPods: what pods that Slurm doesn't count request of Kubernetes nodes. One thread.
//
// Slurm counts the pods of the bridge: their jobs have their size. Of all others each one's Kubernetes node and
// requests are kept, and the sum for each Kubernetes node.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "json/json.hpp"
#include "kube/reflector.hpp"
#include "sidecar/allocatable.hpp"

namespace slurmk8s {

/** Which pods are whose. */
struct PodOwners {
  std::string name_space;        ///< of the nodes' pods
  std::string bridge_scheduler;  ///< the bridge's scheduler name; empty: there is no bridge
};

/**
 * Whether Slurm has a job for the pod, by the annotation of the bridge. On pods with its scheduler name or its label
 * only the bridge may set it (helm/slurm/templates/bridge/fields_policy.yaml).
 */
bool has_slurm_job(const Json& pod, const PodOwners& owners);

/** Of the whole pod. The pod of a node requests little, but its jobs may use its limits: Slurm gives these away. */
Resources requests_of(const Json& pod, const PodOwners& owners);

class OtherPods {
 public:
  explicit OtherPods(PodOwners owners) : owners_(std::move(owners)) {}

  /** A pod that has a Kubernetes node, and has not ended. */
  void upsert(const Json& object);
  void remove(const kube::ObjectKey& key);
  void clear();

  /** The sum of all on this Kubernetes node. */
  Resources requested_on(const std::string& kube_node) const;
  std::size_t size() const { return pods_.size(); }

 private:
  struct Sum {
    Resources requested;
    std::size_t pods = 0;
  };
  using Sums = std::map<std::string, Sum>;
  struct Pod {
    Sums::iterator kube_node;
    Resources requests;
  };

  const PodOwners owners_;
  Sums sums_;
  std::map<kube::ObjectKey, Pod> pods_;
};

}  // namespace slurmk8s
