// SPDX-License-Identifier: GPL-2.0-or-later
// PortCaller: the way to calls of slurmctld that may block. Its owner has one thread, and never waits for an answer.
#pragma once

#include <functional>

#include "slurm/call_thread.hpp"

namespace slurmk8s {

/** `Port`: Slurm, Allocations, SlurmTokens. */
template <typename Port>
class PortCaller {
 public:
  /** What is left to do, on the owner's thread, once the calls are made. */
  using Then = CallThread::Then;
  /** Makes its calls and says what follows from the answers. It may not touch its owner; the result may. */
  using Work = std::function<Then(Port&)>;

  PortCaller() = default;
  virtual ~PortCaller() = default;
  PortCaller(const PortCaller&) = delete;
  PortCaller& operator=(const PortCaller&) = delete;

  /** Has `work` run, in the order of the calls; never from within this call. The owner's thread. */
  virtual void call(Work work) = 0;
};

}  // namespace slurmk8s
