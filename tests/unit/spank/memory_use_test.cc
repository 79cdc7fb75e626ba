// SPDX-License-Identifier: GPL-2.0-or-later
// spank/memory_use: which processes are of a job, and how much memory they use.
#include "spank/memory_use.hpp"

#include <linux/capability.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "base/file.hpp"
#include "support/cmocka.hpp"
#include "support/temporary_folder.hpp"
#include "support/memory_family.hpp"

using namespace slurmk8s;

namespace {

std::string status_text(const char* name, const char* state, int parent, int user, int anon, int shmem) {
  return "Name:\t" + std::string(name) + "\nUmask:\t0022\nState:\t" + state + "\nTgid:\t9\nPid:\t9\nPPid:\t" +
         std::to_string(parent) + "\nUid:\t" + std::to_string(user) + "\t0\t0\t0\nGid:\t" + std::to_string(user + 1) +
         "\t0\t0\t0\nVmRSS:\t   99999 kB\nRssAnon:\t   " + std::to_string(anon) +
         " kB\nRssFile:\t   5000 kB\nRssShmem:\t " + std::to_string(shmem) + " kB\n";
}

void parses_status(void**) {
  const auto task = parse_memory_process(7, status_text("a PPid:\t1 (x", "R (running)", 5, 1000, 300, 4), "");
  assert_true(task.has_value());
  assert_int_equal(task->pid, 7);
  assert_int_equal(task->parent, 5);
  assert_int_equal(task->user, 1000);
  assert_int_equal(task->group, 1001);
  assert_int_equal(task->bytes, 304 * 1024);
  assert_false(task->stepd || task->zombie || task->stopped);
  assert_true(parse_memory_process(7, status_text("a", "Z (zombie)", 5, 1000, 0, 0), "")->zombie);
  assert_true(parse_memory_process(7, status_text("a", "T (stopped)", 5, 1000, 0, 0), "")->stopped);
  // A kernel's thread has no memory.
  assert_int_equal(parse_memory_process(7, "Name:\tk\nPPid:\t2\nUid:\t0\nGid:\t0\n", "")->bytes, 0);
  for (const char* bad : {"", "Name:\tx\n", "PPid:\t\nUid:\t0\nGid:\t0\n", "PPid:\t1\nUid:\tx\nGid:\t0\n"}) {
    assert_false(parse_memory_process(7, bad, "").has_value());
  }
}

void job_of_a_slurmstepd(void**) {
  const struct {
    const char* name;
    int user;
    const char* title;
    bool stepd;
    std::uint32_t job;
  } cases[] = {
      {"slurmstepd", 0, "slurmstepd: [7.batch]", true, 7},
      {"slurmstepd", 0, "slurmstepd: [7.0+1]", true, 7},
      {"slurmstepd", 0, "/usr/sbin/slurmstepd", true, 0},
      {"slurmstepd", 1000, "slurmstepd: [7.batch]", false, 0},  // a user's program of that name
      {"bash", 0, "slurmstepd: [7.batch]", false, 0},
  };
  for (const auto& row : cases) {
    const auto process = parse_memory_process(1, status_text(row.name, "S", 1, row.user, 1, 1), row.title);
    assert_int_equal(process->stepd, row.stepd);
    assert_int_equal(process->job, row.job);
  }
}

void shares(void**) {
  const struct {
    const char* text;
    long long expected;  ///< KiB; -1: no such text
  } cases[] = {
      {"00-11 ---p 0 00:00 0 [rollup]\nRss: 900 kB\nPss: 700 kB\nPss_Dirty: 9 kB\nPss_Anon: 400 kB\nPss_File: 200 kB\n"
       "Pss_Shmem: 100 kB\n",
       500},
      {"Rss: 900 kB\nPss: 700 kB\nShared_Clean: 3 kB\n", 700},  // an older kernel
      {"Rss: 900 kB\n", -1},
      {"", -1},
  };
  for (const auto& row : cases) {
    const auto bytes = parse_shares(row.text);
    assert_int_equal(bytes ? static_cast<long long>(*bytes / 1024) : -1, row.expected);
  }
}

/** The pids found, of: 1 init, 10 slurmd, 20 and 21 slurmstepds of job 7, 30 of job 8, and what is below them. */
std::string found_of(std::uint32_t job, pid_t self) {
  const struct {
    pid_t pid;
    pid_t parent;
    std::uint32_t stepd_of;
  } rows[] = {{1, 0, 0},
              {10, 1, 0},
              {20, 10, 7},
              {21, 10, 7},
              {30, 10, 8},
              {40, 20, 0},
              {41, 40, 0},
              {42, 41, 0},
              // 70: detached; 80: a loop, of pids read twice
              {50, 21, 0},
              {60, 30, 0},
              {70, 1, 0},
              {71, 70, 0},
              {80, 81, 0},
              {81, 80, 0}};
  std::vector<MemoryProcess> all;
  for (const auto& row : rows) {
    MemoryProcess process;
    process.pid = row.pid;
    process.parent = row.parent;
    process.stepd = row.stepd_of != 0;
    process.job = row.stepd_of;
    process.zombie = row.pid == 42;
    all.push_back(process);
  }
  std::string pids;
  for (const MemoryProcess& process : processes_of_job(all, job, self)) pids += " " + std::to_string(process.pid);
  return pids;
}

void processes(void**) {
  assert_text(found_of(7, 20), " 40 41 50");
  assert_text(found_of(7, 21), " 40 41 50");
  assert_text(found_of(8, 30), " 60");
  assert_text(found_of(9, 30), " 60");  // its own title can't be read yet
  assert_text(found_of(9, 31), "");
}

// The kernel lists the groups of a process in its status.
void reads_a_process_with_many_groups(void**) {
  const TemporaryFolder proc;
  const std::string folder = proc.path() + "/7";
  assert_true(std::filesystem::create_directory(folder));
  std::string status = status_text("a", "R (running)", 1, 1000, 300, 4);
  status += "Groups:\t";
  for (int group = 100000; group < 165536; ++group) status += std::to_string(group) + " ";
  assert_ok(replace_file(folder + "/status", status));
  assert_int_equal(read_memory(proc.path())->size(), 1);
}

std::vector<MemoryProcess> below_this_one() {
  return processes_of_job(read_memory("/proc").value(), kNoJob, ::getpid());
}

void pages_that_are_shared_count_once(void**) {
  MemoryUse in_full;
  MemoryUse shared;
  MemoryUse largest;
  {
    const Family family(64 * kMiB, 4);
    in_full = memory_use("/proc", below_this_one(), 1000 * kMiB);
    shared = memory_use("/proc", below_this_one(), 100 * kMiB);
    largest = memory_use("/proc", below_this_one(), 50 * kMiB);
  }
  assert_in_range(in_full.bytes, 320 * kMiB, 400 * kMiB);
  assert_in_range(shared.bytes, 60 * kMiB, 90 * kMiB);
  assert_in_range(largest.bytes, 64 * kMiB, 90 * kMiB);
  assert_true(in_full.certain && largest.certain && !shared.certain);
}

/** As root in a pod, which may not trace processes. */
bool drop_tracing() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct sets[2];
  if (::syscall(SYS_capget, &header, sets) != 0) return false;
  for (const int capability : {CAP_SYS_PTRACE, CAP_SYS_ADMIN, 38 /* CAP_PERFMON */}) {
    sets[capability / 32].effective &= ~(1u << (capability % 32));
    sets[capability / 32].permitted &= ~(1u << (capability % 32));
  }
  return ::syscall(SYS_capset, &header, sets) == 0;
}

/** How many MiB a root without that right finds of a user's five processes of 64 MiB; 255: it failed. */
int seen_without_tracing() {
  const pid_t child = ::fork();
  if (child == 0) {
    int result = 255;
    {
      const Family family(64 * kMiB, 4, 12345);
      // Root cannot read it directly: else this would show nothing.
      const std::string pages = "/proc/" + std::to_string(family.first()) + "/smaps_rollup";
      const bool closed = drop_tracing() && !read_file(pages, 8192);
      const std::uint64_t use = memory_use("/proc", below_this_one(), 100 * kMiB).bytes;
      if (closed) result = static_cast<int>(std::min<std::uint64_t>(use / kMiB, 254));
    }
    ::_exit(result);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

void root_without_tracing_sees_it_too(void**) {
  if (::getuid() != 0) skip();
  assert_in_range(seen_without_tracing(), 60, 90);
}

}  // namespace

int main() {
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(reads_a_process_with_many_groups),
      SLURMK8S_TEST(parses_status),
      SLURMK8S_TEST(job_of_a_slurmstepd),
      SLURMK8S_TEST(shares),
      SLURMK8S_TEST(processes),
      SLURMK8S_TEST(pages_that_are_shared_count_once),
      SLURMK8S_TEST(root_without_tracing_sees_it_too),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
