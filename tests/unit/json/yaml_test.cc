// SPDX-License-Identifier: GPL-2.0-or-later
// json/yaml: what becomes of scalars, and what is refused where.
#include "json/yaml.hpp"

#include "support/cmocka.hpp"

namespace slurmk8s {
namespace {

void scalars(void**) {
  const struct {
    const char* text;
    const char* expected;
  } cases[] = {
      {"null", "null"},
      {"~", "null"},
      {"Null", "null"},
      {"NULL", "null"},
      {"", "null"},
      {"# note", "null"},
      {"true", "true"},
      {"True", "true"},
      {"FALSE", "false"},
      {"yes", "\"yes\""},
      {"no", "\"no\""},
      {"on", "\"on\""},
      {"off", "\"off\""},
      {"y", "\"y\""},
      {"tRUE", "\"tRUE\""},
      {"0", "0"},
      {"42", "42"},
      {"-42", "-42"},
      {"+42", "42"},
      {"0x1F", "31"},
      {"0o17", "15"},
      {"012", "\"012\""},
      {"-012", "\"-012\""},
      {"0b11", "\"0b11\""},
      {"1_000", "\"1_000\""},
      {"0x", "\"0x\""},
      {"0x-1", "\"0x-1\""},
      {"1.5", "1.5"},
      {"-1.5e3", "-1500.0"},
      {".5", "0.5"},
      {"1e", "\"1e\""},
      {".inf", "\".inf\""},
      {".nan", "\".nan\""},
      {"12:30:45", "\"12:30:45\""},
      {"2026-01-01", "\"2026-01-01\""},
      {"1.2.3", "\"1.2.3\""},
      {"-", "[null]"},
      {"+", "\"+\""},
      {".", "\".\""},
      {"'42'", "\"42\""},
      {"\"true\"", "\"true\""},
      {"''", "\"\""},
      {"\"\\u00e4\\n\"", "\"\xc3\xa4\\n\""},
      {"plain text # note", "\"plain text\""},
      {"|\n  a\n  b\n", "\"a\\nb\\n\""},
      {">-\n  a\n  b\n", "\"a b\""},
  };
  for (const auto& c : cases) {
    const auto value = parse_yaml(c.text);
    if (!value.ok()) fail_msg("%s: %s", c.text, value.error().message().c_str());
    const bool same_number = value->is_number() && value->equals(*Json::parse(c.expected));
    if (!same_number) assert_text(value->dump(), c.expected);
  }
}

void collections(void**) {
  const struct {
    const char* text;
    const char* expected;
  } cases[] = {
      {"a: 1\nb: [x, 2]\nc:\n  - d: e\n    f: g\n  - h\n",
       "{\"a\":1,\"b\":[\"x\",2],\"c\":[{\"d\":\"e\",\"f\":\"g\"},\"h\"]}"},
      {"{\"a\": {\"b\": [1, null, true]}}", "{\"a\":{\"b\":[1,null,true]}}"},
      {"---\na: b\n...\n", "{\"a\":\"b\"}"},
      {"%YAML 1.2\n---\na: b\n", "{\"a\":\"b\"}"},
      {"1: one\ntrue: two\n", "{\"1\":\"one\",\"true\":\"two\"}"},
      {"a:\nb: ''\n", "{\"a\":null,\"b\":\"\"}"},
      {"[]", "[]"},
      {"{}", "{}"},
      {"a: http://x:80/y#z\n", "{\"a\":\"http://x:80/y#z\"}"},
  };
  for (const auto& c : cases) {
    const auto value = parse_yaml(c.text);
    assert_ok(value);
    assert_text(value->dump(), c.expected);
  }
}

void refuses(void**) {
  const struct {
    const char* text;
    const char* why;
  } cases[] = {
      {"a: &x 1\n", "line 1, column 4: anchor"},
      {"a: &x [1]\n", "anchor"},
      {"a: &x {b: c}\n", "anchor"},
      {"a: *x\n", "line 1, column 4: alias"},
      {"a: !!str 1\n", "line 1, column 4: tag"},
      {"a: !x [1]\n", "tag"},
      {"!x a: 1\n", "tag"},
      {"a: 1\nb: 2\na: 3\n", "line 3, column 1: duplicate key \"a\""},
      {"{a: 1, a: 2}", "duplicate key"},
      {"a: 1\n---\nb: 2\n", "line 2, column 1: second document"},
      {"[a]: b\n", "line 1, column 1: key that is no scalar"},
      {"? {a: b}\n: c\n", "key that is no scalar"},
      {"a: [1, 2\n", "YAML: line"},
      {"a: b: c\n", "YAML: line 1"},
      {"a:\n\t- b\n", "YAML: line 2"},
      {"\"\\0\": x\n", "NUL in a key"},
      {"a: 99999999999999999999\n", "line 1, column 4: number out of range"},
      {"a: 1e999\n", "number out of range"},
      {"a: \"\xff\"\n", "YAML: line"},
      {"a: 'b", "YAML: line"},
  };
  for (const auto& c : cases) assert_error(parse_yaml(c.text), Errc::invalid, c.why);
}

void depth_is_limited(void**) {
  const auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  assert_ok(parse_yaml(nested(64)));
  assert_error(parse_yaml(nested(65)), Errc::invalid, "more than 64 levels");
  std::string braces;
  for (int i = 0; i < 65; ++i) braces += "{a: ";
  assert_error(parse_yaml(braces + std::string(65, '}')), Errc::invalid, "more than 64 levels");
}

void documents(void**) {
  const auto several = parse_yaml_documents("---\na: 1\n---\n# nothing\n---\n- b\n...\n");
  assert_ok(several);
  assert_int_equal(several->size(), 3);
  assert_text((*several)[0].dump(), "{\"a\":1}");
  assert_true((*several)[1].is_null());
  assert_text((*several)[2].dump(), "[\"b\"]");
  const auto none = parse_yaml_documents("# nothing\n");
  assert_ok(none);
  assert_true(none->empty());
  assert_error(parse_yaml_documents("a: 1\n---\nb: [\n"), Errc::invalid, "YAML: line");
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(scalars),          SLURMK8S_TEST(collections), SLURMK8S_TEST(refuses),
      SLURMK8S_TEST(depth_is_limited), SLURMK8S_TEST(documents),
  };
  return cmocka_run_group_tests_name("json_yaml", tests, nullptr, nullptr);
}
