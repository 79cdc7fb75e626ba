// SPDX-License-Identifier: GPL-2.0-or-later
// Names of the bridge in Kubernetes objects and in Slurm's jobs, but for those that the sidecar knows too
// (nodeset/names.hpp).
#pragma once

#include <string_view>

#include "nodeset/names.hpp"

namespace slurmk8s {

/** spec.schedulerName of the pods that Slurm schedules, unless --scheduler-name says otherwise. */
inline constexpr const char* kBridgeScheduler = "slurm-k8s-bridge";

/** On a bound pod, beside its job: when that was submitted (seconds since 1970). Both tell which job it is. */
inline constexpr const char* kAnnotationJobSubmitted = "slurm-k8s.io/job-submitted";
/** On a bound pod: its place among the pods of its job, from 0 on, and the Kubernetes nodes of all, with commas. */
inline constexpr const char* kAnnotationRank = "slurm-k8s.io/rank";
inline constexpr const char* kAnnotationKubeNodes = "slurm-k8s.io/kubernetes-nodes";
/** A pod's scheduling gate, beside kLabelBridge. */
inline constexpr const char* kGate = "slurm-k8s.io/bridge";
/** On a pod without the gate: the Kubernetes node that its job has for it. */
inline constexpr const char* kAnnotationKubeNode = "slurm-k8s.io/kubernetes-node";
/** The well-known label that a pod's node selector can name a node by. */
inline constexpr const char* kLabelHostname = "kubernetes.io/hostname";
/** On a bound pod: its job id, under the name that slurm-bridge gives it. */
inline constexpr const char* kLabelSlinkyJob = "scheduler.slinky.slurm.net/slurm-jobid";

/**
 * What a workload may ask of its job: the prefixes, ours last. The first one is of slurm-bridge's first releases, which
 * have it for other things too.
 */
inline constexpr std::string_view kOldSlinkyJobPrefix = "slinky.slurm.net/";
inline constexpr std::string_view kSlinkyJobPrefix = "slurmjob.slinky.slurm.net/";
inline constexpr std::string_view kJobPrefix = "job.slurm-k8s.io/";

/** PodGroup of the coscheduling plugin: the label on its pods. */
inline constexpr const char* kLabelPodGroup = "scheduling.x-k8s.io/pod-group";
/** JobSet: labels on its pods. The index counts the Jobs of the whole set. The uid is of 0.10 and later. */
inline constexpr const char* kLabelJobSet = "jobset.sigs.k8s.io/jobset-name";
inline constexpr const char* kLabelJobSetUid = "jobset.sigs.k8s.io/jobset-uid";
inline constexpr const char* kLabelJobSetRestart = "jobset.sigs.k8s.io/restart-attempt";
inline constexpr const char* kLabelJobSetJobIndex = "jobset.sigs.k8s.io/job-global-index";
/** LeaderWorkerSet: labels on its pods. Each group is a leader (worker 0) and its workers. */
inline constexpr const char* kLabelLeaderWorkerSet = "leaderworkerset.sigs.k8s.io/name";
inline constexpr const char* kLabelGroupIndex = "leaderworkerset.sigs.k8s.io/group-index";
inline constexpr const char* kLabelWorkerIndex = "leaderworkerset.sigs.k8s.io/worker-index";
/** Index of a pod in an Indexed Job. */
inline constexpr const char* kAnnotationCompletionIndex = "batch.kubernetes.io/job-completion-index";

/** How the Comment of each job of the bridge begins: "k8s:NAMESPACE/KIND/NAME:PODS". */
inline constexpr std::string_view kCommentPrefix = "k8s:";

/** Finds the users of this program among the writers of a pod's conditions, and of events. */
inline constexpr const char* kBridgeReporter = "slurm-k8s.io/bridge";

}  // namespace slurmk8s
