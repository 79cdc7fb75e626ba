// SPDX-License-Identifier: GPL-2.0-or-later
// A thread in slurmstepd that ends a job that uses more memory in this pod than --mem.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>

namespace slurmk8s {

/** A job and its limit. */
struct MemoryLimit {
  std::uint32_t job = 0;
  std::uint64_t bytes = 0;  ///< more than 0
};

/**
 * The pause until the next poll, when `before` and now `used` bytes were in use. 100 ms; 20 ms during fast growth,
 * since a task fills a gigabyte in less than half a second. But at least 50 times as long as the last poll `took`, and
 * at most 30 s: reading shared pages takes 12 ms per gigabyte. Pure.
 */
std::chrono::microseconds next_check(std::uint64_t before, std::uint64_t used, std::uint64_t limit,
                                     std::chrono::microseconds took);

/**
 * Polls the processes below the job's slurmstepds, of which this process is one. Over the limit, twice in a row if
 * uncertain, it stops them, so that they take no more memory; calls `end_job` once, in the thread, with the bytes in
 * use; kills them, and ends. Every slurmstepd of a job may have a watch: any of them can be first.
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
  std::thread thread_;  ///< last: it uses the members above
};

}  // namespace slurmk8s
