// SPDX-License-Identifier: GPL-2.0-or-later
// bridge/wait_notice: what is written at once, what later, and how much of it with many pods.
#include "bridge/wait_notice.hpp"

#include "support/cmocka.hpp"

namespace slurmk8s {
namespace {

using std::chrono::seconds;

void causes_are_written_at_once_and_estimates_later(void**) {
  const TimePoint now = TimePoint{} + std::chrono::hours(5);
  constexpr const char* kOther = "Slurm job 1: Priority";
  constexpr const char* kCause = "Slurm job 1: Resources";
  constexpr const char* kThird = "Slurm job 1: Resources; position 3";
  constexpr const char* kSecond = "Slurm job 1: Resources; position 2";
  const struct {
    const char* what;
    const char* told;  // null: nothing
    int seconds_ago;
    int changed_ago;  // the cause, for the last time; -1: never
    const char* message;
    std::size_t waiting;
    WaitNews news;
  } cases[] = {
      {"nothing was told", nullptr, 0, -1, kCause, 1, WaitNews::message},
      {"another cause", kCause, 0, -1, kOther, 1, WaitNews::message},
      {"another cause of many", kThird, 0, -1, "Slurm job 1: Priority; position 3", 10000, WaitNews::message},
      {"and another one", kCause, 1, 1, kOther, 1, WaitNews::none},
      {"and another one, later", kCause, 2, 2, kOther, 1, WaitNews::message},
      {"later than the change, after an estimate", kThird, 0, 2, kOther, 1, WaitNews::message},
      {"and another one of 201", kCause, 2, 2, kOther, 201, WaitNews::none},
      {"and another one of 201, later", kCause, 3, 3, kOther, 201, WaitNews::message},
      {"and another one of 10,000", kCause, 99, 99, kOther, 10000, WaitNews::none},
      {"and another one of 10,000, later", kCause, 100, 100, kOther, 10000, WaitNews::message},
      {"the same", kThird, 600, -1, kThird, 1, WaitNews::none},
      {"the same, when the event is old", kThird, 1800, -1, kThird, 1, WaitNews::refresh},
      {"a first estimate", kCause, 0, 0, kThird, 10000, WaitNews::message},
      {"another estimate", kThird, 2, -1, kSecond, 1, WaitNews::none},
      {"another estimate, later", kThird, 3, -1, kSecond, 1, WaitNews::message},
      {"of 60", kThird, 3, -1, kSecond, 60, WaitNews::message},
      {"of 200", kThird, 9, -1, kSecond, 200, WaitNews::none},
      {"of 200, later", kThird, 10, -1, kSecond, 200, WaitNews::message},
      {"of 10,000", kThird, 499, -1, kSecond, 10000, WaitNews::none},
      {"of 10,000, later", kThird, 500, -1, kSecond, 10000, WaitNews::message},
      {"no estimate any more", kThird, 2, -1, kCause, 1, WaitNews::none},
      {"no estimate any more, later", kThird, 3, -1, kCause, 1, WaitNews::message},
  };
  for (const auto& c : cases) {
    print_message("# %s\n", c.what);
    std::optional<ToldWait> told;
    if (c.told != nullptr) told = {c.told, now - seconds(c.seconds_ago), {}};
    if (c.changed_ago >= 0) told->caused = now - seconds(c.changed_ago);
    assert_true(judge_wait(told, c.message, c.waiting, now) == c.news);
  }
}

void all_pods_together_keep_the_rate(void**) {
  for (const std::size_t waiting : {0, 1, 60, 61, 199, 200, 219, 401, 9999, 10000, 100001}) {
    const auto pace = static_cast<std::size_t>(estimate_pace(waiting).count());
    assert_true(pace >= 3);
    assert_true(waiting <= pace * kEstimatesPerSecond);
    const auto causes = static_cast<std::size_t>(cause_pace(waiting).count());
    assert_true(causes >= 2);
    assert_true(waiting <= causes * kCausesPerSecond);
  }
}

void what_is_told_knows_when_its_cause_changed(void**) {
  const TimePoint first = TimePoint{} + std::chrono::hours(1), second = first + seconds(1), third = first + seconds(2);
  const ToldWait one = tell_wait_message({}, "Slurm job 1: Resources", first);
  assert_true(one.caused == TimePoint{} && one.at == first);
  const ToldWait estimate = tell_wait_message(one, "Slurm job 1: Resources; position 3", second);
  assert_true(estimate.caused == TimePoint{} && estimate.at == second);
  const ToldWait other = tell_wait_message(estimate, "Slurm job 1: Priority", second);
  assert_true(other.caused == second);
  assert_true(tell_wait_message(other, "Slurm job 1: Priority; position 1", third).caused == second);
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(causes_are_written_at_once_and_estimates_later),
      SLURMK8S_TEST(all_pods_together_keep_the_rate),
      SLURMK8S_TEST(what_is_told_knows_when_its_cause_changed),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
