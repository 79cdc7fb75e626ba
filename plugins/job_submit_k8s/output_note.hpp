// SPDX-License-Identifier: GPL-2.0-or-later
// What sbatch says of an output file that is deleted with its pod. Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace slurmk8s {

/**
 * Whether job_submit/k8s is the last of slurm.conf's JobSubmitPlugins, `plugins`: job_submit/lua drops the message of a
 * plugin before it, and its memory (_job_submit() of Slurm 24.11 and 26.05 assigns err_msg). Null: no.
 */
bool is_last_job_submit(const char* plugins);

/**
 * The note for a batch job whose output file is below no shared path (SharedPaths of slurm-k8s.conf; no value:
 * unknown). `output`: the file, null: Slurm's default; `work_dir`: the job's directory, may be null. Empty: nothing to
 * say, or it cannot be told where the file is. Reads at most 4,096 bytes of each.
 */
std::string output_note(const char* output, const char* work_dir,
                        const std::optional<std::vector<std::string>>& shared);

}  // namespace slurmk8s
