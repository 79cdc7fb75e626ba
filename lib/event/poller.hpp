// SPDX-License-Identifier: GPL-2.0-or-later
// Poller: waits for many descriptors at once. The price of a wait grows with those that are ready, not with all.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "base/result.hpp"
#include "base/unique_fd.hpp"

namespace slurmk8s {

/** One thread owns a Poller; the others may call wake(). Descriptors stay their callers'. */
class Poller {
 public:
  /** Error (internal): no descriptor is left. */
  static Result<Poller> open();

  /**
   * From now on wait() tells when `fd` is ready for `events` (EPOLLIN, EPOLLOUT), or has an error or a hang-up; this
   * replaces what was said of it before. Error (internal): the kernel's limits, or a descriptor that can't be waited
   * for.
   */
  Status set(int fd, std::uint32_t events);
  /** No longer. Call it before the descriptor is closed; one that isn't known is fine. */
  void remove(int fd);

  /** Those that are ready, after at most `max_wait`; empty after that time, after wake() or a signal. */
  std::vector<int> wait(std::chrono::milliseconds max_wait);
  /** Ends the wait now or the next one. Any thread. */
  void wake();

 private:
  Poller(UniqueFd epoll, UniqueFd event) : epoll_(std::move(epoll)), event_(std::move(event)) {}

  UniqueFd epoll_;
  UniqueFd event_;  // of wake()
};

}  // namespace slurmk8s
