// SPDX-License-Identifier: GPL-2.0-or-later
// base/rfc3339: times of Kubernetes' objects.
#include "base/rfc3339.hpp"

#include "support/cmocka.hpp"

namespace slurmk8s {
namespace {

using std::chrono::system_clock;

void writes_times(void**) {
  const struct {
    std::int64_t micros;
    const char* expected;
  } cases[] = {
      {0, "1970-01-01T00:00:00.000000Z"},
      {1, "1970-01-01T00:00:00.000001Z"},
      {-1, "1969-12-31T23:59:59.999999Z"},
      {1767225600123456, "2026-01-01T00:00:00.123456Z"},
      {951782399999999, "2000-02-28T23:59:59.999999Z"},
      {951782400000000, "2000-02-29T00:00:00.000000Z"},
  };
  for (const auto& c : cases) {
    assert_text(rfc3339(system_clock::time_point(std::chrono::microseconds(c.micros))), c.expected);
  }
}

void reads_times(void**) {
  const struct {
    const char* text;
    bool ok;
    std::int64_t nanos;
  } cases[] = {
      {"1970-01-01T00:00:00Z", true, 0},
      {"1970-01-01T00:00:01.5Z", true, 1500000000},
      {"1970-01-01T00:00:00.000000001Z", true, 1},
      {"1970-01-01T00:00:00.0000000019Z", true, 1},
      {"1969-12-31T23:59:59.5Z", true, -500000000},
      {"2026-01-01T00:00:00.123456Z", true, 1767225600123456000},
      {"2024-02-29T12:00:00Z", true, 1709208000000000000},
      {"2000-02-29T12:00:00Z", true, 951825600000000000},
      {"2023-02-29T12:00:00Z", false, 0},
      {"2100-02-29T12:00:00Z", false, 0},
      {"2026-13-01T00:00:00Z", false, 0},
      {"2026-00-01T00:00:00Z", false, 0},
      {"2026-04-31T00:00:00Z", false, 0},
      {"2026-01-01T24:00:00Z", false, 0},
      {"2026-01-01T00:60:00Z", false, 0},
      {"2026-01-01T00:00:60Z", false, 0},
      {"2026-01-01T00:00:00", false, 0},
      {"2026-01-01T00:00:00+00:00", false, 0},
      {"2026-01-01T00:00:00.Z", false, 0},
      {"2026-01-01T00:00:00Z ", false, 0},
      {"2026-1-01T00:00:00Z", false, 0},
      {"2026-01-01 00:00:00Z", false, 0},
      {"9999-01-01T00:00:00Z", false, 0},
      {"0001-01-01T00:00:00Z", false, 0},
      {"", false, 0},
      {"now", false, 0},
  };
  for (const auto& c : cases) {
    const auto time = parse_rfc3339(c.text);
    if (time.has_value() != c.ok) fail_msg("\"%s\"", c.text);
    if (c.ok) assert_int_equal(std::chrono::nanoseconds(time->time_since_epoch()).count(), c.nanos);
  }
}

void times_survive_the_round(void**) {
  for (const std::int64_t micros : {0LL, 1LL, 1767225600123456LL, -62135596800LL, 4102444800000000LL}) {
    const system_clock::time_point time{std::chrono::microseconds(micros)};
    assert_true(parse_rfc3339(rfc3339(time)) == time);
  }
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(writes_times),
      SLURMK8S_TEST(reads_times),
      SLURMK8S_TEST(times_survive_the_round),
  };
  return cmocka_run_group_tests_name("base_rfc3339", tests, nullptr, nullptr);
}
