// SPDX-License-Identifier: GPL-2.0-or-later
// base/log and base/guarded: levels, cutting, forged lines, limiting, stopped exceptions.
#include "base/log.hpp"

#include <stdexcept>
#include <string>
#include <vector>

#include "base/guarded.hpp"
#include "support/cmocka.hpp"

namespace slurmk8s {
namespace {

std::vector<std::string> logged;

void keep(LogLevel, const char* line) { logged.emplace_back(line); }

int start(void**) {
  logged.clear();
  log_init(keep, LogLevel::info);
  return 0;
}

int stop(void**) {
  log_init(nullptr, LogLevel::info);
  return 0;
}

void only_wanted_levels(void**) {
  log_error("e");
  log_warning("w");
  log_info("i %d", 1);
  log_debug("d");
  assert_int_equal(logged.size(), 3);
  assert_text(logged[2], "i 1");
}

void nothing_without_a_sink(void**) {
  log_init(nullptr, LogLevel::debug);
  log_error("lost");
  assert_int_equal(logged.size(), 0);
}

void long_lines_are_cut(void**) {
  log_info("%s", std::string(5000, 'x').c_str());
  assert_int_equal(logged.at(0).size(), 2000);
}

void no_line_forges_another(void**) {
  log_info("%s", "a\nb\r\tc\x1b[0m\x7f");
  assert_text(logged.at(0), "a b  c [0m ");
}

void exceptions_become_lines(void**) {
  assert_int_equal(guarded("here", 5, [] { return 6; }), 6);
  assert_int_equal(guarded("here", 5, []() -> int { throw std::runtime_error("boom"); }), 5);
  assert_int_equal(guarded("there", 5, []() -> int { throw 7; }), 5);
  guarded_void("void", [] { throw std::bad_alloc(); });
  assert_int_equal(logged.size(), 3);
  assert_contains(logged[0], "here: exception");
  assert_contains(logged[0], "boom");
  assert_contains(logged[1], "there: exception");
  assert_contains(logged[2], "void: exception");
}

void limiter_lets_one_through_per_interval(void**) {
  using std::chrono::milliseconds;
  const auto begin = std::chrono::steady_clock::time_point(milliseconds(5));
  LogLimiter limiter(milliseconds(100));
  const struct {
    int at_ms;
    bool allowed;
    unsigned suppressed;
  } cases[] = {
      {0, true, 0}, {1, false, 0}, {99, false, 0}, {100, true, 2}, {150, false, 0}, {200, true, 1}, {1000, true, 0},
  };
  for (const auto& c : cases) {
    unsigned suppressed = 0;
    assert_int_equal(limiter.allow(begin + milliseconds(c.at_ms), suppressed), c.allowed);
    assert_int_equal(suppressed, c.suppressed);
  }
}

void limiter_allows_the_first_at_any_time(void**) {
  LogLimiter limiter(std::chrono::hours(1));
  unsigned suppressed = 9;
  assert_true(limiter.allow(std::chrono::steady_clock::time_point::min() + std::chrono::hours(1), suppressed));
  assert_int_equal(suppressed, 0);
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST_WITH(only_wanted_levels, start, stop),      SLURMK8S_TEST_WITH(nothing_without_a_sink, start, stop),
      SLURMK8S_TEST_WITH(long_lines_are_cut, start, stop),      SLURMK8S_TEST_WITH(no_line_forges_another, start, stop),
      SLURMK8S_TEST_WITH(exceptions_become_lines, start, stop), SLURMK8S_TEST(limiter_lets_one_through_per_interval),
      SLURMK8S_TEST(limiter_allows_the_first_at_any_time),
  };
  return cmocka_run_group_tests_name("base_log", tests, nullptr, nullptr);
}
