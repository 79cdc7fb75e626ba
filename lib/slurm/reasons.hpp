// SPDX-License-Identifier: GPL-2.0-or-later
// Our texts in a node's Reason and Comment: they tell what we did ourselves, also after a restart.
//
// A Reason outlives what it was given for. slurmctld keeps it when it drains a node by itself (_drain_node()). It
// appends to it when it sets the node DOWN: "OURS : Not responding" (set_node_reason(); 22.05 keeps it alone). From
// 23.11 to 25.11 without accounting only an allocation clears it (clusteracct_storage_g_node_up()). So a Reason that
// begins with our text doesn't say that the drain is ours. It must be the text of a drain, slurmctld must have appended
// nothing but that the node is silent, and our code that ends a drain replaces its text (kReasonReleased).
#pragma once

#include <string>
#include <string_view>

namespace slurmk8s {

/** Of each Reason that is ours, and of each AdminComment of the engine. */
inline constexpr std::string_view kReason = "slurm-k8s: ";
/** In the Comment of a node that is powering up: a Reason can't be taken back (slurmctld ignores an empty one). */
inline constexpr std::string_view kCommentWaiting = "slurm-k8s: waiting: ";

/** The engine's: drained because its NodeSet's power-ups fail. */
inline constexpr std::string_view kReasonProtected = "slurm-k8s: protected: ";
/** The engine's: drained because its former pod object is still there. */
inline constexpr std::string_view kReasonNotDeleted = "slurm-k8s: pod not deleted: ";
/** The sidecar's: drained for the Kubernetes node that its pod is on. */
inline constexpr std::string_view kReasonKubeNode = "slurm-k8s: kubernetes node ";
/** The sidecar's, whole texts. */
inline constexpr const char* kReasonScaleIn = "slurm-k8s: scale-in";
inline constexpr const char* kReasonUpdate = "slurm-k8s: update of the template";

/** Replaces the Reason of a drain that was taken back, where slurmctld doesn't clear it. */
inline constexpr const char* kReasonReleased =
    "slurm-k8s: back in service (if drained now: slurmctld's log has the cause)";

/** slurmctld's own, of a node that it gave up. */
inline constexpr std::string_view kReasonResumeTimeout = "ResumeTimeout reached";

/** A Reason that we give: what `text` has of slurmctld's separator is changed, so that only slurmctld appends. */
std::string build_reason(std::string_view beginning, std::string_view text);

/** Whether the drain of a node with this Reason is one of ours. */
bool is_drain_reason(std::string_view reason);
/** is_drain_reason(), of this kind: the beginning of the text, or all of it. */
bool is_drain_reason(std::string_view reason, std::string_view kind);
/** Whether a node with this Reason is DOWN because of us: its pod could not be made, couldn't start, or is lost. */
bool is_failure_reason(std::string_view reason);
/** Whether slurmctld wrote ResumeTimeout last; with `anywhere`, or before: it doesn't append a text that is there. */
bool is_resume_timeout(std::string_view reason, bool anywhere = false);

/** Whether slurmctld set a DOWN node with this Reason DOWN since its slurmd didn't answer. */
bool is_silence_reason(std::string_view reason);

/** What a Reason says went wrong: without the beginning that makes it ours, and without what is older. */
std::string_view cause_of(std::string_view reason);

}  // namespace slurmk8s
