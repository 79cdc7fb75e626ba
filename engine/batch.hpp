// SPDX-License-Identifier: GPL-2.0-or-later
// Batch: names that are dealt with together a moment after the first of them came. One thread.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "event/timers.hpp"

namespace slurmk8s {

class Batch {
 public:
  using Flush = std::function<void(std::vector<std::string>)>;
  using Delay = std::function<std::chrono::milliseconds()>;

  /** `timers` must outlive it. */
  Batch(Timers& timers, std::chrono::milliseconds delay, Flush flush)
      : Batch(
            timers, [delay] { return delay; }, std::move(flush)) {}
  /** `delay` is asked when a batch begins. */
  Batch(Timers& timers, Delay delay, Flush flush)
      : timers_(timers), delay_(std::move(delay)), flush_(std::move(flush)) {}
  ~Batch() { timers_.cancel(timer_); }
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  void add(const std::string& name) {
    if (names_.empty()) timer_ = timers_.after(delay_(), [this] { flush(); });
    names_.insert(name);
  }

 private:
  void flush() {
    const std::set<std::string> due = std::move(names_);
    names_.clear();
    flush_({due.begin(), due.end()});
  }

  Timers& timers_;
  const Delay delay_;
  const Flush flush_;
  Timers::Id timer_ = 0;
  std::set<std::string> names_;
};

}  // namespace slurmk8s
