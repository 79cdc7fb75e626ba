// SPDX-License-Identifier: GPL-2.0-or-later
// The jobs of a node and their users: an empty file JOB.USER for each in a folder. slurmd loads plugins again
// when it reconfigures, and would forget.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>

#include "base/result.hpp"

namespace slurmk8s {

/** Users of jobs, by the jobs' ids. */
using JobUsers = std::map<std::uint32_t, uid_t>;

/** Notes that `job` of `user` has begun; makes `folder` if it isn't there. Errors name the file. */
Status note_job(const std::string& folder, std::uint32_t job, uid_t user);

/** Removes that note. No error when it isn't there. */
void forget_job(const std::string& folder, std::uint32_t job, uid_t user);

/** What is noted in `folder`; nothing when it isn't there. Other files are skipped. */
JobUsers noted_jobs(const std::string& folder);

}  // namespace slurmk8s
