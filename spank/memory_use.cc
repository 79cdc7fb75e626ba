// SPDX-License-Identifier: GPL-2.0-or-later
// Reads /proc: users and memory of processes.
#include "spank/memory_use.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <unordered_map>

#include "base/file.hpp"
#include "base/file_system_user.hpp"
#include "base/strings.hpp"

namespace slurmk8s {
namespace {

/** A process may have 65536 groups, which its status lists. */
constexpr std::size_t kMaxText = 1 << 20;
/** More than the processes of a pod. */
constexpr int kDeepest = 4096;

/** The rest of the line that begins with "KEY:". */
std::optional<std::string_view> value_of(std::string_view text, std::string_view key) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    const std::string_view line = text.substr(at, end - at);
    if (line.size() > key.size() && line[key.size()] == ':' && line.starts_with(key)) {
      return trim(line.substr(key.size() + 1));
    }
    if (end == std::string_view::npos) break;
    at = end + 1;
  }
  return std::nullopt;
}

/** The number at the beginning of `text`. */
std::optional<std::uint64_t> leading_number(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end == text.data()) return std::nullopt;
  return number;
}

std::optional<std::uint64_t> number_of(std::string_view text, std::string_view key) {
  const auto value = value_of(text, key);
  return value ? leading_number(*value) : std::nullopt;
}

/** Of a line such as "RssAnon:     128 kB". */
std::uint64_t bytes_of(std::string_view text, std::string_view key) { return number_of(text, key).value_or(0) * 1024; }

std::uint64_t shares_of(const std::string& proc, const MemoryProcess& process) {
  const FileSystemUser as_user(process.user, process.group);
  const auto text = read_file(proc + "/" + std::to_string(process.pid) + "/smaps_rollup", kMaxText);
  if (!text) return text.error().code() == Errc::forbidden ? process.bytes : 0;  // not permitted, or it has ended
  return parse_shares(*text).value_or(process.bytes);
}

std::optional<MemoryProcess> read_one(const std::string& folder, pid_t pid) {
  const auto status = read_file(folder + "/status", kMaxText);
  if (!status) return std::nullopt;
  auto process = parse_memory_process(pid, *status, "");
  if (!process || !process->stepd) return process;
  const auto title = read_file(folder + "/cmdline", kMaxText);
  return parse_memory_process(pid, *status, title ? std::string_view(*title) : "");
}

}  // namespace

std::optional<MemoryProcess> parse_memory_process(pid_t pid, std::string_view status, std::string_view title) {
  const auto parent = number_of(status, "PPid");
  const auto user = number_of(status, "Uid");
  const auto group = number_of(status, "Gid");
  if (!parent || !user || !group) return std::nullopt;
  MemoryProcess process;
  process.pid = pid;
  process.parent = static_cast<pid_t>(*parent);
  process.user = static_cast<uid_t>(*user);
  process.group = static_cast<gid_t>(*group);
  const std::string_view state = value_of(status, "State").value_or("");
  process.zombie = !state.empty() && (state[0] == 'Z' || state[0] == 'X');
  process.stopped = !state.empty() && (state[0] == 'T' || state[0] == 't');
  process.stepd = process.user == 0 && value_of(status, "Name").value_or("") == "slurmstepd";
  constexpr std::string_view kTitle = "slurmstepd: [";  // slurmstepd: [7.batch]
  if (process.stepd && title.starts_with(kTitle)) {
    process.job = static_cast<std::uint32_t>(leading_number(title.substr(kTitle.size())).value_or(0));
  }
  process.bytes = bytes_of(status, "RssAnon") + bytes_of(status, "RssShmem");
  return process;
}

std::optional<std::uint64_t> parse_shares(std::string_view smaps_rollup) {
  if (!number_of(smaps_rollup, "Pss")) return std::nullopt;
  if (!number_of(smaps_rollup, "Pss_Anon")) return bytes_of(smaps_rollup, "Pss");
  return bytes_of(smaps_rollup, "Pss_Anon") + bytes_of(smaps_rollup, "Pss_Shmem");
}

Result<std::vector<MemoryProcess>> read_memory(const std::string& proc) {
  std::error_code failed;
  std::filesystem::directory_iterator entry(proc, failed);
  if (failed) return Error(Errc::unavailable, proc + ": " + failed.message());
  std::vector<MemoryProcess> all;
  while (entry != std::filesystem::directory_iterator()) {
    const auto pid = parse_int(entry->path().filename().string());
    if (pid && *pid > 0) {
      if (const auto process = read_one(entry->path().string(), static_cast<pid_t>(*pid))) all.push_back(*process);
    }
    entry.increment(failed);
    if (failed) return Error(Errc::unavailable, proc + ": " + failed.message());
  }
  return all;
}

std::vector<MemoryProcess> processes_of_job(const std::vector<MemoryProcess>& all, std::uint32_t job, pid_t self) {
  std::unordered_map<pid_t, const MemoryProcess*> by_pid;
  for (const MemoryProcess& process : all) by_pid[process.pid] = &process;
  std::vector<MemoryProcess> found;
  for (const MemoryProcess& process : all) {
    if (process.zombie || process.stepd || process.pid == self) continue;
    auto at = by_pid.find(process.parent);
    for (int i = 0; at != by_pid.end() && i < kDeepest; ++i, at = by_pid.find(at->second->parent)) {
      if (at->second->pid != self && !(at->second->stepd && at->second->job == job)) continue;
      found.push_back(process);
      break;
    }
  }
  return found;
}

MemoryUse memory_use(const std::string& proc, const std::vector<MemoryProcess>& processes, std::uint64_t limit) {
  std::uint64_t largest = 0;
  std::uint64_t sum = 0;
  for (const MemoryProcess& process : processes) {
    largest = std::max(largest, process.bytes);
    sum += process.bytes;
  }
  if (sum <= limit) return {sum, true};
  if (largest > limit) return {largest, true};
  MemoryUse use{0, false};
  for (const MemoryProcess& process : processes) use.bytes += shares_of(proc, process);
  return use;
}

}  // namespace slurmk8s
