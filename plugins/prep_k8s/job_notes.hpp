// SPDX-License-Identifier: GPL-2.0-or-later
// The jobs of a node and their users: a file JOB.USER for each in a folder. slurmd reloads its plugins when it
// reconfigures, and their memory is lost.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>

#include "base/result.hpp"

namespace slurmk8s {

/** Users of jobs, by the jobs' ids. */
using JobUsers = std::map<std::uint32_t, uid_t>;

/** The file of a job. */
std::string job_note(const std::string& folder, std::uint32_t job, uid_t user);

/** Records that `job` of `user` has begun; creates `folder` if needed. Errors name the file. */
Status note_job(const std::string& folder, std::uint32_t job, uid_t user);

/** Removes the record, if any. */
void forget_job(const std::string& folder, std::uint32_t job, uid_t user);

/** The recorded jobs; none without `folder`. Skips other files. Error (unavailable): they are not all known. */
Result<JobUsers> noted_jobs(const std::string& folder);

}  // namespace slurmk8s
