// SPDX-License-Identifier: GPL-2.0-or-later
// SlurmThread: a SlurmCaller with a thread of its own for the calls.
#pragma once

#include <functional>
#include <memory>
#include <thread>

#include "slurm/slurm_caller.hpp"

namespace slurmk8s {

class SlurmThread final : public SlurmCaller {
 public:
  /** Hands what is left to do to the engine's thread; called on this object's thread. */
  using Post = std::function<void(Then)>;

  /**
   * How long the destructor waits for the call that is under way. libslurm may take far longer: with several slurmctlds
   * one and a half times SlurmctldTimeout, while none is in control.
   */
  static constexpr std::chrono::seconds kEndPatience{2};

  /** Starts the thread, which makes all calls of `slurm` but end(). */
  SlurmThread(std::shared_ptr<Slurm> slurm, Post post);
  /**
   * Drops what waits. A call that takes longer than kEndPatience is abandoned; Slurm::end() refuses what follows
   * it.
   */
  ~SlurmThread() override;

  void call(Work work) override;

 private:
  struct State;
  static void run(State& state);

  const std::shared_ptr<State> state_;  // the thread's, too
  std::thread thread_;
};

}  // namespace slurmk8s
