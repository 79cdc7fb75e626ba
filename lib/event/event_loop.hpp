// SPDX-License-Identifier: GPL-2.0-or-later
// EventLoop: what one thread waits for: descriptors, timers, functions from other threads. The only one that we have.
//
//   const auto loop = SLURMK8S_TRY(EventLoop::open());
//   loop->watch(fd, EPOLLIN, [&] { read(fd); });
//   loop->timers().after(std::chrono::seconds(1), [&] { look(); });
//   loop->run([&] { return !ended; });
//
// One thread owns a loop: everything but post() and wake() is called on it, and every function runs on it, from turn().
// A function may watch, unwatch, add timers and post; it may not call turn() or destroy the loop.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/clock.hpp"
#include "base/locked.hpp"
#include "base/result.hpp"
#include "event/poller.hpp"
#include "event/timers.hpp"

namespace slurmk8s {

class EventLoop {
 public:
  using Function = std::function<void()>;

  /** Error (internal): no descriptor is left. `clock` tells the timers' time. */
  static Result<std::unique_ptr<EventLoop>> open(std::shared_ptr<const Clock> clock = std::make_shared<SystemClock>());
  ~EventLoop() = default;
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  const std::shared_ptr<const Clock>& clock() const { return clock_; }
  Timers& timers() { return timers_; }

  /**
   * Calls `ready` whenever `fd` is ready for `events` (EPOLLIN, EPOLLOUT), or has an error or a hang-up; replaces what
   * was said of it before. The descriptor stays its caller's, who unwatches it before it closes it. Error (internal):
   * the kernel's limits, or a descriptor that can't be waited for.
   */
  Status watch(int fd, std::uint32_t events, Function ready);
  /** One that isn't watched is fine. */
  void unwatch(int fd);

  /** Has the loop's thread call `fn` in this turn or the next, in the order of the calls. Any thread. */
  void post(Function fn);
  /** Ends the wait of turn() now or the next one. Any thread. */
  void wake() { poller_.wake(); }

  /** Waits for something to do, at most `max_wait`, and does it: descriptors, then posted functions, then timers. */
  void turn(std::chrono::milliseconds max_wait);
  /** Turns as long as `may_continue`, asked before each turn, says yes: wake() has it asked again. */
  void run(const std::function<bool()>& may_continue);

 private:
  EventLoop(std::shared_ptr<const Clock> clock, Poller poller)
      : clock_(std::move(clock)), timers_(*clock_), poller_(std::move(poller)) {}
  void call_ready(const std::vector<int>& fds);
  void call_posted();

  const std::shared_ptr<const Clock> clock_;
  Timers timers_;
  Poller poller_;
  std::unordered_map<int, std::shared_ptr<const Function>> watched_;
  Locked<std::vector<Function>> posted_;
};

}  // namespace slurmk8s
