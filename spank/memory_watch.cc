// SPDX-License-Identifier: GPL-2.0-or-later
// The watch's thread: poll, wait, and the end of the job.
#include "spank/memory_watch.hpp"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <vector>

#include "base/guarded.hpp"
#include "base/thread.hpp"
#include "spank/memory_use.hpp"

using namespace std::chrono_literals;

namespace slurmk8s {
namespace {

constexpr const char* kProc = "/proc";
/** Processes created meanwhile are found by the next pass. */
constexpr int kRounds = 20;
constexpr auto kAgain = 20ms;

std::vector<MemoryProcess> job_processes(std::uint32_t job) {
  const auto all = read_memory(kProc);
  return all ? processes_of_job(*all, job, ::getpid()) : std::vector<MemoryProcess>();
}

/** Repeats until all have stopped. A busy machine delays the signal: each round waits longer, 0.4 s in all. */
void stop_all(std::uint32_t job) {
  for (int round = 0; round < kRounds; ++round) {
    bool more = false;
    for (const MemoryProcess& process : job_processes(job)) {
      if (!process.stopped) more |= ::kill(process.pid, SIGSTOP) == 0;
    }
    if (!more) return;
    std::this_thread::sleep_for(2ms * round);
  }
}

/** Repeats until there is none left. */
void kill_all(std::uint32_t job) {
  for (int round = 0; round < kRounds; ++round) {
    const std::vector<MemoryProcess> left = job_processes(job);
    if (left.empty()) return;
    for (const MemoryProcess& process : left) ::kill(process.pid, SIGKILL);
    std::this_thread::sleep_for(kAgain);
  }
}

}  // namespace

std::chrono::microseconds next_check(std::uint64_t before, std::uint64_t used, std::uint64_t limit,
                                     std::chrono::microseconds took) {
  using std::chrono::microseconds;
  constexpr microseconds kMaxPause = std::chrono::seconds(30);
  const bool fast = used > before && used - before > limit / 32;
  const microseconds pause = std::chrono::milliseconds(fast ? 20 : 100);
  return std::max(pause, std::min(50 * took, kMaxPause));
}

MemoryWatch::MemoryWatch(MemoryLimit limit, EndJob end_job) : limit_(limit), end_job_(std::move(end_job)) {
  thread_ = start_without_signals([this] {
    enter_thread("slurm-k8s-mem");
    guarded_void("memory watch", [this] { run(); });
  });
}

MemoryWatch::~MemoryWatch() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

bool MemoryWatch::pause(std::chrono::microseconds time) {
  std::unique_lock lock(mutex_);
  return !changed_.wait_for(lock, time, [this] { return ended_; });
}

void MemoryWatch::run() {
  using std::chrono::microseconds;
  std::uint64_t before = 0;
  bool was_over = false;
  microseconds wait = next_check(0, 0, limit_.bytes, microseconds(0));
  while (pause(wait)) {
    const auto begin = std::chrono::steady_clock::now();
    const MemoryUse use = memory_use(kProc, job_processes(limit_.job), limit_.bytes);
    const auto took = std::chrono::duration_cast<microseconds>(std::chrono::steady_clock::now() - begin);
    const bool over = use.bytes > limit_.bytes;
    if (over && (use.certain || was_over)) {
      stop_all(limit_.job);
      end_job_(use.bytes);
      kill_all(limit_.job);
      return;
    }
    wait = over ? microseconds(0) : next_check(before, use.bytes, limit_.bytes, took);
    before = use.bytes;
    was_over = over;
  }
}

}  // namespace slurmk8s
