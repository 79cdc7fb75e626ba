// SPDX-License-Identifier: GPL-2.0-or-later
// bridge/wait_notice: what is written at once, what later, and how much of it with many pods.
#include "bridge/wait_notice.hpp"

#include "support/cmocka.hpp"

namespace slurmk8s {
namespace {

using std::chrono::seconds;

void causes_are_written_at_once_and_estimates_later(void**) {
  const TimePoint now = TimePoint{} + std::chrono::hours(5);
  constexpr const char* kCause = "Slurm job 1: Resources";
  constexpr const char* kThird = "Slurm job 1: Resources; position 3";
  constexpr const char* kSecond = "Slurm job 1: Resources; position 2";
  const struct {
    const char* what;
    const char* told;  // null: nothing
    int seconds_ago;
    const char* message;
    std::size_t waiting;
    WaitNews news;
  } cases[] = {
      {"nothing was told", nullptr, 0, kCause, 1, WaitNews::message},
      {"another cause", kCause, 0, "Slurm job 1: Priority", 1, WaitNews::message},
      {"another cause of many", kThird, 0, "Slurm job 1: Priority; position 3", 10000, WaitNews::message},
      {"the same", kThird, 600, kThird, 1, WaitNews::none},
      {"the same, when the event is old", kThird, 1800, kThird, 1, WaitNews::refresh},
      {"a first estimate", kCause, 0, kThird, 10000, WaitNews::message},
      {"another estimate", kThird, 9, kSecond, 1, WaitNews::none},
      {"another estimate, later", kThird, 10, kSecond, 1, WaitNews::message},
      {"of 200", kThird, 10, kSecond, 200, WaitNews::message},
      {"of 10,000", kThird, 499, kSecond, 10000, WaitNews::none},
      {"of 10,000, later", kThird, 500, kSecond, 10000, WaitNews::message},
      {"no estimate any more", kThird, 9, kCause, 1, WaitNews::none},
      {"no estimate any more, later", kThird, 10, kCause, 1, WaitNews::message},
  };
  for (const auto& c : cases) {
    print_message("# %s\n", c.what);
    std::optional<ToldWait> told;
    if (c.told != nullptr) told = {c.told, now - seconds(c.seconds_ago)};
    assert_true(judge_wait(told, c.message, c.waiting, now) == c.news);
  }
}

void all_pods_together_keep_the_rate(void**) {
  for (const std::size_t waiting : {0, 1, 199, 200, 400, 10000, 100000}) {
    const auto pace = static_cast<std::size_t>(estimate_pace(waiting).count());
    assert_true(pace >= 10);
    assert_true(waiting / pace <= kEstimatesPerSecond);
  }
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(causes_are_written_at_once_and_estimates_later),
      SLURMK8S_TEST(all_pods_together_keep_the_rate),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
