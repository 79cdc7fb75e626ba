// SPDX-License-Identifier: GPL-2.0-or-later
// Gives jobs the device files of their GPUs, and takes them back. What a job has is in a file, since slurmd reloads its
// plugins when it reconfigures.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace slurmk8s {

struct GpuPaths {
  std::string files = "/run/slurm-k8s/gpu-files";  ///< parse_gpu_files(), of the entrypoint
  std::string jobs = "/run/slurm-k8s/gpu-jobs";    ///< a file JOB.USER for each job, with its SLURM_JOB_GPUS
  std::string lock = "/run/slurm-k8s/gpu-jobs.lock";
  std::string mounts = "/proc/self/mountinfo";
};

/**
 * The job of that user has begun here with these GPUs of Slurm ("0,2", or none): changes the owner of each device file
 * that is not as owner_of() wants it. Does nothing in a pod without GPUs. The error is the first of all files', which
 * it names; the other files are changed. As root in slurmd, in any thread.
 */
Status give_gpus(const GpuPaths& paths, std::uint32_t job, uid_t user, std::string_view gpus);

/** The job has ended. Processes that still have a file open keep it: end them before. */
Status return_gpus(const GpuPaths& paths, std::uint32_t job, uid_t user);

/** Makes the files what they were when the container began, if a job ever was given one. */
Status open_gpus(const GpuPaths& paths);

}  // namespace slurmk8s
