// SPDX-License-Identifier: GPL-2.0-or-later
// What each of our threads does first.
#pragma once

#include <functional>
#include <thread>

namespace slurmk8s {

/**
 * Names the calling thread, for `top -H` and debuggers, and blocks all signals: they belong to the threads of the
 * process that it runs in (slurmctld, for example). `name`: 15 bytes at most; threads that may wait for names have one
 * that begins with SLURM_K8S_WAITING_THREAD (nss/control.h). Threads that it starts inherit both.
 */
void enter_thread(const char* name);

/** Starts a thread that no signal is delivered to, from its first instruction on. Throws as std::thread does. */
std::thread start_without_signals(std::function<void()> run);

}  // namespace slurmk8s
