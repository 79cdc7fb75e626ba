// SPDX-License-Identifier: GPL-2.0-or-later
// An administrator's scripts: environment, time limit, errors; once per pod.
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <string>
#include <vector>

#include "base/file.hpp"
#include "base/strings.hpp"
#include "spank/scripts/command.hpp"
#include "spank/scripts/once.hpp"
#include "spank/scripts/script_env.hpp"

#include "support/cmocka.hpp"
#include "support/temporary_folder.hpp"

using namespace slurmk8s;
using namespace std::chrono_literals;

namespace {

constexpr auto kPlenty = 30s;

std::string run(const std::string& script, std::chrono::milliseconds limit = kPlenty) {
  const Status done = run_command({"/bin/sh", "-c", script}, {"PATH=/usr/bin:/bin", "A=b c"}, limit);
  return done ? "done" : done.error().message();
}

void last_line_of_a_script(void**) {
  assert_text(run("exit 0"), "done");
  assert_text(run("echo fine; exit 0"), "done");
  assert_text(run("exit 3"), "exit code 3: ");
  assert_text(run("echo one; echo two >&2; echo; exit 4"), "exit code 4: two");
  assert_text(run("printf 'no newline\\tand a tab'; exit 1"), "exit code 1: no newline and a tab");
  assert_text(run("kill -9 $$"), "signal 9: ");
  assert_text(run("head -c 300000 /dev/zero | tr '\\0' x; exit 5"), "exit code 5: " + std::string(160, 'x'));
  assert_text(run("i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done; exit 6"), "exit code 6: line 19999");
  const Status missing = run_command({"/no/such/program"}, {}, kPlenty);
  assert_text(missing.error().message(), "exit code 127: ");
}

void environment_of_a_script(void**) {
  assert_text(run("[ \"$A\" = 'b c' ] && [ -z \"$HOME\" ]"), "done");
  assert_text(run("if read line; then exit 1; fi"), "done");  // no input
  int ends[2];
  assert_int_equal(::pipe(ends), 0);  // not close-on-exec, as Slurm's may be
  const std::string descriptor = "/proc/self/fd/" + std::to_string(ends[0]);
  assert_text(run("if [ -e " + descriptor + " ]; then exit 1; fi"), "done");
  ::close(ends[0]);
  ::close(ends[1]);
}

/** A killed process stays a zombie until its parent waits for it. */
bool runs(const std::string& pid) {
  const std::string stat = read_file("/proc/" + pid + "/stat", 4096).value_or("");
  return !stat.empty() && stat.find(") Z ") == std::string::npos;
}

/** The words of a script that ends in no time. A busy machine starts it late: it gets longer until it has spoken. */
std::string words_of_the_killed(const std::string& script) {
  std::string words;
  for (std::chrono::milliseconds limit = 200ms; words.empty() && limit < kPlenty; limit *= 4) {
    const std::string result = run(script, limit);
    const std::string expected = "not done within " + std::to_string(limit.count()) + " ms: ";
    if (!result.starts_with(expected)) fail_msg("%s", result.c_str());
    words = result.substr(expected.size());
  }
  return words;
}

void a_script_that_takes_too_long(void**) {
  assert_text(words_of_the_killed("echo waiting for scratch; sleep 600; echo late"), "waiting for scratch");
  // Its children are killed too.
  const std::string child = words_of_the_killed("sleep 600 & echo $!; wait");
  for (int i = 0; runs(child) && i < 5000; ++i) ::usleep(1000);
  assert_false(runs(child));
  // Does not wait for children that hold the output open.
  const std::string words = run("sleep 600 & echo $!; exit 7");
  assert_text(words.substr(0, 13), "exit code 7: ");
  const auto left_behind = parse_int(words.substr(13));
  if (!left_behind || *left_behind < 2) fail_msg("%s", words.c_str());
  assert_int_equal(::kill(static_cast<pid_t>(*left_behind), SIGKILL), 0);  // it was there
}

void scripts_that_root_may_run(void**) {
  const TemporaryFolder folder;
  const std::string script = folder.write("setup", "#!/bin/sh\n");
  const auto verdict = [&] {
    const Status good = check_script(script);
    return good ? "good" : good.error().message();
  };
  ::chmod(script.c_str(), 0755);
  assert_text(verdict(), "good");
  ::chmod(script.c_str(), 0775);
  assert_text(verdict(), script + ": writable by group or others");
  ::chmod(script.c_str(), 0644);
  assert_text(verdict(), script + ": not an executable file");
  assert_text(check_script(folder.path()).error().message(), folder.path() + ": not an executable file");
  assert_text(check_script("/no/such").error().message(), "/no/such: no such file");
  if (::geteuid() != 0) return;
  ::chmod(script.c_str(), 0755);
  assert_int_equal(::chown(script.c_str(), 65534, 65534), 0);
  assert_text(verdict(), script + ": not owned by root");
}

void environment(void**) {
  const std::vector<std::string> host{"SLURM_JOB_ID=7",    "SLURMD_NODENAME=c-0", "SPANK_SLURM_JOB_ID=8",
                                      "LD_PRELOAD=/tmp/x", "PATH=/tmp",           "SLURM_K8S_POD=no",
                                      "SLURMX=1"};
  std::string got;
  const auto variables = script_environment(host, "SLURM_K8S_POD=c-0\nBASH_ENV=/tmp/x\n");
  for (const std::string& variable : variables.value()) got += variable + "|";
  assert_text(got,
              "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin|SLURM_JOB_ID=7|"
              "SLURMD_NODENAME=c-0|SLURM_K8S_POD=c-0|");
  assert_false(script_environment(host, "rubbish").ok());
}

void once_per_pod(void**) {
  const TemporaryFolder folder;
  const std::string marker = folder.path() + "/done";
  int calls = 0;
  const auto failing = [&] {
    ++calls;
    return Status(Error(Errc::unavailable, "no"));
  };
  const auto working = [&] {
    ++calls;
    return Status();
  };
  assert_text(once(marker, kPlenty, failing).error().message(), "no");
  assert_true(once(marker, kPlenty, working).ok());  // after a failure: again
  assert_true(once(marker, kPlenty, failing).ok());
  assert_int_equal(calls, 2);
  assert_false(once("/no/such/folder/done", kPlenty, working).ok());
}

void processes_wait_for_each_other(void**) {
  const TemporaryFolder folder;
  const std::string marker = folder.path() + "/done";
  int ready[2];
  int go[2];
  assert_int_equal(::pipe(ready), 0);
  assert_int_equal(::pipe(go), 0);
  const pid_t first = ::fork();
  if (first == 0) {
    ::close(go[1]);  // its read ends when the parent closes the other end
    const Status done = once(marker, kPlenty, [&] {
      char byte = 'x';
      if (::write(ready[1], &byte, 1) != 1) return Status(Error(Errc::internal, "write"));
      while (::read(go[0], &byte, 1) > 0) {
      }
      return Status();
    });
    ::_exit(done ? 0 : 1);
  }
  char byte = 0;
  assert_int_equal(::read(ready[0], &byte, 1), 1);
  bool called = false;
  const auto work = [&] {
    called = true;
    return Status();
  };
  assert_text(once(marker, 100ms, work).error().message(), "pod set-up started by another job has not finished");
  ::close(go[1]);
  assert_true(once(marker, kPlenty, work).ok());
  assert_false(called);  // the first did it
  int status = 1;
  assert_int_equal(::waitpid(first, &status, 0), first);
  assert_int_equal(status, 0);
  for (const int fd : {ready[0], ready[1], go[0]}) ::close(fd);
}

}  // namespace

int main() {
  const CMUnitTest tests[] = {SLURMK8S_TEST(last_line_of_a_script),
                              SLURMK8S_TEST(environment_of_a_script),
                              SLURMK8S_TEST(a_script_that_takes_too_long),
                              SLURMK8S_TEST(scripts_that_root_may_run),
                              SLURMK8S_TEST(environment),
                              SLURMK8S_TEST(once_per_pod),
                              SLURMK8S_TEST(processes_wait_for_each_other)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
