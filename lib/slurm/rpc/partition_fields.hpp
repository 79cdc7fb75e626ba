// SPDX-License-Identifier: GPL-2.0-or-later
// A partition's options (slurm/partition_options.hpp) in and out of libslurm's struct. Pure; any thread.
#pragma once

#include "slurm/records.hpp"
#include "slurm/rpc/compat.hpp"

namespace slurmk8s {

SlurmPartition decode_partition(const partition_info_t& info);

/**
 * Sets `message`, which slurm_init_part_desc_msg() has made, to change what `partition` has: its nodes unless they are
 * empty, and its options. The message points into `partition`.
 */
void encode_partition(const SlurmPartition& partition, update_part_msg_t& message);

}  // namespace slurmk8s
