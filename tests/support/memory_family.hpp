// SPDX-License-Identifier: GPL-2.0-or-later
// Family: real processes with memory in use. The thread that makes it ends it.
#pragma once

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstring>

namespace slurmk8s {

inline constexpr std::uint64_t kMiB = 1 << 20;
/** More than any job of Slurm has: this machine may run slurmds, and what is found below their jobs may be ended. */
inline constexpr std::uint32_t kNoJob = 4'000'000'007;

/** Processes with memory in use, which end with this object. The children share the pages of the first. */
class Family {
 public:
  Family(std::uint64_t bytes, int children, uid_t user = 0) {
    int ready[2];
    if (::pipe(ready) != 0) return;
    first_ = ::fork();
    if (first_ == 0) live(bytes, children, user, ready[1]);
    ::close(ready[1]);
    char byte;
    while (::read(ready[0], &byte, 1) < 0) {
    }
    ::close(ready[0]);
  }
  ~Family() { end(); }
  Family(const Family&) = delete;
  Family& operator=(const Family&) = delete;

  pid_t first() const { return first_; }
  /** The signal that ended the first one; 0: it has not ended. */
  int signal(int milliseconds) {
    for (int status = 0; milliseconds > 0; milliseconds -= 5, ::usleep(5000)) {
      if (::waitpid(first_, &status, WNOHANG) != first_) continue;
      first_ = 0;
      return WIFSIGNALED(status) ? WTERMSIG(status) : -1;
    }
    return 0;
  }

 private:
  [[noreturn]] static void live(std::uint64_t bytes, int children, uid_t user, int ready) {
    if (user != 0 && (::setgid(user) != 0 || ::setuid(user) != 0)) ::_exit(1);
    ::prctl(PR_SET_DUMPABLE, 1);  // as after exec()
    void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    std::memset(memory, 1, bytes);
    const pid_t self = ::getpid();
    for (int i = 0; i < children; ++i) {
      if (::fork() != 0) continue;
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      while (::getppid() == self) ::pause();  // it may have ended before the signal was asked for
      ::_exit(0);
    }
    if (::write(ready, "x", 1) != 1) ::_exit(1);
    ::close(ready);
    for (;;) ::pause();
  }

  void end() {
    if (first_ <= 0) return;
    ::kill(first_, SIGKILL);
    ::waitpid(first_, nullptr, 0);
  }

  pid_t first_ = -1;
};

}  // namespace slurmk8s
