// SPDX-License-Identifier: GPL-2.0-or-later
// SlurmThread: a SlurmCaller with a thread of its own for the calls.
#pragma once

#include <memory>

#include "slurm/call_thread.hpp"
#include "slurm/slurm_caller.hpp"

namespace slurmk8s {

class SlurmThread final : public SlurmCaller {
 public:
  /** Starts the thread, which makes all calls of `slurm` but end(). `post`: see CallThread. */
  SlurmThread(std::shared_ptr<Slurm> slurm, CallThread::Post post)
      : slurm_(std::move(slurm)), thread_("slurm-k8s/slurm", std::move(post), [slurm = slurm_] { slurm->end(); }) {}

  void call(Work work) override {
    thread_.call([slurm = slurm_, work = std::move(work)] { return work(*slurm); });
  }

 private:
  const std::shared_ptr<Slurm> slurm_;
  CallThread thread_;  // refuses changes with Slurm::end() when it abandons a call
};

}  // namespace slurmk8s
