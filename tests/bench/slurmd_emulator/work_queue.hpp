// SPDX-License-Identifier: GPL-2.0-or-later
// WorkQueue: functions for a fixed number of threads, each from its due time on.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

namespace emulator {

class WorkQueue {
 public:
  explicit WorkQueue(int threads);
  /** Waits for the functions that run; what is still queued is dropped. */
  ~WorkQueue();
  WorkQueue(const WorkQueue&) = delete;
  WorkQueue& operator=(const WorkQueue&) = delete;

  /** Any thread. Functions that are due at the same moment start in the order in which they came. */
  void add(std::function<void()> work, std::chrono::milliseconds delay = {});

 private:
  using Clock = std::chrono::steady_clock;
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::multimap<Clock::time_point, std::function<void()>> work_;
  bool stop_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace emulator
