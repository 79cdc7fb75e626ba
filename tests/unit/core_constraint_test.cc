// SPDX-License-Identifier: GPL-2.0-or-later
// core/constraint: what Slurm's manual says about --constraint, as alternatives.
#include "core/constraint.hpp"
#include "support/cmocka.hpp"

namespace slurmk8s {
namespace {

/** "a,b|c": alternatives with '|', their features with ','. */
std::string describe(std::string_view text) {
  const auto constraint = parse_constraint(text);
  if (!constraint) return constraint.error().message();
  std::string all;
  for (const FeatureSet& features : constraint->alternatives) {
    if (!all.empty()) all += '|';
    for (std::size_t i = 0; i < features.size(); i++) all += (i ? "," : "") + features[i];
  }
  return all + (constraint->has_count ? " with a count" : "");
}

void reads_expressions(void**) {
  const struct {
    const char* text;
    const char* expected;
  } cases[] = {
      {"", ""},
      {"  ", ""},
      {"gpu", "gpu"},
      {"intel&gpu", "intel,gpu"},
      {"intel,gpu", "intel,gpu"},
      {"a&a", "a"},
      {"intel|amd", "intel|amd"},
      {"foo|bar&baz", "foo|bar,baz"},
      {"foo&bar|baz", "foo,bar|baz"},
      {"foo&(bar|baz)", "foo,bar|foo,baz"},
      {"(a|b)&(c|d)", "a,c|a,d|b,c|b,d"},
      {"[rack1|rack2|rack3]", "rack1|rack2|rack3"},
      {"a&[b|c]", "a,b|a,c"},
      {"graphics*4", "graphics with a count"},
      {"[rack1*2&rack2*4]", "rack1,rack2 with a count"},
      {"[(rack1|rack2)*1&(rack3)*2]", "rack1,rack3|rack2,rack3 with a count"},
      {"[a&b]", "a,b with a count"},
      {"[(a&b)|c]", "a,b|c"},
      {"cuda-12.4_x & b", "cuda-12.4_x,b"},
  };
  for (const auto& c : cases) assert_text(describe(c.text), c.expected);
}

void tells_what_is_wrong(void**) {
  const struct {
    const char* text;
    const char* expected;
  } cases[] = {
      {"&a", "a feature is missing before '&'"}, {"a&", "a feature is missing at its end"},
      {"a|", "a feature is missing at its end"}, {"(a", "a ')' is missing"},
      {"[a", "a ']' is missing"},                {"a)", "unexpected ')'"},
      {"((a))", "parentheses within"},           {"[a]&[b]", "more than one pair of brackets"},
      {"a*", "a positive number"},               {"a*0", "a positive number"},
      {"a*99999999999999999999", "a positive"},  {"a(b)", "unexpected '('"},
  };
  for (const auto& c : cases) {
    const auto constraint = parse_constraint(c.text);
    assert_false(constraint.ok());
    assert_contains(constraint.error().message(), c.expected);
  }
}

void is_bounded(void**) {
  std::string text = "(a|b|c|d)";
  for (char c = 'a'; c < 'h'; c++) text += std::string("&(w") + c + "|x" + c + "|y" + c + "|z" + c + ")";
  assert_contains(describe(text), "too many alternatives");
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(reads_expressions),
      SLURMK8S_TEST(tells_what_is_wrong),
      SLURMK8S_TEST(is_bounded),
  };
  return cmocka_run_group_tests_name("core_constraint", tests, nullptr, nullptr);
}
