// SPDX-License-Identifier: GPL-2.0-or-later
// fork, exec, and a deadline.
#include "spank/scripts/command.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <optional>
#include <string_view>

#include "base/strings.hpp"
#include "spank/child_process.hpp"

namespace slurmk8s {
namespace {

using std::chrono::milliseconds;
using Deadline = std::chrono::steady_clock::time_point;

constexpr std::size_t kMaxLine = 160;
/** How often to check whether the program has ended: a child of it may hold the output open. */
constexpr milliseconds kPollInterval{50};

/** The last line with text in it, of output that comes in pieces; bounded however long lines are. */
class LastLine {
 public:
  void add(std::string_view text) {
    for (const char c : text) {
      if (c == '\n') {
        finish();
      } else if (line_.size() < kMaxLine) {
        line_ += static_cast<unsigned char>(c) < ' ' || c == 0x7f ? ' ' : c;
      }
    }
  }
  std::string take() {
    finish();
    return last_;
  }

 private:
  void finish() {
    if (const auto text = trim(line_); !text.empty()) last_ = text;
    line_.clear();
  }

  std::string line_;
  std::string last_;
};

/** In the child, between fork and exec: async-signal-safe calls only. */
[[noreturn]] void become(char* const* argv, char* const* environment, int output) {
  ::setpgid(0, 0);
  reset_signals();
  // Slurm may have closed its descriptor 0, which `output` may have reused: copied first.
  if (::dup2(output, 1) < 0 || ::dup2(output, 2) < 0) ::_exit(kCannotRun);
  const int input = ::open("/dev/null", O_RDONLY);
  if (input < 0 || ::dup2(input, 0) < 0) ::_exit(kCannotRun);
  ::syscall(SYS_close_range, 3U, ~0U, 0U);
  ::execve(argv[0], argv, environment);
  ::_exit(kCannotRun);
}

milliseconds left(Deadline deadline) {
  const auto now = std::chrono::steady_clock::now();
  return deadline <= now ? milliseconds(0) : std::chrono::ceil<milliseconds>(deadline - now);
}

/** Reads available output. False at its end. */
bool read_some(int fd, LastLine& line) {
  char buffer[4096];
  for (;;) {
    const ssize_t got = ::read(fd, buffer, sizeof buffer);
    if (got > 0) {
      line.add(std::string_view(buffer, static_cast<std::size_t>(got)));
    } else if (got == 0) {
      return false;
    } else if (errno != EINTR) {
      return errno == EAGAIN;
    }
  }
}

/** The program's wait status if it has ended; 0 if the status was already collected elsewhere. */
std::optional<int> ended(pid_t pid) {
  int status = 0;
  const pid_t got = ::waitpid(pid, &status, WNOHANG);
  if (got == pid) return status;
  if (got < 0 && errno == ECHILD) return 0;
  return std::nullopt;
}

std::optional<int> wait_for(pid_t pid, int output, Deadline deadline, LastLine& line) {
  bool open = true;
  milliseconds pause{1};  // between the end of the output and that of the program
  for (;;) {
    pollfd poll_fd{open ? output : -1, POLLIN, 0};
    const milliseconds wait = std::min(left(deadline), open ? kPollInterval : pause);
    if (!open) pause = std::min(2 * pause, kPollInterval);
    ::poll(&poll_fd, 1, static_cast<int>(wait.count()));
    if (open) open = read_some(output, line);
    if (const auto status = ended(pid)) {
      if (open) read_some(output, line);
      return status;
    }
    if (left(deadline) == milliseconds(0)) return std::nullopt;
  }
}

}  // namespace

Status run_command(const std::vector<std::string>& argv, const std::vector<std::string>& environment,
                   milliseconds limit) {
  const std::vector<char*> arguments = pointers(argv);
  const std::vector<char*> variables = pointers(environment);
  const auto become_program = [&](int output) { become(arguments.data(), variables.data(), output); };
  const ChildProcess child = SLURMK8S_TRY(start_child(become_program));
  ::setpgid(child.pid, child.pid);  // parent and child both set it: either may be first

  LastLine line;
  const auto status = wait_for(child.pid, child.output.get(), std::chrono::steady_clock::now() + limit, line);
  if (!status) {
    ::kill(-child.pid, SIGKILL);
    ::waitpid(child.pid, nullptr, 0);
    const auto waited = static_cast<long long>(limit.count());
    return Error(Errc::timeout, format("not done within %lld ms: %s", waited, line.take().c_str()));
  }
  if (*status == 0) return {};
  const bool killed = WIFSIGNALED(*status);
  return Error(Errc::unavailable, format("%s %d: %s", killed ? "signal" : "exit code",
                                         killed ? WTERMSIG(*status) : WEXITSTATUS(*status), line.take().c_str()));
}

Status check_script(const std::string& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return Error(Errc::not_found, path + ": no such file");
    return system_error(path);
  }
  if (!S_ISREG(found.st_mode) || ::access(path.c_str(), X_OK) != 0) {
    return Error(Errc::invalid, path + ": not an executable file");
  }
  if (found.st_uid != 0 && found.st_uid != ::geteuid()) return Error(Errc::invalid, path + ": not owned by root");
  if ((found.st_mode & (S_IWGRP | S_IWOTH)) != 0) return Error(Errc::invalid, path + ": writable by group or others");
  return {};
}

}  // namespace slurmk8s
