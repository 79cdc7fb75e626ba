// SPDX-License-Identifier: GPL-2.0-or-later
// AllocationCaller: the bridge's way to slurmctld, whose calls may block. AllocationThread makes them on a thread of
// its own.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "daemon/fence.hpp"
#include "slurm/allocations.hpp"
#include "slurm/call_thread.hpp"
#include "slurm/port_caller.hpp"

namespace slurmk8s {

using AllocationCaller = PortCaller<Allocations>;

/** Calls that come when `fence` is shut are dropped, as is what follows from them. */
class AllocationThread final : public AllocationCaller {
 public:
  /**
   * Asked right before each call, on its thread: a call may have waited for others. After a no `fence` must be shut:
   * what follows from a call that was left out never comes.
   */
  using MayCall = std::function<bool()>;

  AllocationThread(std::shared_ptr<Allocations> allocations, CallThread::Post post, Fence& fence, MayCall may_call)
      : allocations_(std::move(allocations)),
        fence_(fence),
        may_call_(std::move(may_call)),
        thread_("slurm-k8s/slurm", std::move(post)) {}

  void call(Work work) override {
    if (!fence_.is_open()) return;
    thread_.call([allocations = allocations_, may_call = may_call_, work = std::move(work)] {
      return may_call() ? work(*allocations) : [] {};
    });
  }

 private:
  const std::shared_ptr<Allocations> allocations_;
  Fence& fence_;
  const MayCall may_call_;
  CallThread thread_;
};

}  // namespace slurmk8s
