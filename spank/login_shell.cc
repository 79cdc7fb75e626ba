// SPDX-License-Identifier: GPL-2.0-or-later
// Runs a user's login shell: fork, permanently the user's ids, exec, and a deadline.
#include <fcntl.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>

#include "base/strings.hpp"
#include "spank/child_process.hpp"
#include "spank/login_env.hpp"

namespace slurmk8s {
namespace {

using std::chrono::milliseconds;
using Deadline = std::chrono::steady_clock::time_point;

constexpr std::size_t kMaxOutput = 262144;
/** How long to wait for a killed process; one that the kernel cannot end is left behind. */
constexpr int kMaxWaits = 100;
constexpr int kWaitMilliseconds = 10;

/** Drops all ids but the effective ones, permanently. */
bool keep_effective_ids() {
  const uid_t user = ::geteuid();
  const gid_t group = ::getegid();
  // Not with the C library, which would signal other threads, which the child does not have.
  if (::syscall(SYS_setresgid, group, group, group) != 0) return false;
  if (::syscall(SYS_setresuid, user, user, user) != 0) return false;
  return user != 0 && ::getuid() == user && ::syscall(SYS_setresuid, 0, 0, 0) != 0;
}

/** In the child, between fork and exec: async-signal-safe calls only. */
[[noreturn]] void become(const Account& account, char* const* arguments, char* const* environment, int output) {
  ::setsid();
  reset_signals();
  // Slurm may have closed its descriptor 0, which `output` may have reused: copied first.
  if (::dup2(output, 1) < 0) ::_exit(kCannotRun);
  const int null = ::open("/dev/null", O_RDWR);
  if (null < 0 || ::dup2(null, 0) < 0 || ::dup2(null, 2) < 0) ::_exit(kCannotRun);
  ::syscall(SYS_close_range, 3U, ~0U, 0U);
  if (!keep_effective_ids()) ::_exit(kCannotRun);
  if (::chdir(account.home.c_str()) != 0 && ::chdir("/") != 0) ::_exit(kCannotRun);
  ::execve(account.shell.c_str(), arguments, environment);
  ::_exit(kCannotRun);
}

/** Reads until the second mark, or the end of the output. */
Result<std::string> read_until(int fd, const std::string& mark, Deadline deadline) {
  const std::string line = mark + "\n";
  std::string text;
  for (;;) {
    const auto left = std::chrono::ceil<milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left <= milliseconds(0)) return Error(Errc::timeout, "the login shell did not end in time");
    pollfd look{fd, POLLIN, 0};
    if (::poll(&look, 1, static_cast<int>(left.count())) <= 0) continue;
    char buffer[8192];
    const ssize_t got = ::read(fd, buffer, sizeof buffer);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got < 0) return system_error("the login shell's output");
    if (got == 0) return text;
    text.append(buffer, static_cast<std::size_t>(got));
    if (text.ends_with(line) && text.find(line) != text.size() - line.size()) return text;
    if (text.size() > kMaxOutput) return Error(Errc::invalid, "the login shell printed more than 256 KiB");
  }
}

void end(pid_t pid) {
  ::kill(-pid, SIGKILL);
  ::kill(pid, SIGKILL);
  for (int i = 0; i < kMaxWaits && ::waitpid(pid, nullptr, WNOHANG) == 0; ++i) {
    ::poll(nullptr, 0, kWaitMilliseconds);
  }
}

}  // namespace

std::string new_mark() {
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof number, 0) != sizeof number) number = static_cast<std::uint64_t>(::getpid());
  return format("slurm-k8s-%016llx", static_cast<unsigned long long>(number));
}

Result<std::string> login_output(const Account& account, const std::vector<std::string>& arguments,
                                 const EnvChanges& environment, const std::string& mark, milliseconds limit) {
  if (::geteuid() == 0) return Error(Errc::forbidden, "refused to read a profile as root");
  std::vector<std::string> variables;
  for (const auto& [name, value] : environment) variables.push_back(name + "=" + value.value_or(""));
  const std::vector<char*> argv = pointers(arguments);
  const std::vector<char*> envp = pointers(variables);
  const auto become_shell = [&](int output) { become(account, argv.data(), envp.data(), output); };
  const ChildProcess child = SLURMK8S_TRY(start_child(become_shell));
  auto text = read_until(child.output.get(), mark, std::chrono::steady_clock::now() + limit);
  end(child.pid);
  return text;
}

}  // namespace slurmk8s
