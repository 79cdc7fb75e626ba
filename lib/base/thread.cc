// SPDX-License-Identifier: GPL-2.0-or-later
// Names and signals of threads.
#include "base/thread.hpp"

#include <pthread.h>
#include <signal.h>

#include <utility>

namespace slurmk8s {
namespace {

/** Blocks all signals of the calling thread; new threads inherit that. */
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

}  // namespace

std::thread start_without_signals(std::function<void()> run) {
  const SignalsBlocked blocked;
  return std::thread(std::move(run));
}

void enter_thread(const char* name) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  pthread_setname_np(pthread_self(), name);
}

}  // namespace slurmk8s
