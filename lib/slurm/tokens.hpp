// SPDX-License-Identifier: GPL-2.0-or-later
// SlurmTokens: tokens of users (auth/jwt), which slurmctld signs. lib/slurm/rpc has the one that speaks Slurm's RPCs.
//
// Every call blocks as those of Slurm do. An implementation may be used by one thread at a time.
#pragma once

#include <chrono>
#include <ctime>
#include <memory>
#include <string>

#include "base/result.hpp"

namespace slurmk8s {

class SlurmTokens {
 public:
  virtual ~SlurmTokens() = default;

  /** When slurmctld started, or restarted itself for a reconfiguration: it has read its key then. */
  virtual Result<std::time_t> load_booted() = 0;
  /** A token for `user`, valid for `lifespan`. slurmctld gives SlurmUser a token for any name. */
  virtual Result<std::string> make_token(const std::string& user, std::chrono::seconds lifespan) = 0;
};

/** By Slurm's RPCs; after start_slurm_client(). */
std::unique_ptr<SlurmTokens> make_rpc_tokens();

}  // namespace slurmk8s
