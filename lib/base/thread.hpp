// SPDX-License-Identifier: GPL-2.0-or-later
// Start of a thread: name and signals.
#pragma once

#include <functional>
#include <thread>

namespace slurmk8s {

/**
 * Names the calling thread, for `top -H` and debuggers, and blocks all signals: the host process (slurmctld, for
 * example) handles them. `name`: at most 15 bytes; for threads that may block on host names
 * it begins with SLURM_K8S_WAITING_THREAD (nss/control.h). Threads that it starts inherit both.
 */
void enter_thread(const char* name);

/** Starts a thread with all signals blocked from its first instruction on. Throws as std::thread does. */
std::thread start_without_signals(std::function<void()> run);

}  // namespace slurmk8s
