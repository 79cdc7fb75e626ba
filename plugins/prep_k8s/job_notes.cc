// SPDX-License-Identifier: GPL-2.0-or-later
// The names of the files.
#include "prep_k8s/job_notes.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "base/strings.hpp"
#include "base/unique_fd.hpp"

namespace slurmk8s {
std::string job_note(const std::string& folder, std::uint32_t job, uid_t user) {
  return folder + "/" + std::to_string(job) + "." + std::to_string(user);
}

Status note_job(const std::string& folder, std::uint32_t job, uid_t user) {
  ::mkdir(folder.c_str(), 0700);
  const std::string file = job_note(folder, job, user);
  const UniqueFd fd(::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (fd) return {};
  return Error(Errc::unavailable, file + ": " + std::generic_category().message(errno));
}

void forget_job(const std::string& folder, std::uint32_t job, uid_t user) {
  ::unlink(job_note(folder, job, user).c_str());
}

Result<JobUsers> noted_jobs(const std::string& folder) {
  JobUsers jobs;
  std::error_code failed;
  for (std::filesystem::directory_iterator entry(folder, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    const std::string name = entry->path().filename().string();
    const auto parts = split(name, '.');
    if (parts.size() != 2) continue;
    const auto job = parse_int(parts[0]);
    const auto user = parse_int(parts[1]);
    if (!job || !user || *job <= 0 || *job > UINT32_MAX || *user < 0 || *user > UINT32_MAX) continue;
    jobs[static_cast<std::uint32_t>(*job)] = static_cast<uid_t>(*user);
  }
  const bool is_absent = failed == std::errc::no_such_file_or_directory;
  if (failed && !is_absent) return Error(Errc::unavailable, folder + ": " + failed.message());
  return jobs;
}

}  // namespace slurmk8s
