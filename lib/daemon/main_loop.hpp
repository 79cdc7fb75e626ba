// SPDX-License-Identifier: GPL-2.0-or-later
// The main loop of a daemon: until a signal, or until it may not act any more.
#pragma once

#include <chrono>
#include <functional>

#include "base/unique_fd.hpp"
#include "daemon/admin_http.hpp"
#include "event/event_loop.hpp"

namespace slurmk8s {

/** Why a main loop ended. */
enum class MainLoopEnd { signal, refused };

/** Between two questions of a main loop. */
inline constexpr std::chrono::milliseconds kMainLoopInterval{1000};

/**
 * Turns `loop` until `signal_fd` can be read, or until `may_continue`, asked at once and then every `interval`, says
 * no. `admin` hears of each turn. Error (internal): `signal_fd` can't be waited for.
 */
Result<MainLoopEnd> run_main_loop(EventLoop& loop, int signal_fd, AdminState& admin,
                                  const std::function<bool()>& may_continue,
                                  std::chrono::milliseconds interval = kMainLoopInterval);

/**
 * Stands by until `may_act`, asked at once and then every kMainLoopInterval, says yes. Then calls `act`, which runs a
 * main loop until it may not act any more. And again, until a signal. `waits` is called whenever it begins to stand by.
 * Errors: those of `act`, and as of run_main_loop().
 */
Status act_by_turns(int signal_fd, AdminState& admin, const std::function<void()>& waits,
                    const std::function<bool()>& may_act, const std::function<Result<MainLoopEnd>()>& act);

/**
 * Blocks SIGTERM and SIGINT, and SIGPIPE, in this thread and those that it starts. Returns a signalfd for the former.
 */
Result<UniqueFd> block_signals();

}  // namespace slurmk8s
