// SPDX-License-Identifier: GPL-2.0-or-later
// Processes that outlive their job: selection, parsing of /proc, and killing a real one.
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/strings.hpp"
#include "prep_k8s/leftovers.hpp"

#include "support/cmocka.hpp"

using namespace slurmk8s;

namespace {

constexpr uid_t kAda = 1000;
constexpr uid_t kBob = 1001;

/** "PID PARENT USER STARTED", then "job=N" for a slurmstepd, or "zombie". */
Process process_of(std::string_view line) {
  Process process;
  const auto fields = split(line, ' ');
  process.pid = static_cast<pid_t>(*parse_int(fields[0]));
  process.parent = static_cast<pid_t>(*parse_int(fields[1]));
  process.user = static_cast<uid_t>(*parse_int(fields[2]));
  process.started = static_cast<std::uint64_t>(*parse_int(fields[3]));
  if (fields.size() < 5) return process;
  process.zombie = fields[4] == "zombie";
  process.stepd = fields[4].starts_with("job=");
  if (process.stepd) process.job = static_cast<std::uint32_t>(*parse_int(fields[4].substr(4)));
  return process;
}

/** tini is 1, the entrypoint's munged 5, slurmd 10. */
std::string killed(std::string_view more, uid_t user, const JobUsers& jobs) {
  std::vector<Process> all;
  for (const std::string_view line : {"1 0 0 100", "5 1 300 101", "10 1 0 110"}) all.push_back(process_of(line));
  for (const std::string_view line : split(more, ';')) {
    if (!line.empty()) all.push_back(process_of(line));
  }
  std::string text;
  const Leftovers left = find_leftovers(all, 10, 7, user, jobs);
  for (const Process& process : left.kill) text += std::to_string(process.pid) + " ";
  return text + (left.retry ? "again" : "");
}

/** Job 7 has ended. */
void selects_processes(void**) {
  const struct {
    const char* what;
    const char* processes;
    uid_t user;
    JobUsers jobs;
    const char* expected;
  } cases[] = {
      {"nothing is left", "", kAda, {}, ""},
      {"an orphan and its child", "20 1 1000 200;21 20 1000 201", kAda, {}, "20 21 "},
      {"the job's own entry doesn't protect", "20 1 1000 200", kAda, {{7, kAda}}, "20 "},
      {"its own slurmstepd, which ends", "20 1 1000 200;30 10 0 150 job=7", kAda, {}, "20 again"},
      {"another user's", "20 1 1001 200", kAda, {}, ""},
      {"another user has a job", "20 1 1000 200;30 10 0 300 job=8;31 30 1001 301", kAda, {}, "20 "},
      {"another user has a job that does nothing now", "20 1 1000 200", kAda, {{8, kBob}}, "20 "},
      {"another user's job, whose slurmstepd begins", "20 1 1000 200;30 10 0 300 job=8", kAda, {{8, kBob}}, "20 "},
      {"the user has a job", "20 1 1000 200;30 10 0 300 job=8;31 30 1000 301", kAda, {}, ""},
      {"its step runs something as root", "20 1 1000 200;30 10 0 300 job=8;31 30 0 301;32 31 1000 302", kAda, {}, ""},
      {"the user has a job without a step now", "20 1 1000 200", kAda, {{8, kAda}}, ""},
      {"a slurmstepd begins, whose user isn't known", "20 1 1000 200;30 10 0 300 job=8", kAda, {}, "again"},
      {"a slurmstepd without a title", "20 1 1000 200;30 10 0 300 job=0", kAda, {{8, kBob}}, "again"},
      {"a slurmstepd that has ended", "20 1 1000 200;30 10 0 300 zombie", kAda, {}, "20 "},
      {"below a slurmstepd", "20 1 1000 200;30 10 0 150 job=7;31 30 1000 301;32 31 1000 302", kAda, {}, "20 again"},
      {"root", "20 1 0 200", 0, {}, ""},
      {"what the entrypoint started", "", 300, {}, ""},
      {"a service of this user", "6 1 1000 109;20 1 1000 200", kAda, {}, "20 "},
      {"by kubectl exec", "40 0 1000 200;41 40 1000 201;42 0 0 202;43 42 1000 203", kAda, {}, ""},
      {"an orphan of such a one", "41 1 1000 201", kAda, {}, "41 "},
      {"a zombie", "20 1 1000 200 zombie", kAda, {}, ""},
      {"a parent that has gone meanwhile", "20 99 1000 200", kAda, {}, "20 "},
      {"a circle, as pids are used again", "20 21 1000 200;21 20 1000 200", kAda, {}, "20 21 "},
  };
  for (const auto& row : cases) {
    const std::string got = killed(row.processes, row.user, row.jobs);
    if (got != row.expected) fail_msg("%s: '%s', not '%s'", row.what, got.c_str(), row.expected);
  }
  const std::vector<Process> without_slurmd{process_of("1 0 0 100"), process_of("20 1 1000 200")};
  assert_true(find_leftovers(without_slurmd, 10, 7, kAda, {}).kill.empty());
}

class Proc {
 public:
  Proc() { assert_non_null(::mkdtemp(path_)); }
  ~Proc() { std::filesystem::remove_all(path_); }
  void add(const char* pid, const char* stat, const char* status, std::string_view cmdline) {
    const std::string folder = std::string(path_) + "/" + pid;
    ::mkdir(folder.c_str(), 0755);
    std::ofstream(folder + "/stat") << stat;
    std::ofstream(folder + "/status") << status;
    std::ofstream(folder + "/cmdline") << cmdline;
  }
  const char* path() const { return path_; }

 private:
  char path_[32] = "/tmp/leftovers_XXXXXX";
};

constexpr const char* kRest = " 5 5 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 4242 10 11";

std::string shown(const char* proc) {
  const auto all = read_processes(proc);
  if (!all) return "error";
  std::string text;
  for (const Process& process : *all) {
    text += format("%d %d %u %llu%s%s %u", static_cast<int>(process.pid), static_cast<int>(process.parent),
                   process.user, static_cast<unsigned long long>(process.started), process.stepd ? " stepd" : "",
                   process.zombie ? " zombie" : "", process.job);
  }
  return text;
}

void parses_proc(void**) {
  const struct {
    const char* name;
    const char* state;
    const char* user;
    std::string_view cmdline;
    const char* expected;
  } cases[] = {
      {"sleep", "S 1", "1000\t0\t0\t0", "sleep", "9 1 1000 4242 0"},  // the real one counts
      {"a) S 3 (b", "S 1", "1000\t1000", "a", "9 1 1000 4242 0"},
      {"sh", "Z 1", "1000\t1000", "", "9 1 1000 4242 zombie 0"},
      {"slurmstepd", "S 10", "0\t0", "slurmstepd: [12.batch]", "9 10 0 4242 stepd 12"},
      {"slurmstepd", "S 10", "0\t0", "slurmstepd: [12.0 stepmgr]", "9 10 0 4242 stepd 12"},
      {"slurmstepd", "S 10", "0\t0", "/usr/sbin/slurmstepd", "9 10 0 4242 stepd 0"},
      {"slurmstepd", "S 1", "1000\t1000", "slurmstepd: [12.batch]", "9 1 1000 4242 0"},  // a user's trick
      {"sh", "S 1", "x", "", ""},
  };
  for (const auto& row : cases) {
    Proc proc;
    const std::string stat = std::string("9 (") + row.name + ") " + row.state + kRest;
    proc.add("9", stat.c_str(), (std::string("Name:\tx\nUid:\t") + row.user + "\nGid:\t0\n").c_str(), row.cmdline);
    proc.add("self", "", "", "");
    const std::string got = shown(proc.path());
    assert_text(got, row.expected);
  }
  assert_text(shown("/nowhere"), "error");
}

std::string shown(const JobUsers& jobs) {
  std::string text;
  for (const auto& [job, user] : jobs) text += std::to_string(job) + "=" + std::to_string(user) + " ";
  return text;
}

void jobs_are_recorded(void**) {
  const Proc root;
  const std::string folder = std::string(root.path()) + "/jobs";
  assert_text(shown(*noted_jobs(folder)), "");
  assert_true(note_job(folder, 7, 1000).ok());
  assert_true(note_job(folder, 8, 4294967294U).ok());
  assert_true(note_job(folder, 7, 1000).ok());  // a prolog that is run once more
  for (const char* other : {"x.1", "9", "9.1.2", "0.5", "-3.5", "9.99999999999"}) std::ofstream(folder + "/" + other);
  assert_text(shown(*noted_jobs(folder)), "7=1000 8=4294967294 ");
  forget_job(folder, 7, 1000);
  forget_job(folder, 7, 1000);
  assert_text(shown(*noted_jobs(folder)), "8=4294967294 ");
  assert_error(noted_jobs(folder + "/8.4294967294"), Errc::unavailable, "Not a directory");
  assert_false(note_job("/proc/self/none", 7, 1000).ok());
}

/** A process of `user` in its own session, whose parent has ended; its pid. */
pid_t start_orphan(uid_t user) {
  int ends[2];
  assert_int_equal(::pipe(ends), 0);
  const pid_t parent = ::fork();
  if (parent == 0) {
    if (::setsid() < 0 || ::setgid(user) != 0 || ::setuid(user) != 0) ::_exit(1);
    if (::fork() != 0) ::_exit(0);
    const pid_t self = ::getpid();
    if (::write(ends[1], &self, sizeof self) != sizeof self) ::_exit(1);
    ::close(ends[1]);
    ::alarm(60);
    ::pause();
    ::_exit(0);
  }
  ::close(ends[1]);
  ::waitpid(parent, nullptr, 0);
  pid_t orphan = 0;
  assert_int_equal(::read(ends[0], &orphan, sizeof orphan), sizeof orphan);
  ::close(ends[0]);
  return orphan;
}

void a_real_process(void**) {
  if (::geteuid() != 0) skip();  // who isn't root can't become another user
  constexpr uid_t kUser = 64999;
  const pid_t orphan = start_orphan(kUser);
  auto all = read_processes("/proc").value_or({});
  std::erase_if(all, [](const Process& process) { return process.stepd; });  // of a Slurm on this machine
  const auto found = find_leftovers(all, ::getpid(), 7, kUser, {}).kill;
  auto reused = found;
  for (Process& process : reused) ++process.started;
  const unsigned killed_another = kill_processes(reused);
  const bool alive = ::kill(orphan, 0) == 0;
  const unsigned killed = kill_processes(found);
  if (killed == 0) ::kill(orphan, SIGKILL);
  assert_int_equal(found.size(), 1);
  assert_int_equal(found.front().pid, orphan);
  assert_int_equal(killed_another, 0);
  assert_true(alive);
  assert_int_equal(killed, 1);
}

}  // namespace

int main() {
  const CMUnitTest tests[] = {cmocka_unit_test(selects_processes), cmocka_unit_test(parses_proc),
                              cmocka_unit_test(jobs_are_recorded), cmocka_unit_test(a_real_process)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
