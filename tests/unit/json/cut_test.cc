// SPDX-License-Identifier: GPL-2.0-or-later
// json/cut: what is left out, and that nothing else is.
#include <array>

#include "json/cut.hpp"
#include "support/cmocka.hpp"

namespace slurmk8s {
namespace {

constexpr std::array<std::string_view, 2> kNames{"x", "long name"};

std::string cut(std::string_view text) { return cut_members(text, kNames); }

void cuts_members_wherever_they_are(void**) {
  const struct {
    const char* text;
    const char* left;
  } cases[] = {
      {R"({"x":1})", R"({})"},
      {R"({"x":1,"a":2})", R"({"a":2})"},
      {R"({"a":2,"x":1})", R"({"a":2})"},
      {R"({"a":2,"x":1,"b":3})", R"({"a":2,"b":3})"},
      {R"({"x":1,"long name":2})", R"({})"},
      {R"({"a":0,"x":1,"x":2})", R"({"a":0})"},
      {R"({"a":{"x":[1,{"b":"}"}]},"b":[{"x":null,"c":4}]})", R"({"a":{},"b":[{"c":4}]})"},
      {R"({ "a" : 2 , "x" : { "y" : [ ] } , "b" : 3 })", R"({ "a" : 2 ,  "b" : 3 })"},
      {R"({"x":"a\"},{\\","a":1})", R"({"a":1})"},
  };
  for (const auto& [text, left] : cases) assert_text(cut(text), left);
}

void keeps_the_rest(void**) {
  for (const char* text : {"", "null", R"("x")", R"(["x","long name"])", R"({"a":"x","b":["x"]})", R"({"xx":1,"":2})",
                           R"({"a":"\"x\":1"})", R"({"\u0078":1})", R"({"a":"x\\","b":1})"}) {
    assert_text(cut(text), text);
  }
  assert_text(cut_members(R"({"x":1})", {}), R"({"x":1})");
}

void what_is_no_json_ends(void**) {
  for (const char* text : {R"({"x")", R"({"x":)", R"({"x":")", R"({"x":"\)", R"({"x":{[)", R"({"a":1,"x":[1)",
                           R"("x":)", R"("x" )", "\"", "\"\\"}) {
    cut(text);  // the sanitizers look at it
  }
  assert_text(cut(R"({"a":1,"x":[1)"), R"({"a":1)");
  assert_text(cut(R"({"x":1]})"), R"({]})");
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(cuts_members_wherever_they_are),
      SLURMK8S_TEST(keeps_the_rest),
      SLURMK8S_TEST(what_is_no_json_ends),
  };
  return cmocka_run_group_tests_name("json_cut", tests, nullptr, nullptr);
}
