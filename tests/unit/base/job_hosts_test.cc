// SPDX-License-Identifier: GPL-2.0-or-later
// base/job_hosts: lines of /etc/hosts that come and go with jobs.
#include "base/job_hosts.hpp"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include "base/file.hpp"
#include "base/strings.hpp"
#include "support/temporary_folder.hpp"

#include "support/cmocka.hpp"

namespace slurmk8s {
namespace {

constexpr const char* kPod = "127.0.0.1\tlocalhost\n10.0.0.1\tc-0.nodes.slurm\tc-0\n";

/** "10.0.0.2 c-1,10.0.0.3 c-2" */
std::vector<Host> hosts(std::string_view text) {
  std::vector<Host> all;
  for (const std::string_view part : split(text, ',')) {
    const auto words = split(part, ' ');
    all.push_back({std::string(words.at(1)), std::string(words.at(0))});
  }
  return all;
}

/** Our lines behind the pod's own: "10.0.0.2 c-1 7;" each. */
std::string shown(std::string_view text) {
  assert_true(text.starts_with(kPod));
  std::string out;
  for (const std::string_view line : split(text.substr(std::string_view(kPod).size()), '\n')) {
    for (const char c : line) out += c == '\t' ? ' ' : c;
    if (!line.empty()) out += ';';
  }
  for (std::size_t at; (at = out.find("# slurm-k8s job ")) != std::string::npos;) out.erase(at, 16);
  return out;
}

void names_of_jobs(void**) {
  const struct {
    const char* title;
    const char* before;  ///< "JOB ADDRESS NAME,…;" each
    std::uint32_t job;
    const char* hosts;
    const char* expected;
  } cases[] = {
      {"the own name is kubelet's", "", 7, "10.0.0.1 c-0,10.0.0.2 c-1", "10.0.0.2 c-1 7;"},
      {"several, IPv6", "", 7, "10.0.0.2 c-1,fd00::3 c-2", "10.0.0.2 c-1 7;fd00::3 c-2 7;"},
      {"the next step of the job", "7 10.0.0.2 c-1;", 7, "10.0.0.2 c-1", "10.0.0.2 c-1 7;"},
      {"another job with that node", "7 10.0.0.2 c-1;", 8, "10.0.0.2 c-1", "10.0.0.2 c-1 7;10.0.0.2 c-1 8;"},
      {"another job with another node", "7 10.0.0.2 c-1;", 8, "10.0.0.3 c-2", "10.0.0.2 c-1 7;10.0.0.3 c-2 8;"},
      {"the job begins again on others", "7 10.0.0.2 c-1;", 7, "10.0.0.3 c-2", "10.0.0.3 c-2 7;"},
      {"the job begins again: the pod is another", "7 10.0.0.2 c-1;", 7, "10.0.0.9 c-1", "10.0.0.9 c-1 7;"},
      {"a line that was left: the pod is another", "7 10.0.0.2 c-1;", 8, "10.0.0.9 c-1", "10.0.0.9 c-1 8;"},
      {"a name that begins with another", "", 7, "10.0.0.2 c-1,10.0.0.3 c-10", "10.0.0.2 c-1 7;10.0.0.3 c-10 7;"},
  };
  for (const auto& row : cases) {
    std::string text = kPod;
    for (const std::string_view entry : split(row.before, ';')) {
      if (entry.empty()) continue;
      const std::size_t blank = entry.find(' ');
      text = with_job_hosts(text, static_cast<std::uint32_t>(*parse_int(entry.substr(0, blank))),
                            hosts(entry.substr(blank + 1)));
    }
    text = with_job_hosts(text, row.job, hosts(row.hosts));
    if (shown(text) != row.expected) fail_msg("%s: %s", row.title, shown(text).c_str());
    assert_text(with_job_hosts(text, row.job, hosts(row.hosts)), text);
    assert_true(shown(without_job_hosts(text, row.job)).find(std::to_string(row.job) + ";") == std::string::npos);
  }
}

void lines_of_others_stay(void**) {
  const std::string text = with_job_hosts("10.1.1.1 c-1 # job 7\n10.1.1.2 x\n# slurm-k8s job\n#slurm-k8s job 7", 7,
                                          hosts("10.0.0.2 c-1,10.0.0.3 c-2"));
  assert_text(text,
              "10.1.1.1 c-1 # job 7\n10.1.1.2 x\n# slurm-k8s job\n#slurm-k8s job 7\n"
              "10.0.0.3\tc-2\t# slurm-k8s job 7\n");
  assert_text(without_job_hosts(text, 7), "10.1.1.1 c-1 # job 7\n10.1.1.2 x\n# slurm-k8s job\n#slurm-k8s job 7\n");
  assert_text(without_job_hosts(kPod, 7), kPod);
  assert_text(without_job_hosts("", 7), "");
}

void removes_the_lines_of_one_job(void**) {
  std::string text = with_job_hosts(kPod, 7, hosts("10.0.0.2 c-1"));
  text = with_job_hosts(text, 77, hosts("10.0.0.3 c-2"));
  assert_text(shown(without_job_hosts(text, 7)), "10.0.0.3 c-2 77;");
  assert_text(shown(without_job_hosts(text, 77)), "10.0.0.2 c-1 7;");
}

void writes_in_place(void**) {
  const TemporaryFolder folder;
  const std::string path = folder.write("hosts", kPod);
  const std::string lock = folder.path() + "/lock";
  struct stat before {
  }, after{};
  assert_int_equal(::stat(path.c_str(), &before), 0);
  assert_ok(change_hosts(path, lock, [](auto text) { return with_job_hosts(text, 7, hosts("10.0.0.2 c-1")); }));
  assert_text(shown(*read_file(path, 10000)), "10.0.0.2 c-1 7;");
  assert_ok(change_hosts(path, lock, [](auto text) { return without_job_hosts(text, 7); }));
  assert_text(*read_file(path, 10000), kPod);
  assert_int_equal(::stat(path.c_str(), &after), 0);
  assert_int_equal(before.st_ino, after.st_ino);
  assert_int_equal(before.st_mode, after.st_mode);
  const Status missing = change_hosts(folder.path() + "/none", lock, [](auto text) { return std::string(text); });
  assert_true(missing.error().message().find("/none") != std::string::npos);
}

// No change is lost, and a line that is always there is seen whenever somebody reads.
void many_at_a_time(void**) {
  const TemporaryFolder folder;
  const std::string path = folder.write("hosts", kPod);
  const std::string lock = folder.path() + "/lock";
  std::atomic<bool> end{false};
  std::atomic<int> partial{0};
  std::thread reader([&] {
    while (!end) {
      const auto text = read_file(path, 100000);
      if (!text || !text->starts_with(kPod)) ++partial;
    }
  });
  std::vector<std::thread> writers;
  for (std::uint32_t job = 1; job <= 4; ++job) {
    writers.emplace_back([&, job] {
      const auto mine = hosts("10.0.1." + std::to_string(job) + " c-" + std::to_string(job));
      for (int round = 0; round < 50; ++round) {
        (void)change_hosts(path, lock, [&](auto text) { return with_job_hosts(text, job, mine); });
        if (round < 49) (void)change_hosts(path, lock, [&](auto text) { return without_job_hosts(text, job); });
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  end = true;
  reader.join();
  assert_int_equal(partial.load(), 0);
  assert_int_equal(split(shown(*read_file(path, 100000)), ';').size(), 4 + 1);
}

// Part of a line has no mark, so no job would remove it.
void a_full_disk_leaves_what_was_there(void**) {
  const TemporaryFolder folder;
  const std::string path = folder.write("hosts", kPod);
  const std::string lock = folder.path() + "/lock";
  assert_true(change_hosts(path, lock, [](auto text) { return with_job_hosts(text, 1, hosts("10.0.0.2 c-1")); }).ok());
  const std::string before = *read_file(path, 100000);
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{before.size() + 9, before.size() + 9};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const auto more = [](auto text) {
      return with_job_hosts(text, 2, hosts("10.0.0.9 c-1,10.0.0.3 c-2,10.0.0.4 c-3"));
    };
    ::_exit(change_hosts(path, lock, more).ok() ? 1 : 0);
  }
  int status = 0;
  assert_int_equal(::waitpid(pid, &status, 0), pid);
  assert_int_equal(status, 0);
  assert_text(*read_file(path, 100000), before);
}

}  // namespace
}  // namespace slurmk8s

using namespace slurmk8s;

int main() {
  const CMUnitTest tests[] = {SLURMK8S_TEST(names_of_jobs),
                              SLURMK8S_TEST(lines_of_others_stay),
                              SLURMK8S_TEST(removes_the_lines_of_one_job),
                              SLURMK8S_TEST(writes_in_place),
                              SLURMK8S_TEST(many_at_a_time),
                              SLURMK8S_TEST(a_full_disk_leaves_what_was_there)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
