// SPDX-License-Identifier: GPL-2.0-or-later
// The login environment: arguments of a shell, parsing of its output, and a real shell with a time limit.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>

#include "base/file.hpp"
#include "base/strings.hpp"
#include "spank/login_env.hpp"

#include "support/cmocka.hpp"

using namespace slurmk8s;
using namespace std::string_view_literals;

namespace {

std::string shown(const EnvChanges& changes) {
  std::string text;
  for (const auto& [name, value] : changes) text += (text.empty() ? "" : "|") + name + "=" + value.value_or("(none)");
  return text;
}

std::string shown(const Result<EnvChanges>& changes) {
  return changes ? shown(*changes) : "error: " + changes.error().message();
}

void basics(void**) {
  assert_text(shown(basic_environment({"ada", "/home/ada", "/bin/bash"})),
              "HOME=/home/ada|LOGNAME=ada|PATH=/usr/local/bin:/usr/bin:/bin:/usr/local/games:/usr/games|"
              "SHELL=/bin/bash|USER=ada");
}

void arguments_of_a_shell(void**) {
  const struct {
    const char* shell;
    const char* expected;
  } cases[] = {
      {"/bin/bash", "-bash -l -c echo M; /usr/bin/env -0; echo M "},
      {"/usr/bin/zsh", "-zsh -l -c echo M; /usr/bin/env -0; echo M "},
      {"/bin/tcsh", "-tcsh -c echo M; /usr/bin/env -0; echo M "},
      {"sh", "-sh -l -c echo M; /usr/bin/env -0; echo M "},
  };
  for (const auto& row : cases) {
    std::string text;
    for (const std::string& argument : login_arguments(row.shell, "M")) text += argument + " ";
    assert_text(text, row.expected);
  }
}

void answers(void**) {
  const struct {
    std::string_view output;
    const char* expected;
  } cases[] = {
      {"M\nA=1\0B=2\0M\n"sv, "A=1|B=2"},
      {"M\nM\n"sv, ""},
      {"Welcome!\nHOME=/wrong\0\nM\nA=1\0M\n"sv, "A=1"},  // what a profile prints
      {"no newline M\nA=1\0M\nlogout\n"sv, "A=1"},        // and what it prints at the end
      {"M\nA=two\nlines\0B=\0C==\0M\n"sv, "A=two\nlines|B=|C=="},
      {"M\n_=/usr/bin/env\0PWD=/\0OLDPWD=/\0SHLVL=1\0TERM=x\0A=1\0M\n"sv, "A=1"},
      {"M\nDISPLAY=:0\0ENVIRONMENT=BATCH\0HOSTNAME=h\0A=1\0M\n"sv, "A=1"},
      {"M\n=1\0A\0\0B=2\0M\n"sv, "B=2"},
      {"M\nBASH_FUNC_f%%=() { :;\n}\0M\n"sv, "BASH_FUNC_f%%=() { :;\n}"},
      {""sv, "error: the login shell did not print its environment"},
      {"M\nA=1\0B="sv, "error: the login shell did not print its environment"},  // cut
      {"This account is currently not available.\n"sv, "error: the login shell did not print its environment"},
  };
  for (const auto& row : cases) assert_text(shown(parse_login_output(row.output, "M")), row.expected);
}

void passed_variables_win(void**) {
  const EnvChanges login{{"HOME", "/home/ada"}, {"FOO", "profile"}, {"PATH", "/bin"}};
  assert_text(shown(without_names(login, {"FOO", "SLURM_JOB_ID"})), "HOME=/home/ada|PATH=/bin");
  assert_text(shown(without_names(login, {})), "HOME=/home/ada|FOO=profile|PATH=/bin");
}

/** In a child with another user's effective id: root runs no profile. The result goes through a file. */
std::string as_user(const std::string& folder, const std::string& profile, std::chrono::milliseconds limit) {
  std::ofstream(folder + "/.profile") << profile;
  const std::string result = folder + "/result";
  const pid_t pid = ::fork();
  if (pid == 0) {
    if (::geteuid() == 0 && (::setegid(65534) != 0 || ::seteuid(65534) != 0)) ::_exit(1);
    const Account account{"ada", folder, "/bin/sh"};
    const auto output =
        login_output(account, login_arguments(account.shell, "M"), basic_environment(account), "M", limit);
    const auto login = output ? parse_login_output(*output, "M") : Result<EnvChanges>(output.error());
    if (::getuid() == 0 && (::seteuid(0) != 0 || ::setegid(0) != 0)) ::_exit(1);
    std::ofstream(result) << shown(login);
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  assert_int_equal(status, 0);
  return read_file(result, 1000000).value_or("no result");
}

class Home {
 public:
  Home() {
    assert_non_null(::mkdtemp(path_));
    ::chmod(path_, 0777);
  }
  ~Home() {
    for (const char* name : {"/.profile", "/result", "/pid"}) ::unlink((folder() + name).c_str());
    ::rmdir(path_);
  }
  std::string folder() const { return path_; }

 private:
  char path_[32] = "/tmp/login_env_XXXXXX";
};

constexpr std::chrono::seconds kLong{30};

void a_real_shell(void**) {
  const Home home;
  const std::string folder = home.folder();
  std::string text = as_user(folder, "echo hello; export MINE='two\nlines' WHERE=$(pwd) WHO=$(id -u)", kLong);
  const std::string uid = std::to_string(::geteuid() == 0 ? 65534 : ::geteuid());
  for (const std::string& part :
       {"HOME=" + folder, std::string("USER=ada"), std::string("MINE=two\nlines"), "WHERE=" + folder, "WHO=" + uid}) {
    const bool has = ("|" + text + "|").find("|" + part + "|") != std::string::npos;
    if (!has) fail_msg("no %s in %s", part.c_str(), text.c_str());
  }
  // The ids are permanently the user's.
  text = as_user(folder, "export IDS=$(sed -n 's/^Uid:[[:space:]]*//p' /proc/self/status | tr '\\t' ,)", kLong);
  assert_non_null(std::strstr(text.c_str(), ("IDS=" + uid + "," + uid + "," + uid + "," + uid).c_str()));
  // A child that holds the output open does not delay the end.
  assert_non_null(std::strstr(as_user(folder, "sleep 60 & export MINE=1", kLong).c_str(), "MINE=1"));
  assert_text(as_user(folder, "exit 3", kLong), "error: the login shell did not print its environment");
  assert_text(as_user(folder, "while :; do echo 0123456789012345678901234567890123456789; done", kLong),
              "error: the login shell printed more than 256 KiB");
}

auto pid_in(const std::string& file) { return parse_int(trim(read_file(file, 100).value_or(""))); }

bool is_gone(const std::string& pid_file) {
  const auto pid = pid_in(pid_file);
  assert_true(pid.has_value());
  const std::string stat = read_file("/proc/" + std::to_string(*pid) + "/stat", 4096).value_or("");
  return stat.empty() || stat.find(") Z ") != std::string::npos;
}

void a_profile_that_hangs(void**) {
  const Home home;
  const std::string pid_file = home.folder() + "/pid";
  // A busy machine starts the shell late: it gets longer until it has begun.
  for (std::chrono::milliseconds limit(700); limit < kLong && !pid_in(pid_file); limit *= 4)
    assert_text(as_user(home.folder(), "echo $$ >pid; sleep 600", limit), "error: the login shell did not end in time");
  assert_true(is_gone(pid_file));
}

void root_has_no_profile(void**) {
  if (::geteuid() != 0) skip();
  const Account account{"root", "/root", "/bin/sh"};
  const auto output = login_output(account, login_arguments(account.shell, "M"), {}, "M", kLong);
  assert_text(output ? "ran" : output.error().message(), "refused to read a profile as root");
}

}  // namespace

int main() {
  const CMUnitTest tests[] = {cmocka_unit_test(basics),
                              cmocka_unit_test(arguments_of_a_shell),
                              cmocka_unit_test(answers),
                              cmocka_unit_test(passed_variables_win),
                              cmocka_unit_test(a_real_shell),
                              cmocka_unit_test(a_profile_that_hangs),
                              cmocka_unit_test(root_has_no_profile)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
