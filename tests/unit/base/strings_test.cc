// SPDX-License-Identifier: GPL-2.0-or-later
// base/strings: split, trim, numbers, printf.
#include "base/strings.hpp"

#include <limits>

#include "support/cmocka.hpp"

namespace slurmk8s {
namespace {

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

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(splits),
      SLURMK8S_TEST(trims),
      SLURMK8S_TEST(parses_integers),
      SLURMK8S_TEST(formats),
  };
  return cmocka_run_group_tests_name("base_strings", tests, nullptr, nullptr);
}
