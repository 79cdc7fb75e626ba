// SPDX-License-Identifier: GPL-2.0-or-later
// json/json: strict parsing, reading that never fails, writing, merge patches.
#include "json/json.hpp"

#include <limits>

#include "support/cmocka.hpp"

namespace slurmk8s {
namespace {

Json parsed(std::string_view text) {
  const auto value = Json::parse(text);
  assert_ok(value);
  return *value;
}

void parses_and_writes_the_same(void**) {
  const char* cases[] = {
      "null",
      "true",
      "false",
      "0",
      "-1",
      "9223372036854775807",
      "-9223372036854775808",
      "18446744073709551615",
      "1.5",
      "-0.5e-3",
      "1e400",
      "123456789012345678901234567890.5",
      "\"\"",
      "\"a\"",
      "\"/\"",
      "\"\\\"\\\\\\b\\f\\n\\r\\t\"",
      "\"\\u0000x\"",
      "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\"",
      "[]",
      "{}",
      "[1,[2,[3]]]",
      "{\"b\":1,\"a\":{\"c\":[null,true]}}",
      "{\"\":0}",
  };
  for (const char* text : cases) assert_text(parsed(text).dump(), text);
}

void parses_what_is_written_otherwise(void**) {
  const struct {
    const char* text;
    const char* expected;
  } cases[] = {
      {" \t\r\n{ \"a\" : [ 1 , 2 ] } \n", "{\"a\":[1,2]}"},
      {"\"\\u00e4\\u20ac\\ud83d\\ude00\"", "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\""},
      {"\"\\/\"", "\"/\""},
      {"{\"a\":1,\"b\":2,\"a\":3}", "{\"a\":3,\"b\":2}"},
  };
  for (const auto& c : cases) assert_text(parsed(c.text).dump(), c.expected);
}

void refuses(void**) {
  const std::string_view cases[] = {
      "",
      " ",
      "{",
      "[",
      "\"",
      "{\"a\"",
      "{\"a\":",
      "{\"a\":1",
      "[1,",
      "tru",
      "nul",
      "-",
      "[1,]",
      "{\"a\":1,}",
      "[1 , \n]",
      "[\",\",]",
      "{\"a\":[],}",
      "[,1]",
      "[1,,2]",
      "{,}",
      "18446744073709551616",
      "[-9223372036854775809]",
      "99999999999999999999999",
      "{a:1}",
      "{'a':1}",
      "['a']",
      "[1 2]",
      "{\"a\" 1}",
      "{1:2}",
      "1 2",
      "{} {}",
      "{}x",
      "null null",
      "[]]",
      "}",
      "NaN",
      "nan",
      "[NaN]",
      "Infinity",
      "-Infinity",
      "[-Infinity]",
      "inf",
      "True",
      "NULL",
      "nULL",
      "01",
      "-01",
      "[012]",
      "[-012]",
      "1.",
      ".5",
      "+1",
      "1e",
      "1e+",
      "0x10",
      "--1",
      "// c\n1",
      "/* c */ 1",
      "[1 /* c */]",
      "\"a\nb\"",
      "\"a\tb\"",
      "\"\x01\"",
      "\"\\x\"",
      "\"\\u12\"",
      std::string_view("1\0", 2),
      std::string_view("\"a\0b\"", 5),
      std::string_view("\0", 1),
      "\"\xff\"",
      "\"\xc3\"",
      "\"\xc0\x80\"",
      "\"\xed\xa0\x80\"",
      "\"\xe0\x80\x80\"",
      "\"\xf4\x90\x80\x80\"",
      "{\"\xff\":1}",
      "{\"a\tb\":1}",
      "[00]",
      "[-00]",
      "[0.]",
      "\xef\xbb\xbf{}",
  };
  for (const auto text : cases) {
    const auto value = Json::parse(text);
    if (value.ok()) fail_msg("accepted: %s -> %s", std::string(text).c_str(), value->dump().c_str());
    assert_error(value, Errc::invalid, "JSON: ");
    assert_contains(value.error().message(), "byte");
  }
}

void errors_name_the_place(void**) {
  const struct {
    const char* text;
    const char* place;
  } cases[] = {{"{} x", "at byte 3"},
               {"[1,2", "at byte 4"},
               {"{\"a\": nope}", "at byte 6"},
               {"[1, ]", "trailing comma at byte 4"},
               {"[1,NaN]", "at byte 3"}};
  for (const auto& c : cases) assert_error(Json::parse(c.text), Errc::invalid, c.place);
}

void depth_is_limited(void**) {
  const auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  assert_ok(Json::parse(nested(100)));
  assert_error(Json::parse(nested(200)), Errc::invalid, "");
  assert_error(Json::parse(std::string(1000000, '[')), Errc::invalid, "");
}

void types_are_told(void**) {
  const struct {
    const char* text;
    const char* type;
  } cases[] = {{"null", "null"},    {"true", "boolean"}, {"1", "integer"}, {"1.0", "number"},
               {"\"1\"", "string"}, {"[]", "array"},     {"{}", "object"}, {"18446744073709551615", "integer"}};
  for (const auto& c : cases) assert_text(parsed(c.text).type_name(), c.type);
}

void reading_never_fails(void**) {
  const Json value = parsed(
      "{\"s\":\"text\",\"i\":7,\"d\":1.5,\"b\":true,\"a\":[10,20],"
      "\"o\":{\"p\":{\"q\":\"deep\"}},\"n\":null}");
  assert_text(value["s"].text(), "text");
  assert_text(value["i"].text("fallback"), "fallback");
  assert_text(value["none"].text(), "");
  assert_int_equal(value["i"].integer_or(-1), 7);
  assert_int_equal(value["d"].integer_or(-1), -1);
  assert_int_equal(value["s"].integer_or(-1), -1);
  assert_true(value["d"].number_or(0) == 1.5 && value["i"].number_or(0) == 7.0 && value["s"].number_or(2) == 2.0);
  assert_true(value["b"].boolean_or(false));
  assert_true(value["i"].boolean_or(true));
  assert_int_equal(value["a"][1].integer_or(0), 20);
  assert_true(value["a"][2].is_null() && value["s"][std::size_t{0}].is_null());
  assert_text(value.at({"o", "p", "q"}).text(), "deep");
  assert_true(value.at({"o", "x", "q"}).is_null() && value.at({"s", "p"}).is_null());
  assert_true(value.has("n") && !value.has("x") && !value["s"].has("x"));
  assert_int_equal(value.size(), 7);
  assert_int_equal(value["a"].size(), 2);
  assert_int_equal(value["s"].size(), 0);
}

void numbers_that_do_not_fit(void**) {
  assert_int_equal(parsed("9223372036854775807").integer_or(-1), std::numeric_limits<std::int64_t>::max());
  assert_int_equal(parsed("9223372036854775808").integer_or(-1), -1);
  assert_int_equal(parsed("-9223372036854775808").integer_or(-1), std::numeric_limits<std::int64_t>::min());
}

void each_keeps_the_order(void**) {
  const Json value = parsed("{\"z\":1,\"a\":2,\"m\":[3,4]}");
  std::string seen;
  value.each([&](std::string_view key, const Json& member) { seen.append(key).append("=").append(member.dump()); });
  value["m"].each([&](const Json& element) { seen.append(",").append(element.dump()); });
  value["z"].each([&](const Json&) { seen += "never"; });
  value["m"].each([&](std::string_view, const Json&) { seen += "never"; });
  assert_text(seen, "z=1a=2m=[3,4],3,4");
}

void builds(void**) {
  Json value;
  value.set("s", "x").set("i", Json::integer(3)).set("n", Json()).set("l", Json().push("a").push(Json::boolean(false)));
  value.set("s", std::string_view("again"));
  assert_text(value.dump(), "{\"s\":\"again\",\"i\":3,\"n\":null,\"l\":[\"a\",false]}");
  value.erase("i");
  value.erase("none");
  assert_text(value.dump(), "{\"s\":\"again\",\"n\":null,\"l\":[\"a\",false]}");
  Json text = Json::string("t");
  text.set("a", "b").push("c");
  text.erase("a");
  assert_text(text.dump(), "\"t\"");
}

void copies_share_and_clones_do_not(void**) {
  Json value = parsed("{\"a\":{\"b\":1}}");
  Json copy = value;
  const Json deep = value.clone();
  copy["a"].set("b", Json::integer(2));
  assert_text(value.dump(), "{\"a\":{\"b\":2}}");
  assert_text(deep.dump(), "{\"a\":{\"b\":1}}");
  const Json moved = std::move(copy);
  assert_text(moved.dump(), "{\"a\":{\"b\":2}}");
  value = Json();
  assert_text(moved["a"].dump(), "{\"b\":2}");
  assert_true(Json().clone().is_null());
}

void a_member_outlives_its_object(void**) {
  Json member;
  {
    const Json value = parsed("{\"a\":\"text\"}");
    member = value["a"];
  }
  assert_text(member.text(), "text");
}

void equality_is_deep(void**) {
  const struct {
    const char* a;
    const char* b;
    bool equal;
  } cases[] = {
      {"null", "null", true},
      {"{\"a\":1,\"b\":[1,2]}", "{\"b\":[1,2],\"a\":1}", true},
      {"[1,2]", "[2,1]", false},
      {"{\"a\":1}", "{\"a\":2}", false},
      {"{\"a\":1}", "{\"a\":1,\"b\":null}", false},
      {"null", "{}", false},
      {"1", "\"1\"", false},
  };
  for (const auto& c : cases) assert_int_equal(parsed(c.a).equals(parsed(c.b)), c.equal);
}

void merge_patches(void**) {
  // The table of RFC 7386, appendix A, and what it leaves open.
  const struct {
    const char* target;
    const char* patch;
    const char* expected;
  } cases[] = {
      {"{\"a\":\"b\"}", "{\"a\":\"c\"}", "{\"a\":\"c\"}"},
      {"{\"a\":\"b\"}", "{\"b\":\"c\"}", "{\"a\":\"b\",\"b\":\"c\"}"},
      {"{\"a\":\"b\"}", "{\"a\":null}", "{}"},
      {"{\"a\":\"b\",\"b\":\"c\"}", "{\"a\":null}", "{\"b\":\"c\"}"},
      {"{\"a\":[\"b\"]}", "{\"a\":\"c\"}", "{\"a\":\"c\"}"},
      {"{\"a\":\"c\"}", "{\"a\":[\"b\"]}", "{\"a\":[\"b\"]}"},
      {"{\"a\":{\"b\":\"c\"}}", "{\"a\":{\"b\":\"d\",\"c\":null}}", "{\"a\":{\"b\":\"d\"}}"},
      {"{\"a\":[{\"b\":\"c\"}]}", "{\"a\":[1]}", "{\"a\":[1]}"},
      {"[\"a\",\"b\"]", "[\"c\",\"d\"]", "[\"c\",\"d\"]"},
      {"{\"a\":\"b\"}", "[\"c\"]", "[\"c\"]"},
      {"{\"a\":\"foo\"}", "null", "null"},
      {"{\"a\":\"foo\"}", "\"bar\"", "\"bar\""},
      {"{\"e\":null}", "{\"a\":1}", "{\"e\":null,\"a\":1}"},
      {"[1,2]", "{\"a\":\"b\",\"c\":null}", "{\"a\":\"b\"}"},
      {"{}", "{\"a\":{\"bb\":{\"ccc\":null}}}", "{\"a\":{\"bb\":{}}}"},
      {"null", "{}", "{}"},
      {"{\"a\":1}", "{}", "{\"a\":1}"},
  };
  for (const auto& c : cases) {
    const Json target = parsed(c.target);
    const Json patch = parsed(c.patch);
    const Json result = merge_patch(target, patch);
    if (!result.equals(parsed(c.expected))) {
      fail_msg("%s + %s: got %s", c.target, c.patch, result.dump().c_str());
    }
    assert_text(target.dump(), c.target);
    assert_text(patch.dump(), c.patch);
  }
}

void merge_results_are_nobody_elses(void**) {
  const Json target = parsed("{\"keep\":{\"x\":1}}");
  const Json patch = parsed("{\"new\":{\"y\":1}}");
  Json result = merge_patch(target, patch);
  result["keep"].set("x", Json::integer(2));
  result["new"].set("y", Json::integer(2));
  assert_text(target.dump(), "{\"keep\":{\"x\":1}}");
  assert_text(patch.dump(), "{\"new\":{\"y\":1}}");
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(parses_and_writes_the_same),
      SLURMK8S_TEST(parses_what_is_written_otherwise),
      SLURMK8S_TEST(refuses),
      SLURMK8S_TEST(errors_name_the_place),
      SLURMK8S_TEST(depth_is_limited),
      SLURMK8S_TEST(types_are_told),
      SLURMK8S_TEST(reading_never_fails),
      SLURMK8S_TEST(numbers_that_do_not_fit),
      SLURMK8S_TEST(each_keeps_the_order),
      SLURMK8S_TEST(builds),
      SLURMK8S_TEST(copies_share_and_clones_do_not),
      SLURMK8S_TEST(a_member_outlives_its_object),
      SLURMK8S_TEST(equality_is_deep),
      SLURMK8S_TEST(merge_patches),
      SLURMK8S_TEST(merge_results_are_nobody_elses),
  };
  return cmocka_run_group_tests_name("json_json", tests, nullptr, nullptr);
}
