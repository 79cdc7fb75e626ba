// SPDX-License-Identifier: GPL-2.0-or-later
// Who owns the device files of a pod's GPUs while which jobs run there. Pure; any thread.
#pragma once

#include <sys/types.h>

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace slurmk8s {

struct FileOwner {
  uid_t uid = 0;
  gid_t gid = 0;
  mode_t mode = 0;  ///< permissions alone
  bool operator==(const FileOwner&) const = default;
};

/** A device file of the pod's GPUs. */
struct GpuFile {
  std::string path;
  std::optional<unsigned> gpu;  ///< Slurm's number; empty: the GPU is unknown
  FileOwner original;           ///< when the container began
};

/** A job that runs in the pod. */
struct GpuJob {
  uid_t user = 0;
  std::set<unsigned> gpus;  ///< Slurm's numbers; none: a job without GPUs
};

/** "0,2": SLURM_JOB_GPUS of a prolog. Skips what is no number. */
std::set<unsigned> parse_gpus(std::string_view text);

/** Lines "GPU UID GID MODE PATH" of the image's entrypoint: GPU is a number or "any", MODE octal. Skips others. */
std::vector<GpuFile> parse_gpu_files(std::string_view text);

/**
 * Root alone while no job has the GPU, then the jobs' user alone. Jobs of several users that share it (shard, mps,
 * files of unknown GPUs) find it as it was: each of them can use the GPU that Slurm gave it.
 */
FileOwner owner_of(const GpuFile& file, const std::vector<GpuJob>& jobs);

/**
 * Empty: `path` is in the container's own /dev, by the text of /proc/self/mountinfo. Otherwise why it may be a file of
 * the Kubernetes node: it is a mount, as NVIDIA's runtime makes it in its legacy mode; /dev is a volume.
 */
std::string why_not_own(std::string_view mountinfo, std::string_view path);

}  // namespace slurmk8s
