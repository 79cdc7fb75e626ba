// SPDX-License-Identifier: GPL-2.0-or-later
// The directory of an output file, and the note about it.
#include "job_submit_k8s/output_note.hpp"

#include <string.h>

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "base/strings.hpp"

namespace slurmk8s {
namespace {

constexpr std::size_t kMaxPath = 4096;
/** Longest path that is repeated to the user. */
constexpr std::size_t kMaxShown = 200;

/** Empty: none, or too long. */
std::string_view bounded(const char* path) {
  if (!path) return {};
  const std::size_t length = ::strnlen(path, kMaxPath);
  return length < kMaxPath ? std::string_view(path, length) : std::string_view();
}

bool is_below(std::string_view path, std::string_view directory) {
  while (directory.ends_with('/')) directory.remove_suffix(1);
  return path.starts_with(directory) && (path.size() == directory.size() || path[directory.size()] == '/');
}

/** The directory of the file: the part before the last slash. Empty: unknown. */
std::string_view directory_of(std::string_view output, std::string_view work_dir) {
  for (const std::string_view path : {output, work_dir}) {
    if (path.find("..") != std::string_view::npos) return {};
  }
  if (!output.starts_with('/')) return work_dir;
  return output.substr(0, std::max<std::size_t>(output.rfind('/'), 1));
}

}  // namespace

bool is_last_job_submit(const char* plugins) {
  const std::string_view list = trim(plugins ? std::string_view(plugins) : std::string_view());
  return list == "k8s" || list.ends_with(",k8s") || list.ends_with("/k8s") || list.ends_with(" k8s");
}

std::string output_note(const char* output, const char* work_dir,
                        const std::optional<std::vector<std::string>>& shared) {
  const std::string_view file = bounded(output);
  if (!shared || (output && file.empty())) return {};
  const std::string_view directory = directory_of(file, bounded(work_dir));
  if (!directory.starts_with('/') || is_below(directory, "/dev")) return {};
  std::string names;
  for (const std::string& path : *shared) {
    if (is_below(directory, path)) return {};
    names += (names.empty() ? "" : ", ") + path;
  }
  const std::string shown(directory.size() > kMaxShown ? "its directory" : directory);
  return format("output file: %s is below no shared path (%s), and may be deleted with the pod of the job's first node",
                shown.c_str(), names.empty() ? "there is none" : names.c_str());
}

}  // namespace slurmk8s
