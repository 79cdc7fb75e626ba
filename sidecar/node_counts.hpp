// SPDX-License-Identifier: GPL-2.0-or-later
// What a NodeSet's status says about its node records: how many are in which state, and which could not come up. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "slurm/records.hpp"

namespace slurmk8s {

/** How many records of a NodeSet are in which state. A record may be counted in several. */
struct NodeCounts {
  std::int64_t total = 0;
  std::int64_t ready = 0;  ///< up, registered, and neither drained nor down
  std::int64_t powered_up = 0;
  std::int64_t powering_up = 0;
  std::int64_t powering_down = 0;
  std::int64_t powered_down = 0;
  std::int64_t allocated = 0;
  std::int64_t idle = 0;
  std::int64_t draining = 0;
  std::int64_t down = 0;

  void add(const SlurmNode& node);
};

/** Nodes of a NodeSet that failed to power up, by the Reasons that the engine set. */
struct PowerUpFailures {
  std::vector<std::string> nodes;  ///< backing off
  bool is_protected = false;       ///< all nodes of the NodeSet back off
  std::string cause;               ///< of one of them

  void add(const SlurmNode& node);
};

}  // namespace slurmk8s
