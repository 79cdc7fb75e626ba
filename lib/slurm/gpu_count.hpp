// SPDX-License-Identifier: GPL-2.0-or-later
// GPUs in Slurm's text of Gres. Pure; any thread.
#pragma once

#include <cstdint>
#include <string_view>

namespace slurmk8s {

/** How many GPUs "gpu:a100:2(S:0-1),shard:8,gpu:v100:1(IDX:0)" has. */
std::uint64_t count_gpus(std::string_view gres);

}  // namespace slurmk8s
