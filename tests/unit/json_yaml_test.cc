// SPDX-License-Identifier: GPL-2.0-or-later
// json/yaml: scalars of the core schema, structure, and everything that is refused.
#include "json/yaml.hpp"

#include <string>

#include "support/cmocka.hpp"

namespace slurmk8s {
namespace {

using namespace std::string_literals;

void reads_scalars(void**) {
  const struct {
    const char* text;
    const char* json;
  } cases[] = {
      {"", "null"},         {"---\n", "null"},       {"~", "null"},          {"null", "null"},      {"NULL", "null"},
      {"nUll", "\"nUll\""}, {"true", "true"},        {"True", "true"},       {"FALSE", "false"},    {"tRue", "\"tRue\""},
      {"yes", "\"yes\""},   {"no", "\"no\""},        {"on", "\"on\""},       {"off", "\"off\""},    {"y", "\"y\""},
      {"0", "0"},           {"-7", "-7"},            {"+7", "7"},            {"012", "\"012\""},    {"-012", "\"-012\""},
      {"0o17", "15"},       {"0x1F", "31"},          {"0x", "\"0x\""},       {"0o8", "\"0o8\""},    {"0x-1", "\"0x-1\""},
      {"1.5", "1.5"},       {"-.5", "-0.5"},         {"+1.5", "1.5"},        {"1e3", "1000.0"},     {"1.", "1.0"},
      {"01.5", "\"01.5\""}, {".", "\".\""},          {"-", "[null]"},        {"1e", "\"1e\""},      {"1e5x", "\"1e5x\""},
      {".inf", "\".inf\""}, {".nan", "\".nan\""},    {"1.2.3", "\"1.2.3\""}, {"1_000", "\"1_000\""},
      {"2001-01-01", "\"2001-01-01\""},              {"12:30", "\"12:30\""},
      {"'1'", "\"1\""},     {"\"true\"", "\"true\""}, {"\"\"", "\"\""},      {"''", "\"\""},        {"\"a\\tb\\u00e4\"", "\"a\\tb\xc3\xa4\""},
      {"a b # comment", "\"a b\""},
      {"|\n  a\n  b\n", "\"a\\nb\\n\""},             {">-\n  a\n  b\n", "\"a b\""},
      {"9223372036854775807", "9223372036854775807"},
  };
  for (const auto& c : cases) {
    const auto value = parse_yaml(c.text);
    assert_ok(value);
    assert_text(value->dump(), c.json);
  }
}

void reads_structure(void**) {
  const struct {
    const char* text;
    const char* json;
  } cases[] = {
      {"a: 1\nb: [x, 'y', {z: }]\n", R"({"a":1,"b":["x","y",{"z":null}]})"},
      {"- a\n- - b\n  - c\n- {}\n", R"(["a",["b","c"],{}])"},
      {"1: a\ntrue: b\n\"\": c\n", R"({"1":"a","true":"b","":"c"})"},
      {"<<: a\n", R"({"<<":"a"})"},
      {"%YAML 1.1\n---\na: b\n...\n", R"({"a":"b"})"},
      {"{\"json\": [true, null, 1]}", R"({"json":[true,null,1]})"},
      {"a:\n  b:\n    c: d\n", R"({"a":{"b":{"c":"d"}}})"},
  };
  for (const auto& c : cases) {
    const auto value = parse_yaml(c.text);
    assert_ok(value);
    assert_text(value->dump(), c.json);
  }
}

void reads_a_kubeconfig(void**) {
  const auto value = parse_yaml(
      "apiVersion: v1\nkind: Config\ncurrent-context: here\n"
      "contexts:\n- name: here\n  context: {cluster: c, user: u}\n"
      "users:\n- name: u\n  user:\n    token: 'abc'\n");
  assert_ok(value);
  assert_text((*value)["contexts"][0].at({"context", "cluster"}).text(), "c");
  assert_text((*value)["users"][0].at({"user", "token"}).text(), "abc");
}

void refuses(void**) {
  const struct {
    std::string text;
    const char* message;
  } cases[] = {
      {"a: &x 1", "line 1, column 4: anchor"},
      {"a: &x {}", "anchor"},
      {"&x [1]", "anchor"},
      {"&x a: 1", "anchor"},
      {"a: *x", "line 1, column 4: alias"},
      {"a: 1\nb: !!str 2", "line 2, column 4: tag"},
      {"!custom {}", "tag"},
      {"a: !<tag:yaml.org,2002:int> 1", "tag"},
      {"a: 1\n---\nb: 2\n", "line 2, column 1: second document"},
      {"a: 1\n...\nb: 2\n", "second document"},
      {"a: 1\nb: 2\na: 3\n", "line 3, column 1: duplicate key \"a\""},
      {"a:\n  x: 1\n  'x': 2\n", "duplicate key"},
      {"? [a]\n: b\n", "key that is no scalar"},
      {"{a: 1", "line 1"},
      {"[1, 2", "line"},
      {"a: 'b", "line"},
      {"a: b: c", "line 1, column 5"},
      {"\ta: 1", "line 1"},
      {"a: 1\n\tb: 2", "line 2"},
      {"\"a\\0b\": 1", "NUL in a key"},
      {"99999999999999999999", "number out of range"},
      {"1e999", "number out of range"},
      {"a: \xff", "YAML: line"},
      {"\0"s, "YAML: line"},
      {"@a", "line 1, column 1"},
      {"- a\nb: c\n", "line 2"},
  };
  for (const auto& c : cases) {
    const auto value = parse_yaml(c.text);
    if (value.ok()) fail_msg("taken: %s", c.text.c_str());
    assert_error(value, Errc::invalid, c.message);
  }
}

void limits_depth(void**) {
  const auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  assert_ok(parse_yaml(nested(64)));
  assert_error(parse_yaml(nested(65)), Errc::invalid, "more than 64 levels");
  assert_error(parse_yaml(std::string(5000, '[')), Errc::invalid, "more than 64 levels");
  std::string mappings;
  for (int i = 0; i < 100; ++i) mappings += "{a: ";
  assert_error(parse_yaml(mappings), Errc::invalid, "more than 64 levels");
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(reads_scalars), SLURMK8S_TEST(reads_structure), SLURMK8S_TEST(reads_a_kubeconfig),
      SLURMK8S_TEST(refuses),       SLURMK8S_TEST(limits_depth),
  };
  return cmocka_run_group_tests_name("json_yaml", tests, nullptr, nullptr);
}
