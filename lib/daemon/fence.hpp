// SPDX-License-Identifier: GPL-2.0-or-later
// Fence: what keeps a sidecar that has lost its lease from writing anything more, wherever in a round it is.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "slurm/slurm.hpp"
#include "kube/client.hpp"

namespace slurmk8s {

/** Open while `may_write` says yes; once it said no it stays shut. One thread. */
class Fence {
 public:
  explicit Fence(std::function<bool()> may_write) : may_write_(std::move(may_write)) {}
  bool is_open() { return open_ = open_ && may_write_(); }

 private:
  const std::function<bool()> may_write_;
  bool open_ = true;
};

/**
 * `client`, whose writes go no further when the fence is shut: they are neither sent nor answered, as if cancelled.
 * References must outlive it.
 */
std::unique_ptr<kube::Client> make_fenced_client(kube::Client& client, Fence& fence);

/** `slurm`, whose writes are refused (cancelled) when the fence is shut. References must outlive it. */
std::unique_ptr<Slurm> make_fenced_slurm(Slurm& slurm, Fence& fence);

}  // namespace slurmk8s
