// SPDX-License-Identifier: GPL-2.0-or-later
// TimerCaller: calls to a fake Slurm, each made in a later turn of the timers. One thread.
#pragma once

#include "event/timers.hpp"
#include "slurm/slurm_caller.hpp"

namespace slurmk8s {

class TimerCaller final : public SlurmCaller {
 public:
  /** Both must outlive it. */
  TimerCaller(Timers& timers, Slurm& slurm) : timers_(timers), slurm_(slurm) {}
  void call(Work work) override {
    timers_.after({}, [this, work] { work(slurm_)(); });
  }

 private:
  Timers& timers_;
  Slurm& slurm_;
};

}  // namespace slurmk8s
