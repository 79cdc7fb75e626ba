// SPDX-License-Identifier: GPL-2.0-or-later
// A node record (slurm/records.hpp) out of libslurm's struct, and the states that an update can set. Pure; any thread.
#pragma once

#include <cstdint>

#include "slurm/records.hpp"
#include "slurm/rpc/compat.hpp"

namespace slurmk8s {

SlurmNode decode_node(const node_info_t& info);

/** For update_node_msg_t; NO_VAL for State::keep. */
std::uint32_t encode_state(SlurmNodeUpdate::State state);

}  // namespace slurmk8s
