// SPDX-License-Identifier: GPL-2.0-or-later
// When what a pod waits for is written to the API server. Pure; values; any thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.hpp"

namespace slurmk8s {

/** What was last written of a pod that waits. */
struct ToldWait {
  std::string message;  ///< "Slurm job 12: Resources; position 3"
  TimePoint at{};       ///< when
  TimePoint caused{};   ///< when a cause was last followed by another one; {}: never
};

/** What there is to write. */
enum class WaitNews {
  none,
  message,  ///< condition and event
  refresh,  ///< the event alone, with the same message: Kubernetes deletes events after an hour
};

/** Writes of all pods together, in a second, that only change a position or an expected start. */
inline constexpr std::size_t kEstimatesPerSecond = 20;
/** Between two such writes of one pod, with few pods: as often as slurmctld is asked for all jobs. */
inline constexpr std::chrono::seconds kMinEstimatePace{3};
/** Writes of all pods together, in a second, that change a cause which has changed lately. */
inline constexpr std::size_t kCausesPerSecond = 100;
/** Between two changed causes of one pod, with few pods: Slurm's words may alternate. */
inline constexpr std::chrono::seconds kMinCausePace{2};
/** After this time without a write the event is written again. */
inline constexpr std::chrono::minutes kRefreshEvents{30};

/** Between two writes of one pod that change its estimate alone, while so many pods wait. */
std::chrono::seconds estimate_pace(std::size_t waiting);

/** Between two writes of one pod that change its cause, while so many pods wait. */
std::chrono::seconds cause_pace(std::size_t waiting);

/**
 * Another cause is written at once, and so is the first estimate; the next change keeps cause_pace() or
 * estimate_pace(). `told` is empty for a pod of which nothing was written.
 */
WaitNews judge_wait(const std::optional<ToldWait>& told, std::string_view message, std::size_t waiting, TimePoint now);

/** What is told when this message is written now. */
ToldWait tell_wait_message(const std::optional<ToldWait>& told, const std::string& message, TimePoint now);

}  // namespace slurmk8s
