// SPDX-License-Identifier: GPL-2.0-or-later
// A thread in slurmstepd that ends a job which uses more memory in this pod than it asked for.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>

namespace slurmk8s {

/** What is watched. */
struct MemoryLimit {
  std::uint32_t job = 0;
  std::uint64_t bytes = 0;  ///< more than 0
};

/**
 * How long to wait until the next look, when `before` and now `used` bytes were in use. 100 ms; 20 while it grows fast,
 * since a task fills a gigabyte in less than half a second. But 50 times as long as the last look `took`, and 30 s at
 * most: to look at pages that are shared takes 12 ms for each gigabyte. Pure.
 */
std::chrono::microseconds next_look(std::uint64_t before, std::uint64_t used, std::uint64_t limit,
                                    std::chrono::microseconds took);

/**
 * Looks at the processes below the job's slurmstepds, of which this process is one. Over the limit, twice in a row
 * where it isn't certain: they are stopped, so that they can't take more meanwhile; `end_job` is called, once, in the
 * thread, with the bytes in use; then they are killed, and the watch is over. Every slurmstepd of a job may have one:
 * it doesn't matter which is first.
 */
class MemoryWatch {
 public:
  using EndJob = std::function<void(std::uint64_t used)>;
  MemoryWatch(MemoryLimit limit, EndJob end_job);
  /** Waits for a call of `end_job` that is under way. */
  ~MemoryWatch();
  MemoryWatch(const MemoryWatch&) = delete;
  MemoryWatch& operator=(const MemoryWatch&) = delete;

 private:
  void run();
  bool pause(std::chrono::microseconds time);

  const MemoryLimit limit_;
  const EndJob end_job_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false;  ///< under mutex_
  std::thread thread_;  ///< the last: it uses the others
};

}  // namespace slurmk8s
