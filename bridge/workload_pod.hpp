// SPDX-License-Identifier: GPL-2.0-or-later
// WorkloadPod: a pod that Slurm schedules, reduced to what decides about its job. Pure; values; any thread.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <ctime>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "bridge/node_selector.hpp"
#include "json/json.hpp"

namespace slurmk8s {

/** A workload: what a Slurm job is for. */
struct WorkloadRef {
  std::string name_space;
  std::string kind;  ///< "Pod", "Job", "JobSet", "LeaderWorkerSet", "PodGroup"
  std::string name;
  std::string part = {};  ///< of a LeaderWorkerSet: the index of the group
  auto operator<=>(const WorkloadRef&) const = default;
};

/** "team-a/Job/train", "team-a/LeaderWorkerSet/serve/0". */
std::string to_string(const WorkloadRef& workload);

/** How a pod ended. */
struct PodEnd {
  enum class Kind { none, succeeded, failed, out_of_memory };
  Kind kind = Kind::none;
  std::uint32_t exit_code = 0;  ///< of failed; 1 without a container's
  bool operator==(const PodEnd&) const = default;
};

/** What a workload asks of its job: keys without the prefix, "timelimit", to values. */
using JobAnnotations = std::map<std::string, std::string>;

/** PersistentVolumeClaim, ResourceClaim or ResourceClaimTemplate. */
enum class ClaimKind { volume, device, device_template };

/** A claim of a pod, in its namespace. */
struct PodClaim {
  std::string name;
  std::string field;  ///< of the pod that names it: "spec.volumes[0].persistentVolumeClaim"
  ClaimKind kind = ClaimKind::volume;
  bool operator==(const PodClaim&) const = default;
};

struct WorkloadPod {
  std::string name_space;
  std::string name;
  std::string uid;
  std::string service_account;
  WorkloadRef group;       ///< what it belongs to; itself when there is none
  std::string attempt;     ///< of the Job or JobSet: another Job of its name, and a JobSet's restart, has another one
  std::int64_t rank = -1;  ///< its place among the pods of its workload, not without gaps; < 0: none
  std::int64_t cpu_milli = 0;
  std::int64_t memory_bytes = 0;
  std::map<std::string, std::int64_t> devices;  ///< GPUs by extended resource, in thousandths: "nvidia.com/gpu"
  NodeSelector selector;
  std::vector<Toleration> tolerations;  ///< decode_tolerations(), and BridgeOptions::tolerations
  JobAnnotations annotations;
  std::string priority_class;    ///< spec.priorityClassName
  std::vector<PodClaim> claims;  ///< of volumes; without the bridge's gate kube-scheduler binds none of them for it
  std::vector<PodClaim> device_claims;   ///< spec.resourceClaims: kube-scheduler allocates them
  std::optional<std::uint32_t> minutes;  ///< of activeDeadlineSeconds, rounded up
  bool gated = false;                    ///< it has scheduling gates of others
  bool has_gate = false;                 ///< it has the bridge's: kube-scheduler binds it when its job has started
  bool deleting = false;
  /** How long its containers may take to end: of its spec, or of its deletion. */
  std::chrono::seconds grace{30};
  std::optional<std::chrono::system_clock::time_point> ends_by;  ///< when that is over; none: it is not being deleted
  /** Empty: not bound. A pod that the bridge took its gate from has the node that kube-scheduler will bind it to. */
  std::string kube_node;
  std::uint32_t job = 0;  ///< that it was bound for; 0: none
  std::time_t job_submitted = 0;
  PodEnd end;
  std::string waits_for;   ///< message of its condition PodScheduled, when that is False
  bool disrupted = false;  ///< it has the condition DisruptionTarget
  bool is_lost = false;    ///< Kubernetes ends it since its Kubernetes node is gone, is silent, or shuts down
  bool is_terminated_by_kubelet = false;  ///< evicted by it, for a lack of memory or of disk: not by a signal of a user
  /** kube-scheduler finds no place for it on the Kubernetes node that its job has for it. `waits_for` says why. */
  bool is_unschedulable = false;
  std::string ignored;           ///< fields that have no effect, with commas
  std::optional<Error> refusal;  ///< what of it Slurm can't be told: names the field

  /** A pod's own grace period has no limit, and its node gets no other job before the pod has gone. */
  static constexpr std::chrono::seconds kLongestGrace{300};
  /** After its grace period a pod is overdue: for a busy kubelet, and for the API server's clock. */
  static constexpr std::chrono::seconds kOverdueAfter{60};
  std::chrono::seconds longest_grace = kLongestGrace;  ///< BridgeOptions::longest_grace
  bool has_long_grace() const { return grace > longest_grace; }
  /** Also one that its user deletes with such a period: Kubernetes lets another DELETE make it shorter. */
  bool is_evictable() const { return !is_over() && (!deleting || has_long_grace()); }
  /** Its kubelet should have ended it, and does not answer, or cannot. */
  bool is_overdue(std::chrono::system_clock::time_point now) const;

  /** It has not failed by the signal of its deletion alone. */
  bool has_own_end() const { return !deleting || end.kind != PodEnd::Kind::failed || is_terminated_by_kubelet; }

  /** No container of it runs, or will run. */
  bool is_over() const { return end.kind != PodEnd::Kind::none; }
};

WorkloadPod decode_workload_pod(const Json& object);

/**
 * The annotations with one of our prefixes, without it; ours counts more than slurm-bridge's. Unknown keys too, but for
 * those of slurm-bridge's first prefix.
 */
JobAnnotations decode_job_annotations(const Json& metadata);

}  // namespace slurmk8s
