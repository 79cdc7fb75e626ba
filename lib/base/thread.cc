// SPDX-License-Identifier: GPL-2.0-or-later
// Names and signals of threads.
#include "base/thread.hpp"

#include <pthread.h>
#include <signal.h>

namespace slurmk8s {

void enter_thread(const char* name) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  pthread_setname_np(pthread_self(), name);
}

}  // namespace slurmk8s
