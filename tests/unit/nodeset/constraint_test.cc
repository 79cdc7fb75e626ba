// SPDX-License-Identifier: GPL-2.0-or-later
// nodeset/constraint: expressions of --constraint as alternatives.
#include "nodeset/constraint.hpp"

#include "base/strings.hpp"
#include "support/cmocka.hpp"

namespace slurmk8s {
namespace {

/** "a,b|c": alternatives with '|', their features with ','. */
std::string describe(std::string_view text) {
  const auto constraint = parse_constraint(text);
  if (!constraint) return constraint.error().message();
  std::string all;
  for (const auto& alternative : constraint->alternatives) {
    const FeatureSet features = constraint->names(alternative);
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
      {"a&(b|a)", "a,b|a"},
      // Accepted by Slurm.
      {"a&", "a"},
      {"(a|b)&c|", "a,c|b,c"},
      {"[a*2x&b*+1]", "a,b with a count"},
      {"a*2*3", "a with a count"},
  };
  for (const auto& c : cases) assert_text(describe(c.text), c.expected);
}

void names_syntax_errors(void**) {
  const struct {
    const char* text;
    const char* expected;
  } cases[] = {
      {"&a", "a feature is missing before '&'"},
      {"a&&b", "a feature is missing before '&'"},
      {"(a|)", "a feature is missing before ')'"},
      {"a|(", "a feature is missing at its end"},
      {"(a", "a ')' is missing"},
      {"[a", "a ']' is missing"},
      {"a)", "unexpected ')'"},
      {"((a))", "parentheses within"},
      {"[a]&[b]", "more than one pair of brackets"},
      {"a*", "'*' must be followed by a positive number"},
      {"a*0", "'*' must be followed by a positive number"},
      {"a*99999999999999999999", "must be followed by a positive"},
      {"a(b)", "unexpected '('"},
  };
  for (const auto& c : cases) {
    const auto constraint = parse_constraint(c.text);
    assert_false(constraint.ok());
    assert_contains(constraint.error().message(), c.expected);
  }
}

std::string repeat(const std::string& text, int count, const std::string& between) {
  std::string all;
  for (int i = 0; i < count; i++) all += (i ? between : "") + text;
  return all;
}

/** "(a0|b0)&(a1|b1)&…": each factor doubles the alternatives. */
std::string factors(int count) {
  std::string text;
  for (int i = 0; i < count; i++) text += (i ? "&" : "") + format("(a%d|b%d)", i, i);
  return text;
}

void is_bounded(void**) {
  assert_contains(describe(std::string(kMaxConstraint + 1, 'x')), "more than 1024 bytes");
  assert_contains(describe(std::string(1 << 20, ',')), "more than 1024 bytes");
  assert_contains(describe(repeat("a", 257, "&")), "more than 256 features");
  assert_contains(describe(repeat("a", 257, "|")), "more than 256 features");
  assert_int_equal(parse_constraint(factors(8))->alternatives.size(), 256);
  assert_contains(describe(factors(9)), "more than 256 alternatives");
  assert_contains(describe(factors(80)), "more than 256 alternatives");
  assert_contains(describe("(a|b|c|d)&" + repeat("(w|x|y|z)", 7, "&")), "more than 256 alternatives");
  const auto code = parse_constraint(factors(80)).error().code();
  assert_true(code == Errc::forbidden);
}

/** Within the limits of the text: expressions over the bound on steps are refused. */
void cost_is_bounded(void**) {
  const std::string alternatives = "(" + repeat("a", 128, "|") + ")";
  const std::string cases[] = {repeat("a", 256, "&"),
                               repeat("a", 256, "|"),
                               factors(8),
                               factors(9),
                               factors(80),
                               std::string(1024, '('),
                               std::string(1024, '&'),
                               alternatives + "&" + repeat("b", 128, "&"),
                               alternatives + "&(c|d)",
                               repeat("(a|b)", 128, "&"),
                               repeat("(a&b)", 128, "|"),
                               "[" + repeat("a*1", 200, "&") + "]"};
  for (const std::string& text : cases) {
    const auto constraint = parse_constraint(text);
    if (constraint) assert_true(constraint->work <= kMaxConstraintWork);
  }
  // Linear where nothing is multiplied.
  assert_true(parse_constraint(repeat("a", 256, "|"))->work <= 256);
  assert_true(parse_constraint(repeat("a", 256, "&"))->work <= 512);
  assert_false(parse_constraint(alternatives + "&" + repeat("b", 128, "&")).ok());
}

void finds_features_whatever_the_grammar(void**) {
  const auto features = features_in("(a &b|[[c*2,");
  const std::vector<std::string_view> expected = {"a", "b", "c", "2"};
  assert_true(features == expected);
  assert_true(features_in(std::string(kMaxConstraint + 1, 'x')).empty());
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(reads_expressions),
      SLURMK8S_TEST(names_syntax_errors),
      SLURMK8S_TEST(is_bounded),
      SLURMK8S_TEST(cost_is_bounded),
      SLURMK8S_TEST(finds_features_whatever_the_grammar),
  };
  return cmocka_run_group_tests_name("nodeset_constraint", tests, nullptr, nullptr);
}
