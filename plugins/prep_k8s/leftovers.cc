// SPDX-License-Identifier: GPL-2.0-or-later
// Which processes are left of a job, and killing them.
#include "prep_k8s/leftovers.hpp"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/file.hpp"
#include "base/strings.hpp"
#include "base/unique_fd.hpp"

namespace slurmk8s {
namespace {

/** A process may have 65536 groups, which its status lists. */
constexpr std::size_t kMaxText = 1 << 20;
constexpr int kPauseMilliseconds = 10;
/** More than the processes of a pod. */
constexpr int kMaxDepth = 4096;

using ByPid = std::unordered_map<pid_t, const Process*>;

/** The ancestors of a process, the nearest first; the process itself comes before them. */
template <typename Fn>
void climb(const ByPid& by_pid, const Process& process, Fn&& fn) {
  const Process* at = &process;
  for (int i = 0; at && i < kMaxDepth; ++i) {
    if (!fn(*at)) return;
    const auto parent = by_pid.find(at->parent);
    at = parent == by_pid.end() ? nullptr : parent->second;
  }
}

const Process* step_of(const ByPid& by_pid, const Process& process) {
  const Process* step = nullptr;
  climb(by_pid, process, [&](const Process& at) {
    if (at.stepd) step = &at;
    return !step;
  });
  return step;
}

bool is_from_outside(const ByPid& by_pid, const Process& process) {
  bool outside = false;
  climb(by_pid, process, [&](const Process& at) {
    outside = at.parent == 0 && at.pid != 1;
    return true;
  });
  return outside;
}

enum class Owner { user, another, unknown };

/** The user of another job's slurmstepd: as recorded, or that of its processes. */
Owner owner_of(const Process& step, const std::vector<Process>& all, const ByPid& by_pid, uid_t user,
               const JobUsers& jobs) {
  const auto noted = jobs.find(step.job);
  if (noted != jobs.end()) return noted->second == user ? Owner::user : Owner::another;
  Owner owner = Owner::unknown;
  for (const Process& process : all) {
    if (process.stepd || process.user == 0 || step_of(by_pid, process) != &step) continue;
    if (process.user == user) return Owner::user;
    owner = Owner::another;
  }
  return owner;
}

bool has_noted_job(std::uint32_t job, uid_t user, const JobUsers& jobs) {
  return std::any_of(jobs.begin(), jobs.end(),
                     [&](const auto& other) { return other.first != job && other.second == user; });
}

/** The value after `key` in lines such as "Uid:\t0\t0\t0\t0". */
std::optional<long long> first_number(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view rest = trim(text.substr(at + key.size(), 32));
  long long number = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
  if (error != std::errc() || end == rest.data()) return std::nullopt;
  return number;
}

/** Fields of /proc/PID/stat after the name, which may have blanks and parentheses. */
bool read_stat(std::string_view text, Process& process, std::string_view& name) {
  const std::size_t open = text.find('(');
  const std::size_t close = text.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return false;
  name = text.substr(open + 1, close - open - 1);
  const auto fields = split(trim(text.substr(close + 1)), ' ');
  constexpr std::size_t kParent = 1;
  constexpr std::size_t kStarted = 19;
  if (fields.size() <= kStarted) return false;
  const auto parent = parse_int(fields[kParent]);
  const auto started = parse_int(fields[kStarted]);
  if (!parent || !started) return false;
  process.zombie = fields[0] == "Z" || fields[0] == "X";
  process.parent = static_cast<pid_t>(*parent);
  process.started = static_cast<std::uint64_t>(*started);
  return true;
}

std::optional<Process> read_process(const std::string& folder, pid_t pid) {
  Process process;
  process.pid = pid;
  const auto stat = read_file(folder + "/stat", kMaxText);
  const auto status = read_file(folder + "/status", kMaxText);
  std::string_view name;
  if (!stat || !status || !read_stat(*stat, process, name)) return std::nullopt;
  const auto user = first_number(*status, "\nUid:");
  if (!user) return std::nullopt;
  process.user = static_cast<uid_t>(*user);
  process.stepd = process.user == 0 && name == "slurmstepd";
  if (!process.stepd) return process;
  const auto title = read_file(folder + "/cmdline", kMaxText);  // slurmstepd: [7.batch]
  process.job = static_cast<std::uint32_t>(title ? first_number(*title, "slurmstepd: [").value_or(0) : 0);
  return process;
}

bool is_same(const Process& process) {
  const auto now = read_process("/proc/" + std::to_string(process.pid), process.pid);
  return now && now->started == process.started && now->user == process.user && !now->stepd;
}

/** False when another process has the pid now. */
bool kill_process(const Process& process) {
  const UniqueFd fd(static_cast<int>(::syscall(SYS_pidfd_open, process.pid, 0)));
  if (!fd && errno != ENOSYS && errno != EPERM) return false;
  if (!is_same(process)) return false;
  return (fd ? ::syscall(SYS_pidfd_send_signal, fd.get(), SIGKILL, nullptr, 0) : ::kill(process.pid, SIGKILL)) == 0;
}

}  // namespace

Leftovers find_leftovers(const std::vector<Process>& all, pid_t slurmd, std::uint32_t job, uid_t user,
                         const JobUsers& jobs) {
  ByPid by_pid;
  for (const Process& process : all) by_pid[process.pid] = &process;
  const auto self = by_pid.find(slurmd);
  if (user == 0 || self == by_pid.end() || has_noted_job(job, user, jobs)) return {};
  Leftovers left;
  for (const Process& step : all) {
    if (!step.stepd || step.zombie) continue;
    if (step.job == job) {
      left.retry = true;
      continue;
    }
    const Owner owner = owner_of(step, all, by_pid, user, jobs);
    if (owner == Owner::user) return {};
    if (owner == Owner::unknown) return {{}, true};
  }
  for (const Process& process : all) {
    if (process.user != user || process.zombie || process.pid == 1 || process.pid == slurmd) continue;
    if (process.started < self->second->started || step_of(by_pid, process)) continue;
    if (!is_from_outside(by_pid, process)) left.kill.push_back(process);
  }
  return left;
}

Result<std::vector<Process>> read_processes(const char* proc) {
  std::error_code failed;
  std::filesystem::directory_iterator entry(proc, failed);
  if (failed) return Error(Errc::unavailable, std::string(proc) + ": " + failed.message());
  std::vector<Process> all;
  while (entry != std::filesystem::directory_iterator()) {
    const std::string name = entry->path().filename().string();
    if (const auto pid = parse_int(name); pid && *pid > 0) {
      if (const auto process = read_process(entry->path().string(), static_cast<pid_t>(*pid))) all.push_back(*process);
    }
    entry.increment(failed);
    if (failed) return Error(Errc::unavailable, std::string(proc) + ": " + failed.message());
  }
  return all;
}

unsigned kill_processes(const std::vector<Process>& processes) {
  unsigned killed = 0;
  for (const Process& process : processes) killed += kill_process(process);
  return killed;
}

unsigned kill_leftovers(std::uint32_t job, uid_t user, const JobUsers& jobs, std::chrono::milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  unsigned killed = 0;
  for (int quiet = 0;;) {
    const auto all = read_processes("/proc");
    if (!all) break;
    const Leftovers left = find_leftovers(*all, ::getpid(), job, user, jobs);
    killed += kill_processes(left.kill);
    quiet = left.kill.empty() && !left.retry ? quiet + 1 : 0;
    if (quiet == 2 || std::chrono::steady_clock::now() >= deadline) break;
    ::poll(nullptr, 0, kPauseMilliseconds);
  }
  return killed;
}

}  // namespace slurmk8s
