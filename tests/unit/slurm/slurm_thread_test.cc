// SPDX-License-Identifier: GPL-2.0-or-later
// SlurmThread and ThreadUserLookup: what doesn't answer holds up neither the engine's end nor other calls.
#include "slurm/slurm_thread.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <stdexcept>
#include <thread>

#include "engine/user_lookup.hpp"

#include "support/cmocka.hpp"
#include "support/fake_slurm.hpp"

using namespace slurmk8s;
using namespace std::chrono_literals;

namespace {

/** Opened once; a thread that waits for it goes on by itself after a long time, so that a failing test ends. */
class Gate {
 public:
  void open() {
    *open_.lock() = true;
    changed_.notify_all();
  }
  bool wait(std::chrono::milliseconds longest = 30s) {
    auto open = open_.lock();
    return changed_.wait_for(open.raw(), longest, [&] { return *open; });
  }

 private:
  Locked<bool> open_{false};
  std::condition_variable changed_;
};

/** What the threads use, for as long as the longest of them. */
struct World {
  std::shared_ptr<FakeSlurm> slurm = std::make_shared<FakeSlurm>();
  Gate begun;
  Gate answer;
  Gate over;
  std::atomic<int> posted{0};
  std::atomic<int> asked{0};
};

std::chrono::nanoseconds time_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::steady_clock::now() - begin;
}

void calls_are_made_in_order(void**) {
  World world;
  std::vector<int> order;
  {
    SlurmThread thread(world.slurm, [&](std::function<void()> then) { then(); });
    for (int i = 0; i < 3; ++i) {
      thread.call([&order, i](Slurm&) -> SlurmCaller::Then { return [&order, i] { order.push_back(i); }; });
    }
    thread.call([&](Slurm&) -> SlurmCaller::Then { return [&] { world.over.open(); }; });
    assert_true(world.over.wait());
  }
  assert_true(order == (std::vector<int>{0, 1, 2}));
}

/** Whoever waits for the answer would wait for ever. */
void an_exception_is_the_owners(void**) {
  World world;
  std::string what;
  {
    SlurmThread thread(world.slurm, [&](std::function<void()> then) {
      try {
        then();
      } catch (const std::exception& error) {
        what = error.what();
      }
      world.over.open();
    });
    thread.call([](Slurm&) -> SlurmCaller::Then { throw std::runtime_error("no memory"); });
    assert_true(world.over.wait());
  }
  assert_text(what, "no memory");
}

void a_call_that_hangs_does_not_hold_up_the_end(void**) {
  const auto world = std::make_shared<World>();
  const auto took = time_of([&] {
    SlurmThread thread(world->slurm, [world](const std::function<void()>&) { ++world->posted; });
    thread.call([world](Slurm&) -> SlurmCaller::Then {
      world->begun.open();
      world->answer.wait();
      return [] {};
    });
    thread.call([world](Slurm&) -> SlurmCaller::Then {
      ++world->posted;
      return [] {};
    });
    assert_true(world->begun.wait());
  });
  assert_true(took < 15s);
  assert_true(world->slurm->ended);  // what the call would do next is refused
  world->answer.open();
  std::this_thread::sleep_for(100ms);
  assert_int_equal(world->posted, 0);
}

void users_are_found(void**) {
  World world;
  UserLookup::Found found;
  ThreadUserLookup users([&](const std::function<void()>& then) { then(); });
  users.find({"root", "nobody-has-this-name"}, [&](const UserLookup::Found& some) {
    found = some;
    world.over.open();
  });
  assert_true(world.over.wait());
  assert_int_equal(found.size(), 1);
  assert_int_equal(found.at("root"), 0);
}

void a_directory_that_does_not_answer(void**) {
  const auto world = std::make_shared<World>();
  const auto took = time_of([&] {
    ThreadUserLookup users([world](const std::function<void()>&) { ++world->posted; },
                           [world](const std::string&, std::uint32_t&) {
                             ++world->asked;
                             world->begun.open();
                             world->answer.wait();
                             world->over.open();
                             return true;
                           });
    // One look-up at a time: the one of the test before may be about to end.
    for (int i = 0; i < 3000 && !world->begun.wait(10ms); ++i) users.find({"alice"}, [](const UserLookup::Found&) {});
    for (int i = 0; i < 100; ++i) users.find({"alice"}, [](const UserLookup::Found&) {});
    assert_int_equal(world->asked, 1);
  });
  assert_true(took < 15s);
  world->answer.open();
  assert_true(world->over.wait());
  std::this_thread::sleep_for(100ms);
  assert_int_equal(world->posted, 0);
}

}  // namespace

int main() {
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(calls_are_made_in_order),
      SLURMK8S_TEST(an_exception_is_the_owners),
      SLURMK8S_TEST(a_call_that_hangs_does_not_hold_up_the_end),
      SLURMK8S_TEST(users_are_found),
      SLURMK8S_TEST(a_directory_that_does_not_answer),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
