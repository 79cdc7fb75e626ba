// SPDX-License-Identifier: GPL-2.0-or-later
// bridge/allocation_caller: a bridge whose lease has run out calls slurmctld no more, also for what has waited.
#include "bridge/allocation_caller.hpp"

#include <atomic>
#include <future>

#include "support/cmocka.hpp"
#include "support/fake_allocations.hpp"

namespace slurmk8s {
namespace {

void a_call_that_has_waited_is_dropped(void**) {
  std::promise<void> begun;   // the first call
  std::promise<void> answer;  // of slurmctld to it
  std::promise<void> ended;   // the second one
  std::atomic<bool> leads{true};
  std::atomic<int> posted{0};
  std::atomic<int> answers{0};
  Fence fence([&] { return leads.load(); });
  const auto slurm = std::make_shared<FakeAllocations>();
  AllocationThread caller(
      slurm,
      [&](const CallThread::Then& then) {
        then();
        if (++posted == 2) ended.set_value();
      },
      fence, [&] { return leads.load(); });
  caller.call([&](Allocations& allocations) -> AllocationCaller::Then {
    begun.set_value();
    answer.get_future().wait();
    (void)allocations.cancel(1);
    return [&] { ++answers; };
  });
  caller.call([&](Allocations& allocations) -> AllocationCaller::Then {
    (void)allocations.cancel(2);
    return [&] { ++answers; };
  });
  begun.get_future().wait();
  leads = false;
  answer.set_value();
  ended.get_future().wait();
  assert_int_equal(slurm->calls.size(), 1);
  assert_text(slurm->calls[0], "cancel 1");
  assert_int_equal(answers.load(), 1);
  caller.call([](Allocations&) -> AllocationCaller::Then { return [] {}; });  // the fence is shut: not even queued
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {SLURMK8S_TEST(a_call_that_has_waited_is_dropped)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
