// SPDX-License-Identifier: GPL-2.0-or-later
// daemon/main_loop: what ends it, how often it asks, and that it leaves nothing in the loop.
#include "daemon/main_loop.hpp"

#include <signal.h>
#include <unistd.h>

#include "support/cmocka.hpp"
#include "support/fake_clock.hpp"
#include "support/pipe.hpp"

namespace slurmk8s {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLook{20};

struct Fixture {
  std::unique_ptr<EventLoop> loop = std::move(EventLoop::open()).value();
  AdminState admin{*loop->clock()};
  const Pipe signals = make_pipe();

  void send() { write_byte(signals); }
  MainLoopEnd run(const std::function<bool()>& may_continue) {
    const auto end = run_main_loop(*loop, signals.out.get(), admin, may_continue, kLook);
    assert_ok(end);
    return *end;
  }
};

void a_signal_ends_it(void**) {
  Fixture f;
  int asked = 0;
  assert_true(f.run([&] {
    if (++asked == 3) f.send();
    return true;
  }) == MainLoopEnd::signal);
  assert_int_equal(asked, 3);
  assert_false(f.loop->timers().until_next().has_value());
}

void a_refusal_ends_it(void**) {
  Fixture f;
  int asked = 0;
  const TimePoint begin = f.loop->clock()->now();
  assert_true(f.run([&] { return ++asked < 4; }) == MainLoopEnd::refused);
  assert_int_equal(asked, 4);
  assert_true(f.loop->clock()->now() - begin >= 3 * kLook);
  assert_false(f.loop->timers().until_next().has_value());
}

void it_asks_at_once(void**) {
  Fixture f;
  int turned = 0;
  f.loop->post([&] { ++turned; });
  assert_true(f.run([] { return false; }) == MainLoopEnd::refused);
  assert_int_equal(turned, 0);
}

void a_signal_that_is_there_is_seen_by_the_next_one(void**) {
  Fixture f;
  f.send();
  assert_true(f.run([] { return true; }) == MainLoopEnd::signal);
  assert_true(f.run([] { return true; }) == MainLoopEnd::signal);
}

void each_turn_is_told(void**) {
  Fixture f;
  FakeClock clock;
  AdminState admin(clock);
  clock.advance(std::chrono::seconds(61));
  assert_int_equal(admin.answer("/healthz").status, 503);
  assert_ok(run_main_loop(
      *f.loop, f.signals.out.get(), admin, [] { return false; }, kLook));
  assert_int_equal(admin.answer("/healthz").status, 200);
}

void signals_that_cannot_be_waited_for(void**) {
  Fixture f;
  assert_error(run_main_loop(
                   *f.loop, -1, f.admin, [] { return true; }, kLook),
               Errc::internal, "epoll_ctl");
  assert_false(f.loop->timers().until_next().has_value());
}

void it_acts_by_turns(void**) {
  Fixture f;
  std::string course;
  const auto waits = [&] { course += "waits "; };
  const auto may_act = [&] {
    course += "asks ";
    return true;
  };
  int acts = 0;
  const auto act = [&]() -> Result<MainLoopEnd> {
    assert_int_equal(f.admin.answer("/readyz").status, 200);  // it stood by
    course += "acts ";
    return ++acts < 2 ? MainLoopEnd::refused : MainLoopEnd::signal;
  };
  assert_ok(act_by_turns(f.signals.out.get(), f.admin, waits, may_act, act));
  assert_text(course, "waits asks acts waits asks acts ");
  f.send();
  assert_ok(act_by_turns(
      f.signals.out.get(), f.admin, waits, [] { return false; }, act));
  assert_int_equal(acts, 2);
  assert_error(act_by_turns(f.signals.out.get(), f.admin, waits, may_act,
                            [] { return Result<MainLoopEnd>(Error(Errc::internal, "no")); }),
               Errc::internal, "no");
}

void signals_can_be_read(void**) {
  const auto fd = block_signals();
  assert_ok(fd);
  char buffer[256];
  assert_int_equal(read(fd->get(), buffer, sizeof buffer), -1);  // nothing yet, and no wait
  raise(SIGTERM);
  assert_true(read(fd->get(), buffer, sizeof buffer) > 0);
  raise(SIGPIPE);
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(a_signal_ends_it),  SLURMK8S_TEST(a_refusal_ends_it),
      SLURMK8S_TEST(it_asks_at_once),   SLURMK8S_TEST(a_signal_that_is_there_is_seen_by_the_next_one),
      SLURMK8S_TEST(each_turn_is_told), SLURMK8S_TEST(signals_that_cannot_be_waited_for),
      SLURMK8S_TEST(it_acts_by_turns),  SLURMK8S_TEST(signals_can_be_read),
  };
  return cmocka_run_group_tests_name("daemon_main_loop", tests, nullptr, nullptr);
}
