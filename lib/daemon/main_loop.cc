// SPDX-License-Identifier: GPL-2.0-or-later
// The main loop of a daemon.
#include "daemon/main_loop.hpp"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>

#include <optional>
#include <string>

namespace slurmk8s {

Result<MainLoopEnd> run_main_loop(EventLoop& loop, int signal_fd, AdminState& admin,
                                  const std::function<bool()>& may_continue, std::chrono::milliseconds interval) {
  std::optional<MainLoopEnd> end;
  Timers::Id timer = 0;
  const std::function<void()> ask = [&] {
    timer = loop.timers().after(interval, ask);
    if (!end && !may_continue()) end = MainLoopEnd::refused;
  };
  SLURMK8S_CHECK(loop.watch(signal_fd, EPOLLIN, [&] { end = MainLoopEnd::signal; }));
  ask();
  loop.run([&] {
    admin.turned();
    return !end;
  });
  loop.timers().cancel(timer);
  loop.unwatch(signal_fd);
  return *end;
}

Status act_by_turns(int signal_fd, AdminState& admin, const std::function<void()>& waits,
                    const std::function<bool()>& may_act, const std::function<Result<MainLoopEnd>()>& act) {
  for (;;) {
    waits();
    const auto loop = SLURMK8S_TRY(EventLoop::open());
    admin.publish({.stands_by = true});
    const auto wait = SLURMK8S_TRY(run_main_loop(*loop, signal_fd, admin, [&] { return !may_act(); }));
    if (wait == MainLoopEnd::signal || SLURMK8S_TRY(act()) == MainLoopEnd::signal) return {};
  }
}

Result<UniqueFd> block_signals() {
  signal(SIGPIPE, SIG_IGN);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  UniqueFd fd(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd) return Error(Errc::internal, std::string("signalfd: ") + strerror(errno));
  return fd;
}

}  // namespace slurmk8s
