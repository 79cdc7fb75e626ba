// SPDX-License-Identifier: GPL-2.0-or-later
// base/text: each function's table.
#include "base/text.hpp"

#include <limits>
#include <set>

#include "support/cmocka.hpp"

namespace slurmk8s {
namespace {

using std::chrono::system_clock;

void splits(void**) {
  const struct {
    const char* text;
    const char* joined;  // parts in <>
  } cases[] = {
      {"", "<>"}, {"a", "<a>"}, {"a,b", "<a><b>"}, {",", "<><>"}, {"a,,b,", "<a><><b><>"}, {" a , b ", "< a >< b >"},
  };
  for (const auto& c : cases) {
    std::string joined;
    for (const auto part : split(c.text, ',')) joined.append("<").append(part).append(">");
    assert_text(joined, c.joined);
  }
}

void trims(void**) {
  const struct {
    const char* text;
    const char* expected;
  } cases[] = {{"", ""}, {"  ", ""}, {"a", "a"}, {" \t\r\na b\n\v\f ", "a b"}, {"a ", "a"}, {" a", "a"}};
  for (const auto& c : cases) assert_text(trim(c.text), c.expected);
}

void parses_integers(void**) {
  const struct {
    const char* text;
    bool ok;
    std::int64_t value;
  } cases[] = {
      {"0", true, 0},
      {"-0", true, 0},
      {"42", true, 42},
      {"-42", true, -42},
      {"007", true, 7},
      {"9223372036854775807", true, std::numeric_limits<std::int64_t>::max()},
      {"-9223372036854775808", true, std::numeric_limits<std::int64_t>::min()},
      {"9223372036854775808", false, 0},
      {"-9223372036854775809", false, 0},
      {"", false, 0},
      {"-", false, 0},
      {"+1", false, 0},
      {" 1", false, 0},
      {"1 ", false, 0},
      {"1.0", false, 0},
      {"0x10", false, 0},
      {"--1", false, 0},
  };
  for (const auto& c : cases) {
    const auto value = parse_int(c.text);
    if (value.has_value() != c.ok) fail_msg("\"%s\"", c.text);
    if (c.ok) assert_int_equal(*value, c.value);
  }
}

void formats(void**) {
  assert_text(format("%s", ""), "");
  assert_text(format("%d %s %05.1f", 7, "x", 2.25), "7 x 002.2");
  const std::string large(100000, 'x');
  assert_text(format("<%s>", large.c_str()), "<" + large + ">");
}

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

void random_values(void**) {
  std::set<std::string> ids;
  for (int i = 0; i < 1000; ++i) {
    const std::string id = random_id();
    assert_int_equal(id.size(), 16);
    assert_true(id.find_first_not_of("0123456789abcdef") == std::string::npos);
    ids.insert(id);
    const double unit = random_unit();
    assert_true(unit >= 0.0 && unit < 1.0);
  }
  assert_int_equal(ids.size(), 1000);
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(splits),
      SLURMK8S_TEST(trims),
      SLURMK8S_TEST(parses_integers),
      SLURMK8S_TEST(formats),
      SLURMK8S_TEST(writes_times),
      SLURMK8S_TEST(reads_times),
      SLURMK8S_TEST(times_survive_the_round),
      SLURMK8S_TEST(random_values),
  };
  return cmocka_run_group_tests_name("base_text", tests, nullptr, nullptr);
}
