// SPDX-License-Identifier: GPL-2.0-or-later
// json/merge_patch: the table of RFC 7386, appendix A, and who shares what.
#include "json/json.hpp"
#include "support/cmocka.hpp"

namespace slurmk8s {
namespace {

Json parsed(std::string_view text) {
  auto value = Json::parse(text);
  assert_ok(value);
  return *value;
}

void applies_the_table_of_the_rfc(void**) {
  const struct {
    const char* target;
    const char* patch;
    const char* result;
  } cases[] = {
      {R"({"a":"b"})", R"({"a":"c"})", R"({"a":"c"})"},
      {R"({"a":"b"})", R"({"b":"c"})", R"({"a":"b","b":"c"})"},
      {R"({"a":"b"})", R"({"a":null})", R"({})"},
      {R"({"a":"b","b":"c"})", R"({"a":null})", R"({"b":"c"})"},
      {R"({"a":["b"]})", R"({"a":"c"})", R"({"a":"c"})"},
      {R"({"a":"c"})", R"({"a":["b"]})", R"({"a":["b"]})"},
      {R"({"a":{"b":"c"}})", R"({"a":{"b":"d","c":null}})", R"({"a":{"b":"d"}})"},
      {R"({"a":[{"b":"c"}]})", R"({"a":[1]})", R"({"a":[1]})"},
      {R"(["a","b"])", R"(["c","d"])", R"(["c","d"])"},
      {R"({"a":"b"})", R"(["c"])", R"(["c"])"},
      {R"({"a":"foo"})", R"(null)", R"(null)"},
      {R"({"a":"foo"})", R"("bar")", R"("bar")"},
      {R"({"e":null})", R"({"a":1})", R"({"e":null,"a":1})"},
      {R"([1,2])", R"({"a":"b","c":null})", R"({"a":"b"})"},
      {R"({})", R"({"a":{"bb":{"ccc":null}}})", R"({"a":{"bb":{}}})"},
      // not in the RFC's table
      {R"(null)", R"({"a":{"b":null,"c":1}})", R"({"a":{"c":1}})"},
      {R"({"a":1})", R"({})", R"({"a":1})"},
      {R"({"a":[null]})", R"({"b":[null,{"c":null}]})", R"({"a":[null],"b":[null,{"c":null}]})"},
      {R"({"a":{"b":{"c":1,"d":2}}})", R"({"a":{"b":{"c":null}}})", R"({"a":{"b":{"d":2}}})"},
  };
  for (const auto& c : cases) {
    const Json target = parsed(c.target);
    const Json patch = parsed(c.patch);
    assert_text(merge_patch(target, patch).dump(), parsed(c.result).dump());
    assert_text(target.dump(), parsed(c.target).dump());
    assert_text(patch.dump(), parsed(c.patch).dump());
  }
}

void shares_nothing(void**) {
  const Json target = parsed(R"({"keep":{"x":1},"list":[1]})");
  const Json patch = parsed(R"({"new":{"y":{"z":1}},"array":[{"w":1}]})");
  Json result = merge_patch(target, patch);
  result["keep"].set("x", "changed");
  result["list"].push("changed");
  result.at({"new", "y"}).set("z", "changed");
  result["array"][0].set("w", "changed");
  assert_text(target.dump(), R"({"keep":{"x":1},"list":[1]})");
  assert_text(patch.dump(), R"({"new":{"y":{"z":1}},"array":[{"w":1}]})");
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(applies_the_table_of_the_rfc),
      SLURMK8S_TEST(shares_nothing),
  };
  return cmocka_run_group_tests_name("json_merge_patch", tests, nullptr, nullptr);
}
