// SPDX-License-Identifier: GPL-2.0-or-later
// Undestroyed: exit() with a global whose destructor would wait for ever.
#include "base/undestroyed.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <thread>

#include "support/cmocka.hpp"

using namespace slurmk8s;

namespace {

/** As a thread that waits for a lock which the thread that calls exit() holds. */
struct Waiting {
  std::thread thread{[] { pause(); }};
  ~Waiting() { thread.join(); }
};

template <typename Fn>
int exit_code_of(Fn&& run) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(10);
    run();
    std::exit(7);
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

void exit_ends_the_process(void**) {
  const int code = exit_code_of([] {
    static Undestroyed<std::unique_ptr<Waiting>> global;
    *global = std::make_unique<Waiting>();
  });
  assert_int_equal(code, 7);
}

void has_its_arguments(void**) {
  Undestroyed<std::unique_ptr<int>> object(std::make_unique<int>(3));
  assert_int_equal(**object, 3);
  assert_true(object->get() != nullptr);
  object->reset();
}

}  // namespace

int main() {
  const CMUnitTest tests[] = {SLURMK8S_TEST(exit_ends_the_process), SLURMK8S_TEST(has_its_arguments)};
  return cmocka_run_group_tests_name("undestroyed", tests, nullptr, nullptr);
}
