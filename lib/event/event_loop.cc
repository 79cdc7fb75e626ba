// SPDX-License-Identifier: GPL-2.0-or-later
// EventLoop: what one thread waits for.
#include "event/event_loop.hpp"

#include <algorithm>
#include <utility>

namespace slurmk8s {
namespace {

constexpr std::chrono::minutes kLongestWait{1};

}  // namespace

Result<std::unique_ptr<EventLoop>> EventLoop::open(std::shared_ptr<const Clock> clock) {
  Poller poller = SLURMK8S_TRY(Poller::open());
  return std::unique_ptr<EventLoop>(new EventLoop(std::move(clock), std::move(poller)));
}

Status EventLoop::watch(int fd, std::uint32_t events, Function ready) {
  SLURMK8S_CHECK(poller_.set(fd, events));
  watched_[fd] = std::make_shared<const Function>(std::move(ready));
  return {};
}

void EventLoop::unwatch(int fd) {
  if (watched_.erase(fd) > 0) poller_.remove(fd);
}

void EventLoop::post(Function fn) {
  posted_.lock()->push_back(std::move(fn));
  wake();
}

void EventLoop::turn(std::chrono::milliseconds max_wait) {
  const auto wait = std::min(max_wait, timers_.until_next().value_or(max_wait));
  call_ready(poller_.wait(std::max(wait, std::chrono::milliseconds(0))));
  call_posted();
  timers_.run_due();
}

void EventLoop::run(const std::function<bool()>& may_continue) {
  while (may_continue()) turn(kLongestWait);
}

void EventLoop::call_ready(const std::vector<int>& fds) {
  for (const int fd : fds) {
    const auto found = watched_.find(fd);
    if (found == watched_.end()) continue;                        // an earlier one has unwatched it
    const std::shared_ptr<const Function> ready = found->second;  // it may unwatch itself
    (*ready)();
  }
}

void EventLoop::call_posted() {
  std::vector<Function> due;
  due.swap(*posted_.lock());
  for (const Function& fn : due) fn();
}

}  // namespace slurmk8s
