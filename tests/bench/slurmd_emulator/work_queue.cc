// SPDX-License-Identifier: GPL-2.0-or-later
// The work queue's threads.
#include "work_queue.hpp"

namespace emulator {

WorkQueue::WorkQueue(int threads) {
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { run(); });
}

WorkQueue::~WorkQueue() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void WorkQueue::add(std::function<void()> work, std::chrono::milliseconds delay) {
  {
    const std::lock_guard lock(mutex_);
    work_.emplace(Clock::now() + delay, std::move(work));
  }
  changed_.notify_one();
}

void WorkQueue::run() {
  std::unique_lock lock(mutex_);
  while (!stop_) {
    if (work_.empty()) {
      changed_.wait(lock);
    } else if (const auto due = work_.begin()->first; due > Clock::now()) {
      changed_.wait_until(lock, due);
    } else {
      const std::function<void()> work = std::move(work_.begin()->second);
      work_.erase(work_.begin());
      lock.unlock();
      work();
      lock.lock();
    }
  }
}

}  // namespace emulator
