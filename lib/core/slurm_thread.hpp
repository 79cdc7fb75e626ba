// SPDX-License-Identifier: GPL-2.0-or-later
// SlurmThread: a SlurmCaller with a thread of its own for the calls.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <thread>

#include "base/locked.hpp"
#include "core/slurm_caller.hpp"

namespace slurmk8s {

class SlurmThread final : public SlurmCaller {
 public:
  /** Hands what is left to do to the engine's thread; called on this object's thread. */
  using Post = std::function<void(Then)>;

  /** `slurm` outlives it. */
  SlurmThread(Slurm& slurm, Post post);
  /** Drops what waits and waits for the call under way: at most a few times Slurm's MessageTimeout. */
  ~SlurmThread() override;

  void call(Work work) override;

 private:
  void run();

  Slurm& slurm_;
  Post post_;
  struct Queue {
    std::deque<Work> work;
    bool stop = false;
  };
  Locked<Queue> queue_;
  std::condition_variable changed_;
  std::thread thread_;  // last: it uses the members above
};

}  // namespace slurmk8s
