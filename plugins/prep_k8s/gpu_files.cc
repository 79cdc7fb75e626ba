// SPDX-License-Identifier: GPL-2.0-or-later
// Rules of device files.
#include "prep_k8s/gpu_files.hpp"

#include <algorithm>
#include <map>

#include "base/strings.hpp"

namespace slurmk8s {
namespace {

constexpr FileOwner kRootAlone{0, 0, 0600};

std::optional<unsigned> parse_number(std::string_view text) {
  constexpr std::int64_t kMax = 65535;
  const auto number = parse_int(text);
  if (!number || *number < 0 || *number > kMax) return std::nullopt;
  return static_cast<unsigned>(*number);
}

std::optional<mode_t> parse_mode(std::string_view text) {
  if (text.empty() || text.size() > 4) return std::nullopt;
  mode_t mode = 0;
  for (const char digit : text) {
    if (digit < '0' || digit > '7') return std::nullopt;
    mode = mode * 8 + static_cast<mode_t>(digit - '0');
  }
  return mode;
}

std::optional<GpuFile> parse_gpu_file(std::string_view line) {
  const auto words = split(line, ' ');
  if (words.size() != 5 || !words[4].starts_with("/dev/")) return std::nullopt;
  const auto gpu = parse_number(words[0]);
  const auto uid = parse_int(words[1]);
  const auto gid = parse_int(words[2]);
  const auto mode = parse_mode(words[3]);
  if ((!gpu && words[0] != "any") || !uid || !gid || !mode) return std::nullopt;
  return GpuFile{std::string(words[4]), gpu, {static_cast<uid_t>(*uid), static_cast<gid_t>(*gid), *mode}};
}

/** What /proc/self/mountinfo says of one mount. */
struct Mount {
  std::string_view root;  ///< the part of the file system that is mounted
  std::string_view point;
  std::string_view type;
};

std::optional<Mount> parse_mount(std::string_view line) {
  const auto words = split(line, ' ');
  const auto dash = std::find(words.begin(), words.end(), "-");
  if (words.size() < 6 || words.end() - dash < 2) return std::nullopt;
  return Mount{words[3], words[4], *(dash + 1)};
}

bool is_below(std::string_view path, std::string_view folder) {
  return path == folder || (path.starts_with(folder) && (folder == "/" || path.substr(folder.size()).starts_with('/')));
}

}  // namespace

std::set<unsigned> parse_gpus(std::string_view text) {
  std::set<unsigned> gpus;
  for (const std::string_view word : split(text, ',')) {
    if (const auto gpu = parse_number(trim(word))) gpus.insert(*gpu);
  }
  return gpus;
}

std::vector<GpuFile> parse_gpu_files(std::string_view text) {
  std::vector<GpuFile> files;
  for (const std::string_view line : split(text, '\n')) {
    if (auto file = parse_gpu_file(line)) files.push_back(std::move(*file));
  }
  return files;
}

FileOwner owner_of(const GpuFile& file, const std::vector<GpuJob>& jobs) {
  std::set<uid_t> users;
  for (const GpuJob& job : jobs) {
    if (file.gpu ? job.gpus.contains(*file.gpu) : !job.gpus.empty()) users.insert(job.user);
  }
  if (users.empty()) return kRootAlone;
  if (users.size() > 1) return file.original;
  return {*users.begin(), kRootAlone.gid, kRootAlone.mode};
}

std::string why_not_own(std::string_view mountinfo, std::string_view path) {
  std::map<std::string_view, int> times;  // by mount point
  Mount of_path;                          // the last one that covers it
  for (const std::string_view line : split(mountinfo, '\n')) {
    const auto mount = parse_mount(line);
    if (!mount) continue;
    ++times[mount->point];
    if (is_below(path, mount->point) && mount->point.size() >= of_path.point.size()) of_path = *mount;
  }
  if (of_path.point == path) return "it is a mount from outside of the container";
  if (of_path.point != "/dev") return "it is not in the container's /dev";
  if (of_path.type != "tmpfs" || of_path.root != "/") return "/dev is not the container's own";
  // A volume at /dev brings its own mounts (/dev/pts), over which the runtime mounts those of the container.
  const bool twice = std::any_of(times.begin(), times.end(),
                                 [](const auto& entry) { return is_below(entry.first, "/dev") && entry.second > 1; });
  return twice ? "/dev is a volume" : "";
}

}  // namespace slurmk8s
