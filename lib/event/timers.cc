// SPDX-License-Identifier: GPL-2.0-or-later
// Timers: functions called later on the thread that owns them.
#include "event/timers.hpp"

#include <algorithm>
#include <vector>

namespace slurmk8s {

namespace {

// Ten years: no sum with it overflows.
constexpr std::chrono::milliseconds kMaxDelay = std::chrono::hours(24 * 3650);

}  // namespace

Timers::Id Timers::after(std::chrono::milliseconds delay, std::function<void()> fn) {
  const TimePoint when = clock_.now() + std::clamp(delay, std::chrono::milliseconds(0), kMaxDelay);
  const Id id = ++last_;
  queue_.emplace(std::pair(when, id), std::move(fn));
  due_.emplace(id, when);
  return id;
}

void Timers::cancel(Id id) {
  const auto found = due_.find(id);
  if (found == due_.end()) return;
  queue_.erase({found->second, id});
  due_.erase(found);
}

std::optional<std::chrono::milliseconds> Timers::until_next() const {
  if (queue_.empty()) return std::nullopt;
  const auto left = queue_.begin()->first.first - clock_.now();
  return std::max(std::chrono::milliseconds(0), std::chrono::ceil<std::chrono::milliseconds>(left));
}

void Timers::run_due() {
  const TimePoint now = clock_.now();
  std::vector<std::pair<TimePoint, Id>> due;
  for (const auto& [key, fn] : queue_) {
    if (key.first > now) break;
    due.push_back(key);
  }
  for (const auto& key : due) {
    const auto found = queue_.find(key);
    if (found == queue_.end()) continue;  // cancelled by an earlier one
    const std::function<void()> fn = std::move(found->second);
    queue_.erase(found);
    due_.erase(key.second);
    fn();
  }
}

}  // namespace slurmk8s
