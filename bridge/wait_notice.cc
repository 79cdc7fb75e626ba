// SPDX-License-Identifier: GPL-2.0-or-later
// Causes at once, estimates at their pace.
#include "bridge/wait_notice.hpp"

#include <algorithm>

namespace slurmk8s {
namespace {

/** "Slurm job 12: Resources; position 3": the estimate moves, the cause before it does not. */
std::string_view cause_of(std::string_view message) { return message.substr(0, message.find(';')); }

bool has_cause(const ToldWait& told, std::string_view message) { return cause_of(told.message) == cause_of(message); }

/** Of one pod of so many, for all of which so many writes a second are made. */
std::chrono::seconds pace_of(std::size_t waiting, std::size_t per_second, std::chrono::seconds minimum) {
  const std::chrono::seconds all_once((waiting + per_second - 1) / per_second);
  return std::max(minimum, all_once);
}

}  // namespace

std::chrono::seconds estimate_pace(std::size_t waiting) {
  return pace_of(waiting, kEstimatesPerSecond, kMinEstimatePace);
}

std::chrono::seconds cause_pace(std::size_t waiting) { return pace_of(waiting, kCausesPerSecond, kMinCausePace); }

WaitNews judge_wait(const std::optional<ToldWait>& told, std::string_view message, std::size_t waiting, TimePoint now) {
  if (!told) return WaitNews::message;
  if (!has_cause(*told, message)) {
    const bool is_first_change = told->caused == TimePoint{};
    return is_first_change || now >= told->caused + cause_pace(waiting) ? WaitNews::message : WaitNews::none;
  }
  if (told->message == message) return now >= told->at + kRefreshEvents ? WaitNews::refresh : WaitNews::none;
  const bool is_first = cause_of(told->message) == told->message;
  return is_first || now >= told->at + estimate_pace(waiting) ? WaitNews::message : WaitNews::none;
}

ToldWait tell_wait_message(const std::optional<ToldWait>& told, const std::string& message, TimePoint now) {
  if (!told) return {message, now, {}};
  return {message, now, has_cause(*told, message) ? told->caused : now};
}

}  // namespace slurmk8s
