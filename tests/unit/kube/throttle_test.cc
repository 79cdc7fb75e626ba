// SPDX-License-Identifier: GPL-2.0-or-later
// kube/throttle: which answers begin a pause, how long it is, and what is remembered of it.
#include "kube/throttle.hpp"

#include <vector>

#include "support/cmocka.hpp"
#include "support/fake_clock.hpp"

using namespace slurmk8s;
using namespace std::chrono_literals;
using kube::Throttle;

namespace {

Error throttled(std::optional<std::chrono::seconds> retry_after) {
  return Error(Errc::throttled, "slow down", retry_after);
}

void pauses_for_429_alone(void**) {
  const struct {
    const char* name;
    Error error;
    std::chrono::seconds wait;  ///< 0: no pause
    std::chrono::seconds asked;
  } rows[] = {
      {"without Retry-After", throttled({}), 1s, 1s},
      {"with it", throttled(7s), 7s, 7s},
      {"of a proxy that knows nothing of jobs", throttled(3600s), 60s, 3600s},
      {"the server is away", Error(Errc::unavailable, "x"), 0s, 0s},
      {"refused", Error(Errc::forbidden, "x"), 0s, 0s},
  };
  for (const auto& row : rows) {
    FakeClock clock;
    Throttle throttle(clock);
    const auto pause = throttle.heed(row.error);
    if (pause.has_value() != (row.wait > 0s) || throttle.is_paused() != pause.has_value()) fail_msg("%s", row.name);
    if (!pause) continue;
    if (pause->wait != row.wait || pause->asked != row.asked || !pause->is_new) fail_msg("%s", row.name);
    clock.advance(row.wait - 1ms);
    if (!throttle.is_paused()) fail_msg("%s: too short", row.name);
    clock.advance(1ms);
    if (throttle.is_paused()) fail_msg("%s: too long", row.name);
  }
}

void only_a_longer_pause_changes_one(void**) {
  FakeClock clock;
  std::vector<bool> are_new;
  Throttle throttle(clock, [&](const Throttle::Pause& pause) { are_new.push_back(pause.is_new); });
  assert_true(throttle.heed(throttled(10s)).has_value());
  assert_false(throttle.heed(throttled(5s)).has_value());
  clock.advance(4s);
  assert_true(throttle.heed(throttled(10s)).has_value());  // prolonged
  assert_true(throttle.until() == clock.now() + 10s);
  clock.advance(10s);
  assert_true(throttle.heed(throttled(1s)).has_value());
  assert_true(are_new == (std::vector<bool>{true, false, true}));
}

void remembers_what_was_asked_for_a_while(void**) {
  FakeClock clock;
  Throttle throttle(clock);
  assert_false(throttle.asked_lately().has_value());
  throttle.heed(throttled(100s));
  clock.advance(Throttle::kLongestPause + 5min - 1s);
  assert_true(throttle.asked_lately() == 100s);
  clock.advance(1s);
  assert_false(throttle.asked_lately().has_value());
}

}  // namespace

int main() {
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(pauses_for_429_alone),
      SLURMK8S_TEST(only_a_longer_pause_changes_one),
      SLURMK8S_TEST(remembers_what_was_asked_for_a_while),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
