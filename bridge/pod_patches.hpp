// SPDX-License-Identifier: GPL-2.0-or-later
// What the bridge writes about a pod, as objects of the API. Pure; any thread.
#pragma once

#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "bridge/gang.hpp"
#include "json/json.hpp"

namespace slurmk8s {

/** What a bound pod is told about its job. */
struct BindingFacts {
  std::string kube_node;
  std::string hostname;  ///< label kubernetes.io/hostname of it
  std::uint32_t job = 0;
  std::time_t job_submitted = 0;
  std::uint32_t rank = 0;
  std::string_view kube_nodes;  ///< of all pods in order of rank, with commas; the caller's; empty: no annotation
};

/**
 * A Binding. The API server copies its annotations to the pod, and from Kubernetes 1.35 on its labels. It refuses
 * another pod of the name.
 */
Json build_binding(const WorkloadPod& pod, const BindingFacts& facts);

/** A merge patch of a pod whose only gate is the bridge's: kube-scheduler binds it to that node, and to no other. */
Json build_release_patch(const WorkloadPod& pod, const BindingFacts& facts);

/** A patch of the pod's status: condition PodScheduled is False for `message`. */
Json build_waiting_patch(const WorkloadPod& pod, const std::string& message, std::chrono::system_clock::time_point now);

/** A patch of the pod's status: condition DisruptionTarget, which a Job's podFailurePolicy can ignore. */
Json build_disruption_patch(const WorkloadPod& pod, const std::string& reason, const std::string& message,
                            std::chrono::system_clock::time_point now);

/** "Slurm job 12: Resources; expected start 2026-11-25T10:00:00Z". */
std::string describe_wait(const Allocation& job);

/** Reason of an eviction, from the state in which Slurm's job ended: "TIMEOUT" is SlurmTimeout. */
std::string disruption_reason(const Allocation& job);

}  // namespace slurmk8s
