// SPDX-License-Identifier: GPL-2.0-or-later
// Causes at once, estimates at their pace.
#include "bridge/wait_notice.hpp"

#include <algorithm>

namespace slurmk8s {
namespace {

/** "Slurm job 12: Resources; position 3": the estimate moves, the cause before it does not. */
std::string_view cause_of(std::string_view message) { return message.substr(0, message.find(';')); }

}  // namespace

std::chrono::seconds estimate_pace(std::size_t waiting) {
  const std::chrono::seconds all_once(waiting / kEstimatesPerSecond);
  return std::max<std::chrono::seconds>(kMinEstimatePace, all_once);
}

WaitNews judge_wait(const std::optional<ToldWait>& told, std::string_view message, std::size_t waiting, TimePoint now) {
  if (!told || cause_of(told->message) != cause_of(message)) return WaitNews::message;
  if (told->message == message) return now >= told->at + kRefreshEvents ? WaitNews::refresh : WaitNews::none;
  const bool is_first = cause_of(told->message) == told->message;
  return is_first || now >= told->at + estimate_pace(waiting) ? WaitNews::message : WaitNews::none;
}

}  // namespace slurmk8s
