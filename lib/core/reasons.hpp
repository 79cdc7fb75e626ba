// SPDX-License-Identifier: GPL-2.0-or-later
// The beginnings of our texts in a node's Reason and Comment: by them we know what we did ourselves, also after a restart.
#pragma once

#include <string_view>

namespace slurmk8s {

/** Of each Reason that is ours. */
inline constexpr std::string_view kReason = "slurm-k8s: ";
/** In the Comment of a node that is powering up: a Reason can't be taken back (slurmctld ignores an empty one). */
inline constexpr std::string_view kCommentWaiting = "slurm-k8s: waiting: ";
/** A node drained because its NodeSet's power-ups fail. */
inline constexpr std::string_view kReasonProtected = "slurm-k8s: protected: ";
/** slurmctld's own, of a node that it gave up. */
inline constexpr std::string_view kReasonResumeTimeout = "ResumeTimeout reached";

/** What a Reason says went wrong: without the beginning that makes it ours. */
inline std::string_view cause_of(std::string_view reason) {
  for (const std::string_view ours : {kReasonProtected, kReason}) {
    if (reason.starts_with(ours)) return reason.substr(ours.size());
  }
  return reason;
}

}  // namespace slurmk8s
