// SPDX-License-Identifier: GPL-2.0-or-later
// A pod object, reduced to what decides about its node.
#include "core/node.hpp"

#include "base/text.hpp"
#include "core/names.hpp"

namespace slurmk8s {
namespace {

/** "OOMKilled", "exit code 1", … of the slurmd container; the pod's own reason (Evicted) goes first. */
std::string ended_reason(const Json& status) {
  std::string reason(status["reason"].text());
  status["containerStatuses"].each([&](const Json& container) {
    if (!reason.empty() || container["name"].text() != kSlurmdContainer) return;
    const Json terminated = container.at({"state", "terminated"});
    reason = terminated["reason"].text();
    if (reason.empty() || reason == "Error" || reason == "Completed") {
      reason = format("slurmd ended with exit code %d", static_cast<int>(terminated["exitCode"].integer_or(-1)));
    }
  });
  return reason.empty() ? std::string(status["phase"].text()) : reason;
}

}  // namespace

Pod decode_pod(const Json& object) {
  const Json metadata = object["metadata"];
  Pod pod;
  pod.uid = metadata["uid"].text();
  pod.request = metadata.at({"annotations", kAnnotationRequest}).text();
  pod.deleting = !metadata["deletionTimestamp"].is_null();
  const Json status = object["status"];
  const std::string_view phase = status["phase"].text();
  if (phase == "Failed" || phase == "Succeeded") pod.ended = ended_reason(status);
  return pod;
}

}  // namespace slurmk8s
