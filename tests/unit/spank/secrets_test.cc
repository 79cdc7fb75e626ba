// SPDX-License-Identifier: GPL-2.0-or-later
// Hidden paths and oom_score_adj. Mounts are tried in a child process, where root may.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "base/file.hpp"
#include "spank/oom_score.hpp"
#include "spank/secrets.hpp"

#include "support/cmocka.hpp"
#include "support/temporary_folder.hpp"

using namespace slurmk8s;

namespace {

constexpr int kNotPermitted = 77;

/** The exit code of `work`, done in a child. */
int in_child(const std::function<int()>& work) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(work());
  int status = 0;
  if (pid < 0 || ::waitpid(pid, &status, 0) != pid || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

void readable_files(void**) {
  const TemporaryFolder folder;
  const std::string token = folder.write("secret/..data/token", "t");
  std::filesystem::create_symlink("..data/token", folder.path() + "/secret/token");  // as kubelet makes them
  const std::string key = folder.write("key", "k");
  const std::string link = folder.path() + "/secret/token";
  const std::string missing = folder.path() + "/missing";
  assert_text(first_readable({missing, key}).value_or("none"), key);
  assert_text(first_readable({folder.path() + "/secret"}).value_or("none"), link);
  assert_text(first_readable({missing}).value_or("none"), "none");
  assert_text(first_readable({"/dev/null"}).value_or("none"), "none");  // what a hidden file is
  assert_text(first_readable({}).value_or("none"), "none");
  if (::geteuid() != 0) return;
  // Root reads everything: modes are a user's matter.
  ::chmod(key.c_str(), 0400);
  ::chmod(token.c_str(), 0400);
  ::chmod(folder.path().c_str(), 0755);
  const int code = in_child([&] {
    if (::setgid(65534) != 0 || ::setuid(65534) != 0) return 1;
    return first_readable({key, folder.path() + "/secret"}) ? 2 : 0;
  });
  assert_int_equal(code, 0);
  // As slurmstepd before a task: its real ids are still root's.
  const int effective = in_child([&] {
    if (::setegid(65534) != 0 || ::seteuid(65534) != 0) return 1;
    return first_readable({key, folder.path() + "/secret"}) ? 2 : 0;
  });
  assert_int_equal(effective, 0);
}

void hidden_paths(void**) {
  const TemporaryFolder folder;
  const std::string token = folder.write("secret/token", "t");
  const std::string key = folder.write("key", "k");
  const std::vector<std::string> paths{folder.path() + "/missing", folder.path() + "/secret", key};
  const int code = in_child([&] {
    const auto hidden = hide_paths(paths);
    if (!hidden) return 1;
    if (!*hidden) return kNotPermitted;
    if (first_readable(paths)) return 2;
    if (::access(token.c_str(), F_OK) == 0) return 3;
    if (read_file(key, 10).value_or("k") != "") return 4;
    if (std::ofstream(folder.path() + "/secret/new").good()) return 5;  // read-only
    return 0;
  });
  assert_text(read_file(key, 10).value_or("gone"), "k");  // nobody else's view has changed
  assert_int_equal(::access(token.c_str(), F_OK), 0);
  if (code == kNotPermitted) skip();
  assert_int_equal(code, 0);
}

void scores_are_raised(void**) {
  const TemporaryFolder folder;
  const std::string file = folder.write("oom_score_adj", "985\n");
  const auto content = [&] { return read_file(file, 100).value_or("unread"); };
  assert_true(raise_oom_score(file, 900).ok());
  assert_text(content(), "985\n");
  assert_true(raise_oom_score(file, 1000).ok());
  assert_text(content(), "1000");
  assert_false(raise_oom_score(folder.path() + "/missing", 1000).ok());
  const std::string rubbish = folder.write("rubbish", "x");
  assert_text(raise_oom_score(rubbish, 1000).error().message(), rubbish + ": not a number");
  const int code = in_child([] {
    if (!raise_oom_score("/proc/self/oom_score_adj", 1000)) return 1;
    return read_file("/proc/self/oom_score_adj", 100).value_or("") == "1000\n" ? 0 : 2;
  });
  assert_int_equal(code, 0);
}

}  // namespace

int main() {
  const CMUnitTest tests[] = {SLURMK8S_TEST(readable_files), SLURMK8S_TEST(hidden_paths),
                              SLURMK8S_TEST(scores_are_raised)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
