// SPDX-License-Identifier: GPL-2.0-or-later
// Reasons: ours, slurmctld's, and ours to which slurmctld has appended.
#include "slurm/reasons.hpp"

#include <array>

namespace slurmk8s {
namespace {

/** set_node_reason() of slurmctld appends with it. */
constexpr std::string_view kSeparator = " : ";
/** What slurmctld appends when a node doesn't answer. That says nothing about who drained it. */
constexpr std::string_view kNotResponding = "Not responding";

constexpr std::array<std::string_view, 5> kDrains{kReasonProtected, kReasonNotDeleted, kReasonKubeNode, kReasonScaleIn,
                                                  kReasonUpdate};

struct Parts {
  std::string_view first;
  std::string_view appended;  ///< separators between its parts
};

Parts split_reason(std::string_view reason) {
  const std::size_t end = reason.find(kSeparator);
  if (end == std::string_view::npos) return {reason, {}};
  return {reason.substr(0, end), reason.substr(end + kSeparator.size())};
}

bool only_tells_silence(std::string_view appended) {
  while (!appended.empty()) {
    const Parts parts = split_reason(appended);
    if (parts.first != kNotResponding && parts.first != kReasonResumeTimeout) return false;
    appended = parts.appended;
  }
  return true;
}

/** Kinds that end with a space go on with what differs. */
bool begins_as(std::string_view text, std::string_view kind) {
  return kind.ends_with(' ') ? text.starts_with(kind) : text == kind;
}

}  // namespace

std::string build_reason(std::string_view beginning, std::string_view text) {
  std::string reason(beginning);
  while (!text.empty()) {
    const std::size_t end = text.find(kSeparator);
    reason += text.substr(0, end);
    if (end == std::string_view::npos) break;
    reason += ": ";
    text.remove_prefix(end + kSeparator.size());
  }
  return reason;
}

bool is_drain_reason(std::string_view reason, std::string_view kind) {
  const Parts parts = split_reason(reason);
  return begins_as(parts.first, kind) && only_tells_silence(parts.appended);
}

bool is_drain_reason(std::string_view reason) {
  for (const std::string_view kind : kDrains) {
    if (is_drain_reason(reason, kind)) return true;
  }
  return false;
}

bool is_failure_reason(std::string_view reason) {
  const bool is_ours = reason.starts_with(kReason) && reason != kReasonReleased;
  return is_ours && split_reason(reason).appended.empty() && !is_drain_reason(reason);
}

bool is_resume_timeout(std::string_view reason, bool anywhere) {
  for (Parts parts = split_reason(reason);; parts = split_reason(parts.appended)) {
    const bool is_last = parts.appended.empty();
    if ((is_last || anywhere) && parts.first.starts_with(kReasonResumeTimeout)) return true;
    if (is_last) return false;
  }
}

bool is_silence_reason(std::string_view reason) {
  const std::size_t last = reason.rfind(kSeparator);
  return reason.substr(last == std::string_view::npos ? 0 : last + kSeparator.size()).starts_with(kNotResponding);
}

std::string_view cause_of(std::string_view reason) {
  if (is_resume_timeout(reason, true)) return kReasonResumeTimeout;
  for (const std::string_view ours : {kReasonProtected, kReasonNotDeleted, kReason}) {
    if (reason.starts_with(ours)) return reason.substr(ours.size());
  }
  return reason;
}

}  // namespace slurmk8s
