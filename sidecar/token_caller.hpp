// SPDX-License-Identifier: GPL-2.0-or-later
// TokenCaller: the token keeper's way to slurmctld, whose calls may block. TokenThread makes them on a thread of its
// own.
#pragma once

#include <memory>
#include <utility>

#include "slurm/call_thread.hpp"
#include "slurm/port_caller.hpp"
#include "slurm/tokens.hpp"

namespace slurmk8s {

using TokenCaller = PortCaller<SlurmTokens>;

class TokenThread final : public TokenCaller {
 public:
  /** Starts the thread. `post`: see CallThread. */
  TokenThread(std::shared_ptr<SlurmTokens> tokens, CallThread::Post post)
      : tokens_(std::move(tokens)), thread_("k8s-tokens", std::move(post)) {}

  void call(Work work) override {
    thread_.call([tokens = tokens_, work = std::move(work)] { return work(*tokens); });
  }

 private:
  const std::shared_ptr<SlurmTokens> tokens_;
  CallThread thread_;
};

}  // namespace slurmk8s
