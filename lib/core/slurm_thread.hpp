// SPDX-License-Identifier: GPL-2.0-or-later
// SlurmThread: a Reporter whose calls to slurmctld, which may block for Slurm's MessageTimeout, have a thread of their own.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <thread>

#include "base/locked.hpp"
#include "core/reporter.hpp"

namespace slurmk8s {

class SlurmThread final : public Reporter {
 public:
  /** Hands a finished call back to the engine's thread; called on this object's thread. */
  using Post = std::function<void(std::function<void()>)>;

  SlurmThread(std::unique_ptr<Slurm> slurm, Post post);
  /** Drops what waits and waits for the call under way: at most a few times Slurm's MessageTimeout. */
  ~SlurmThread() override;

  void load_nodes(OnNodes done) override;
  void fail_node(const std::string& node, const std::string& reason, bool vanished, OnVerdict done) override;

 private:
  void push(std::function<void()> task);
  void run();

  std::unique_ptr<Slurm> slurm_;
  Post post_;
  struct Queue {
    std::deque<std::function<void()>> tasks;
    bool stop = false;
  };
  Locked<Queue> queue_;
  std::condition_variable changed_;
  std::thread thread_;  // last: it uses the members above
};

}  // namespace slurmk8s
