// SPDX-License-Identifier: GPL-2.0-or-later
// pipe, fork, and the child's signals.
#include "spank/child_process.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <system_error>

namespace slurmk8s {

Result<ChildProcess> start_child(const std::function<void(int output)>& become) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return system_error("pipe");
  UniqueFd output(ends[0]);
  const UniqueFd input(ends[1]);
  ::fcntl(output.get(), F_SETFL, O_NONBLOCK);
  const pid_t pid = ::fork();
  if (pid < 0) return system_error("fork");
  if (pid == 0) {
    become(input.get());
    ::_exit(kCannotRun);
  }
  return ChildProcess{pid, std::move(output)};
}

void reset_signals() {
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const int signal : {SIGPIPE, SIGTERM, SIGINT, SIGQUIT, SIGHUP, SIGCHLD}) ::signal(signal, SIG_DFL);
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> list;
  list.reserve(texts.size() + 1);
  for (const std::string& text : texts) list.push_back(const_cast<char*>(text.c_str()));
  list.push_back(nullptr);
  return list;
}

Error system_error(const std::string& what) {
  return Error(Errc::unavailable, what + ": " + std::generic_category().message(errno));
}

}  // namespace slurmk8s
