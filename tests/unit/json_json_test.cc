// SPDX-License-Identifier: GPL-2.0-or-later
// json/json, json/lexer: what is JSON and what isn't, reading, writing, sharing.
#include "json/json.hpp"

#include <limits>
#include <string>

#include "support/cmocka.hpp"

namespace slurmk8s {
namespace {

using namespace std::string_literals;

Json parsed(std::string_view text) {
  auto value = Json::parse(text);
  assert_ok(value);
  return *value;
}

void takes_json(void**) {
  const struct {
    const char* text;
    const char* dumped;
    const char* type;
  } cases[] = {
      {"null", "null", "null"},
      {"true", "true", "boolean"},
      {"false", "false", "boolean"},
      {"0", "0", "integer"},
      {"-0", "0", "integer"},
      {"9223372036854775807", "9223372036854775807", "integer"},
      {"-9223372036854775808", "-9223372036854775808", "integer"},
      {"1.50", "1.50", "number"},
      {"-0.0", "-0.0", "number"},
      {"1e5", "1e5", "number"},
      {"1E+5", "1E+5", "number"},
      {"0.5e-7", "0.5e-7", "number"},
      {"\"\"", "\"\"", "string"},
      {"\"a/b\"", "\"a/b\"", "string"},
      {"\"a\\/b\"", "\"a/b\"", "string"},
      {"\"\\u00e4\\n\\\"\\\\\"", "\"\xc3\xa4\\n\\\"\\\\\"", "string"},
      {"\"\\ud83d\\ude00\"", "\"\xf0\x9f\x98\x80\"", "string"},
      {"\"\xf0\x9f\x98\x80\"", "\"\xf0\x9f\x98\x80\"", "string"},
      {"\"\x7f\"", "\"\x7f\"", "string"},
      {"[]", "[]", "array"},
      {" [ 1 , [ ] , { } ] \r\n\t", "[1,[],{}]", "array"},
      {"{}", "{}", "object"},
      {"{\"b\":1,\"a\":null}", "{\"b\":1,\"a\":null}", "object"},
      {"{\"a\":1,\"a\":2}", "{\"a\":2}", "object"},
      {"{\"\":1}", "{\"\":1}", "object"},
  };
  for (const auto& c : cases) {
    const Json value = parsed(c.text);
    assert_text(value.dump(), c.dumped);
    assert_text(value.type_name(), c.type);
    assert_true(parsed(value.dump()).equals(value));
  }
}

void refuses_what_is_no_json(void**) {
  const std::string cases[] = {
      "",        " ",        "\0"s,     "1\0"s,       "[1]\0"s,     "nul",       "nulll",      "NULL",     "True",
      "NaN",     "nan",      "Infinity", "-Infinity", "inf",        "-",         "+1",         ".5",       "1.",
      "1.e5",    "1e",       "1e+",     "1.5e-",      "01",         "-012",      "00",         "01.5",     "0x10",
      "1_000",   "--1",      "1 2",     "[1] 2",      "[1]]",       "[",         "]",          "[1,]",     "[,1]",
      "[1 2]",   "[1",       "{",       "}",          "{,}",        "{\"a\"}",   "{\"a\":}",   "{\"a\":1,}", "{a:1}",
      "{\"a\" 1}", "{1:1}",  "{\"a\":1 \"b\":2}", "{'a':1}", "'a'", "\"a",      "\"",         "\"\\",     "\"\\x\"",
      "\"\\u12\"", "\"\\u12g4\"", "\"a\nb\"", "\"a\tb\"", "\"a\0b\""s, "\"\x1f\"", "/*c*/1",   "1//c",     "#1",
      "\"\xff\"", "\"\xc3\"", "\"\xc3(\"", "\"\xc0\xaf\"", "\"\xe0\x80\xaf\"", "\"\xed\xa0\x80\"",
      "\"\xf0\x80\x80\xaf\"", "\"\xf4\x90\x80\x80\"", "\"\xf5\x80\x80\x80\"", "\"\x80\"", "\"\xe2\x82\"",
      "\xef\xbb\xbf" "1", "\x7f", "\v1", "[NaN]", "{\"a\":-Infinity}", "\xc3\xa4",
  };
  for (const auto& text : cases) {
    const auto value = Json::parse(text);
    if (value.ok()) fail_msg("taken: %s", text.c_str());
    assert_error(value, Errc::invalid, "JSON: ");
    assert_contains(value.error().message(), "byte");
  }
}

void says_where(void**) {
  const struct {
    const char* text;
    const char* message;
  } cases[] = {
      {"[1, 02]", "at byte 4"},
      {"{\"a\":1}x", "at byte 7"},
      {"[1] [2]", "text after the value at byte 4"},
      {"\"abc\n\"", "control character in a string at byte 4"},
      {"[1,", "unexpected end"},
  };
  for (const auto& c : cases) assert_error(Json::parse(c.text), Errc::invalid, c.message);
}

void reads_views_without_a_nul(void**) {
  const std::string_view text = "12345";
  assert_int_equal(parsed(text.substr(0, 3))["x"].is_null(), 1);
  assert_int_equal(parsed(text.substr(0, 3)).integer_or(0), 123);
  assert_true(parsed(std::string_view("truely", 4)).boolean_or(false));
}

void limits_depth(void**) {
  const auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  assert_ok(Json::parse(nested(128)));
  assert_error(Json::parse(nested(129)), Errc::invalid, "deep");
  assert_error(Json::parse(std::string(1000000, '[')), Errc::invalid, "deep");
  std::string objects;
  for (int i = 0; i < 1000; ++i) objects += "{\"a\":";
  assert_error(Json::parse(objects), Errc::invalid, "deep");
}

void reading_never_fails(void**) {
  const Json value = parsed(R"({"s":"text","i":7,"r":1.5,"b":true,"n":null,"a":[1,"x"],"o":{"k":{"l":3}}})");
  assert_text(value["s"].text(), "text");
  assert_text(value["i"].text("fallback"), "fallback");
  assert_text(value["none"].text(), "");
  assert_int_equal(value["i"].integer_or(-1), 7);
  assert_int_equal(value["r"].integer_or(-1), -1);
  assert_int_equal(value["s"].integer_or(-1), -1);
  assert_true(value["r"].number_or(0) == 1.5);
  assert_true(value["i"].number_or(0) == 7);
  assert_true(value["s"].number_or(0.25) == 0.25);
  assert_true(value["b"].boolean_or(false));
  assert_true(value["i"].boolean_or(true));
  assert_int_equal(value.at({"o", "k", "l"}).integer_or(0), 3);
  assert_true(value.at({"o", "x", "l"}).is_null());
  assert_true(value.at({"s", "k"}).is_null());
  assert_text(value["a"][1].text(), "x");
  assert_true(value["a"][2].is_null());
  assert_true(value["s"][std::size_t{0}].is_null());
  assert_int_equal(value.size(), 7);
  assert_int_equal(value["a"].size(), 2);
  assert_int_equal(value["s"].size(), 0);
  assert_int_equal(Json().size(), 0);
  assert_true(value.has("n"));
  assert_false(value.has("none"));
  assert_false(value["a"].has("n"));
  assert_true(value["n"].is_null());
  assert_true(value["i"].is_integer() && value["i"].is_number() && value["r"].is_number());
  assert_false(value["r"].is_integer());
}

void numbers_keep_to_64_bits(void**) {
  constexpr auto kMax = std::numeric_limits<std::int64_t>::max();
  assert_true(parsed("9223372036854775807").integer_or(-1) == kMax);
  assert_int_equal(parsed("9223372036854775808").integer_or(-1), -1);
  assert_int_equal(parsed("18446744073709551615").integer_or(-1), -1);
  assert_int_equal(parsed("99999999999999999999999").integer_or(-1), -1);
}

void visits_in_order(void**) {
  std::string seen;
  const Json value = parsed(R"({"b":1,"a":[2,3],"c":null})");
  value.each([&seen](std::string_view key, const Json& member) {
    seen.append(key).append("=").append(member.dump()).append(" ");
  });
  value["a"].each([&seen](const Json& element) { seen += element.dump() + ";"; });
  value["b"].each([&seen](const Json&) { seen += "wrong"; });
  value["b"].each([&seen](std::string_view, const Json&) { seen += "wrong"; });
  assert_text(seen, "b=1 a=[2,3] c=null 2;3;");
}

void builds(void**) {
  Json pod;
  pod.set("kind", "Pod").set("n", Json::integer(-5)).set("r", Json::number(0.5)).set("b", Json::boolean(false));
  pod.set("null", Json());
  Json list;
  list.push("a").push(Json::object()).push(Json::array()).push(Json());
  pod.set("list", list);
  pod.set("kind", "Node");
  pod.set(std::string_view("keyword").substr(0, 3), Json::string("a\0\"/"s));
  assert_text(pod.dump(), R"({"kind":"Node","n":-5,"r":0.5,"b":false,"null":null,"list":["a",{},[],null],"key":"a\u0000\"/"})");
  assert_int_equal(pod["key"].text().size(), 4);
  pod.erase("list");
  pod.erase("none");
  assert_false(pod.has("list"));
  assert_text(list.dump(), R"(["a",{},[],null])");
}

void other_types_stay_as_they_are(void**) {
  Json text = Json::string("x");
  text.set("a", "b").push("c");
  text.erase("a");
  assert_text(text.dump(), "\"x\"");
  Json list = Json::array();
  list.set("a", "b");
  assert_text(list.dump(), "[]");
}

void copies_share_and_clones_do_not(void**) {
  Json original = parsed(R"({"a":{"b":1.250},"l":[1]})");
  const Json shared = original;
  const Json cloned = original.clone();
  original["a"].set("b", "new");
  original["l"].push("x");
  assert_text(shared.dump(), R"({"a":{"b":"new"},"l":[1,"x"]})");
  assert_text(cloned.dump(), R"({"a":{"b":1.250},"l":[1]})");
  assert_true(Json().clone().is_null());
  Json moved = std::move(original);
  assert_true(original.is_null());
  moved = moved["a"];  // part of itself
  assert_text(moved.dump(), R"({"b":"new"})");
}

void compares_deep(void**) {
  const struct {
    const char* left;
    const char* right;
    bool equal;
  } cases[] = {
      {"null", "null", true},   {"null", "0", false},           {"1", "1", true},
      {"1", "2", false},        {"\"a\"", "\"a\"", true},       {"[1,2]", "[2,1]", false},
      {"{}", "[]", false},      {"{\"a\":1,\"b\":[null]}", "{\"b\":[null],\"a\":1}", true},
      {"{\"a\":1}", "{\"a\":1,\"b\":null}", false},
  };
  for (const auto& c : cases) {
    assert_int_equal(parsed(c.left).equals(parsed(c.right)), c.equal);
    assert_int_equal(parsed(c.right).equals(parsed(c.left)), c.equal);
  }
}

void a_member_outlives_its_object(void**) {
  Json member;
  {
    Json object = parsed(R"({"a":{"b":"kept"}})");
    member = object["a"];
  }
  assert_text(member["b"].text(), "kept");
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(takes_json),
      SLURMK8S_TEST(refuses_what_is_no_json),
      SLURMK8S_TEST(says_where),
      SLURMK8S_TEST(reads_views_without_a_nul),
      SLURMK8S_TEST(limits_depth),
      SLURMK8S_TEST(reading_never_fails),
      SLURMK8S_TEST(numbers_keep_to_64_bits),
      SLURMK8S_TEST(visits_in_order),
      SLURMK8S_TEST(builds),
      SLURMK8S_TEST(other_types_stay_as_they_are),
      SLURMK8S_TEST(copies_share_and_clones_do_not),
      SLURMK8S_TEST(compares_deep),
      SLURMK8S_TEST(a_member_outlives_its_object),
  };
  return cmocka_run_group_tests_name("json_json", tests, nullptr, nullptr);
}
