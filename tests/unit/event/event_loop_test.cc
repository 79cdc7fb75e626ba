// SPDX-License-Identifier: GPL-2.0-or-later
// event/event_loop: what it waits for and for how long, in which order it calls, who may end the wait.
#include "event/event_loop.hpp"

#include <fcntl.h>
#include <sys/epoll.h>

#include <string>
#include <thread>

#include "support/cmocka.hpp"
#include "support/fake_clock.hpp"
#include "support/pipe.hpp"

namespace slurmk8s {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

constexpr milliseconds kNow{0};
constexpr seconds kLong{20};  // of what should take no time, on a loaded machine

std::unique_ptr<EventLoop> opened() {
  auto loop = EventLoop::open();
  assert_ok(loop);
  return std::move(loop).value();
}

void waits_no_longer_than_told(void**) {
  const auto loop = opened();
  const struct {
    milliseconds wait, least;
  } cases[] = {
      {milliseconds(0), milliseconds(0)}, {milliseconds(-5), milliseconds(0)}, {milliseconds(120), milliseconds(119)}};
  for (const auto& c : cases) {
    const auto begin = steady_clock::now();
    loop->turn(c.wait);
    const auto took = steady_clock::now() - begin;
    assert_true(took >= c.least && took < kLong);
  }
}

void waits_no_longer_than_for_a_timer(void**) {
  const auto loop = opened();
  bool rang = false;
  const auto begin = steady_clock::now();
  loop->timers().after(milliseconds(30), [&] { rang = true; });
  loop->turn(kLong);
  assert_true(rang);
  const auto took = steady_clock::now() - begin;
  assert_true(took >= milliseconds(30) && took < kLong);
}

void timers_go_by_the_clock_that_it_was_given(void**) {
  FakeClock clock;
  const auto loop = std::move(EventLoop::open({std::shared_ptr<void>(), &clock})).value();
  assert_true(loop->clock().get() == &clock);
  bool rang = false;
  loop->timers().after(seconds(3600), [&] { rang = true; });
  loop->turn(kNow);
  assert_false(rang);
  clock.advance(seconds(3600));
  loop->turn(kLong);
  assert_true(rang);
}

void wake_ends_the_wait(void**) {
  const auto loop = opened();
  const auto begin = steady_clock::now();
  loop->wake();  // before the wait: kept
  loop->turn(kLong);
  {
    std::jthread waker([&] {
      std::this_thread::sleep_for(milliseconds(50));
      loop->wake();
    });
    loop->turn(kLong);
  }
  assert_true(steady_clock::now() - begin < kLong);
}

void descriptors(void**) {
  const auto loop = opened();
  Pipe pipe = make_pipe();
  const int fd = pipe.out.get();
  int called = 0;
  assert_ok(loop->watch(fd, EPOLLIN, [&] {
    ++called;
    char byte = 0;
    if (::read(fd, &byte, 1) == 0) loop->unwatch(fd);  // hung up
  }));
  loop->turn(kNow);
  assert_int_equal(called, 0);
  write_byte(pipe);
  write_byte(pipe);
  loop->turn(kLong);
  loop->turn(kLong);
  assert_int_equal(called, 2);
  pipe.in.reset();
  loop->turn(kLong);  // a hang-up without data wakes it as well
  assert_int_equal(called, 3);
  loop->turn(kNow);
  assert_int_equal(called, 3);  // unwatched by its own function
}

void the_last_word_on_a_descriptor_counts(void**) {
  const auto loop = opened();
  const Pipe pipe = make_pipe();
  std::string order;
  assert_ok(loop->watch(pipe.in.get(), EPOLLIN, [&] { order += 'r'; }));
  loop->turn(kNow);
  assert_ok(loop->watch(pipe.in.get(), EPOLLOUT, [&] { order += 'w'; }));
  loop->turn(kLong);
  assert_text(order, "w");
}

void two_descriptors_of_which_one_removes_the_other(void**) {
  const auto loop = opened();
  const Pipe pipes[] = {make_pipe(), make_pipe()};
  int called = 0;
  for (const Pipe& pipe : pipes) {
    assert_ok(loop->watch(pipe.out.get(), EPOLLIN, [&] {
      ++called;
      for (const Pipe& each : pipes) loop->unwatch(each.out.get());
    }));
    write_byte(pipe);
  }
  loop->turn(kLong);
  assert_int_equal(called, 1);
  const auto begin = std::chrono::steady_clock::now();
  loop->turn(std::chrono::milliseconds(50));  // their bytes wake nobody any more
  assert_true(std::chrono::steady_clock::now() - begin >= std::chrono::milliseconds(40));
}

void a_descriptor_that_cannot_be_waited_for(void**) {
  const auto loop = opened();
  const UniqueFd file(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  assert_error(loop->watch(-1, EPOLLIN, [] {}), Errc::internal, "epoll_ctl");
  loop->unwatch(-1);
  loop->unwatch(file.get());
}

void descriptors_then_posted_functions_then_timers(void**) {
  const auto loop = opened();
  const Pipe pipe = make_pipe();
  std::string order;
  loop->timers().after(kNow, [&] { order += 't'; });
  loop->post([&] { order += 'p'; });
  loop->post([&] { order += 'q'; });
  assert_ok(loop->watch(pipe.out.get(), EPOLLIN, [&] { order += 'd'; }));
  write_byte(pipe);
  loop->turn(kLong);
  assert_text(order, "dpqt");
}

void a_posted_function_may_post(void**) {
  const auto loop = opened();
  std::string order;
  loop->post([&] {
    order += 'a';
    loop->post([&] { order += 'b'; });
  });
  loop->turn(kLong);
  assert_text(order, "a");
  loop->turn(kLong);
  assert_text(order, "ab");
}

void functions_of_many_threads_run_on_one(void**) {
  const auto loop = opened();
  constexpr int kThreads = 4;
  constexpr int kEach = 200;
  int called = 0;  // by this thread alone
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        for (int j = 0; j < kEach; ++j) loop->post([&] { ++called; });
      });
    }
    loop->run([&] { return called < kThreads * kEach; });
  }
  assert_int_equal(called, kThreads * kEach);
}

void run_asks_before_each_turn(void**) {
  const auto loop = opened();
  int asked = 0;
  loop->run([&] {
    loop->wake();
    return ++asked < 3;
  });
  assert_int_equal(asked, 3);
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(waits_no_longer_than_told),
      SLURMK8S_TEST(waits_no_longer_than_for_a_timer),
      SLURMK8S_TEST(timers_go_by_the_clock_that_it_was_given),
      SLURMK8S_TEST(wake_ends_the_wait),
      SLURMK8S_TEST(descriptors),
      SLURMK8S_TEST(the_last_word_on_a_descriptor_counts),
      SLURMK8S_TEST(two_descriptors_of_which_one_removes_the_other),
      SLURMK8S_TEST(a_descriptor_that_cannot_be_waited_for),
      SLURMK8S_TEST(descriptors_then_posted_functions_then_timers),
      SLURMK8S_TEST(a_posted_function_may_post),
      SLURMK8S_TEST(functions_of_many_threads_run_on_one),
      SLURMK8S_TEST(run_asks_before_each_turn),
  };
  return cmocka_run_group_tests_name("event_loop", tests, nullptr, nullptr);
}
