// SPDX-License-Identifier: GPL-2.0-or-later
// Changes owners of device files.
#include "prep_k8s/gpu_owners.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <functional>
#include <vector>

#include "base/file.hpp"
#include "base/file_lock.hpp"
#include "base/unique_fd.hpp"
#include "prep_k8s/gpu_files.hpp"
#include "prep_k8s/job_notes.hpp"

namespace slurmk8s {
namespace {

constexpr std::size_t kMaxBytes = 1 << 20;
constexpr mode_t kPermissions = 07777;

/** All, or an error: files of a job that is left out would be taken from it. */
Result<std::vector<GpuJob>> noted_gpu_jobs(const std::string& folder) {
  std::vector<GpuJob> jobs;
  const JobUsers noted = SLURMK8S_TRY(noted_jobs(folder));
  for (const auto& [job, user] : noted) {
    jobs.push_back({user, parse_gpus(SLURMK8S_TRY(read_file(job_note(folder, job, user), kMaxBytes)))});
  }
  return jobs;
}

/** The mode last: a file whose owner cannot be changed stays open, as it was. */
Status set_owner(const std::string& path, const FileOwner& owner) {
  const UniqueFd fd(::open(path.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  struct stat found {};
  if (!fd || ::fstat(fd.get(), &found) != 0) return file_error(path, "open");
  if (!S_ISCHR(found.st_mode)) return Error(Errc::invalid, path + ": not a device file");
  if (FileOwner{found.st_uid, found.st_gid, found.st_mode & kPermissions} == owner) return {};
  if (::fchownat(fd.get(), "", owner.uid, owner.gid, AT_EMPTY_PATH) != 0) return file_error(path, "chown");
  const std::string same = "/proc/self/fd/" + std::to_string(fd.get());
  if (::chmod(same.c_str(), owner.mode) != 0) return file_error(path, "chmod");
  return {};
}

using OwnerOf = std::function<FileOwner(const GpuFile& file)>;

Status set_owners(const GpuPaths& paths, const std::vector<GpuFile>& files, const OwnerOf& owner) {
  const std::string mounts = SLURMK8S_TRY(read_file(paths.mounts, kMaxBytes));
  Status first;
  for (const GpuFile& file : files) {
    const std::string why = why_not_own(mounts, file.path);
    const Status set = why.empty() ? set_owner(file.path, owner(file))
                                   : Error(Errc::forbidden, file.path + ": open to all jobs: " + why);
    if (!set && first) first = set;
  }
  return first;
}

/** None in a pod without GPUs. */
Result<std::vector<GpuFile>> files_of(const GpuPaths& paths) {
  if (::access(paths.files.c_str(), F_OK) != 0) return std::vector<GpuFile>{};
  return parse_gpu_files(SLURMK8S_TRY(read_file(paths.files, kMaxBytes)));
}

Status set_for_jobs(const GpuPaths& paths, const std::vector<GpuFile>& files) {
  const std::vector<GpuJob> jobs = SLURMK8S_TRY(noted_gpu_jobs(paths.jobs));
  return set_owners(paths, files, [&](const GpuFile& file) { return owner_of(file, jobs); });
}

}  // namespace

Status give_gpus(const GpuPaths& paths, std::uint32_t job, uid_t user, std::string_view gpus) {
  const std::vector<GpuFile> files = SLURMK8S_TRY(files_of(paths));
  if (files.empty()) return {};
  const UniqueFd locked = SLURMK8S_TRY(take_file_lock(paths.lock));
  ::mkdir(paths.jobs.c_str(), 0700);
  SLURMK8S_CHECK(put_file(job_note(paths.jobs, job, user), gpus, 0600));
  return set_for_jobs(paths, files);
}

Status return_gpus(const GpuPaths& paths, std::uint32_t job, uid_t user) {
  const std::vector<GpuFile> files = SLURMK8S_TRY(files_of(paths));
  if (files.empty()) return {};
  const UniqueFd locked = SLURMK8S_TRY(take_file_lock(paths.lock));
  forget_job(paths.jobs, job, user);
  return set_for_jobs(paths, files);
}

Status open_gpus(const GpuPaths& paths) {
  if (::access(paths.jobs.c_str(), F_OK) != 0) return {};
  const UniqueFd locked = SLURMK8S_TRY(take_file_lock(paths.lock));
  return set_owners(paths, SLURMK8S_TRY(files_of(paths)), [](const GpuFile& file) { return file.original; });
}

}  // namespace slurmk8s
