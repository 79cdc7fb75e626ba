// SPDX-License-Identifier: GPL-2.0-or-later
// AllocationCaller: the bridge's way to slurmctld, whose calls may block. AllocationThread makes them on a thread of
// its own.
#pragma once

#include <memory>

#include "daemon/fence.hpp"
#include "slurm/allocations.hpp"
#include "slurm/call_thread.hpp"
#include "slurm/port_caller.hpp"

namespace slurmk8s {

using AllocationCaller = PortCaller<Allocations>;

/** Calls that come when `fence` is shut are dropped, as is what follows from them. */
class AllocationThread final : public AllocationCaller {
 public:
  AllocationThread(std::shared_ptr<Allocations> allocations, CallThread::Post post, Fence& fence)
      : allocations_(std::move(allocations)), fence_(fence), thread_("slurm-k8s/slurm", std::move(post)) {}

  void call(Work work) override {
    if (!fence_.is_open()) return;
    thread_.call([allocations = allocations_, work = std::move(work)] { return work(*allocations); });
  }

 private:
  const std::shared_ptr<Allocations> allocations_;
  Fence& fence_;
  CallThread thread_;
};

}  // namespace slurmk8s
