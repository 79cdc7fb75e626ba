// SPDX-License-Identifier: GPL-2.0-or-later
// SlurmCaller: the engine's way to slurmctld, whose calls may block for Slurm's MessageTimeout.
#pragma once

#include <functional>

#include "slurm/slurm.hpp"

namespace slurmk8s {

class SlurmCaller {
 public:
  /** What is left to do, on the engine's thread, once the calls are made. */
  using Then = std::function<void()>;
  /** Makes its calls and says what follows from the answers. It may not touch the engine; the result may. */
  using Work = std::function<Then(Slurm&)>;

  virtual ~SlurmCaller() = default;
  /** Has `work` run, in the order of the calls; never from within this call. The engine's thread. */
  virtual void call(Work work) = 0;
};

}  // namespace slurmk8s
