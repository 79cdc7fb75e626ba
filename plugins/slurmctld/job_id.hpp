// SPDX-License-Identifier: GPL-2.0-or-later
// The job id in Slurm's "%pJ" text. Pure.
#pragma once

#include <cstdint>
#include <string_view>

namespace slurmk8s {

/** 5 for "JobId=5", 6 for the array task "JobId=5_1(6)" and the het component "JobId=5+1(6)"; 0 for anything else. */
std::uint32_t parse_job_id(std::string_view text);

}  // namespace slurmk8s
