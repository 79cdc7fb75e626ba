// SPDX-License-Identifier: GPL-2.0-or-later
// enter_thread(): name and blocked signals.
#include "base/thread.hpp"

#include <pthread.h>
#include <signal.h>

#include <string>
#include <thread>

#include "support/cmocka.hpp"

using namespace slurmk8s;

namespace {

struct Seen {
  std::string name;
  bool blocks_sigterm = false;
};

Seen see_self() {
  char name[16] = "";
  pthread_getname_np(pthread_self(), name, sizeof name);
  sigset_t blocked;
  pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
  return {name, sigismember(&blocked, SIGTERM) == 1};
}

void has_its_name_and_no_signals(void**) {
  Seen thread, started;
  std::thread([&] {
    enter_thread("slurm-k8s/slurm");
    thread = see_self();
    std::thread([&] { started = see_self(); }).join();
  }).join();
  assert_text(thread.name, "slurm-k8s/slurm");
  assert_true(thread.blocks_sigterm);
  assert_text(started.name, "slurm-k8s/slurm");
  assert_true(started.blocks_sigterm);
  assert_false(see_self().blocks_sigterm);
}

/** Also before its first line; the starting thread gets its signals back. */
void starts_without_signals(void**) {
  Seen thread;
  start_without_signals([&] { thread = see_self(); }).join();
  assert_true(thread.blocks_sigterm);
  assert_false(see_self().blocks_sigterm);
}

}  // namespace

int main() {
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(has_its_name_and_no_signals),
      SLURMK8S_TEST(starts_without_signals),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
