// SPDX-License-Identifier: GPL-2.0-or-later
// convert/yaml_writer: texts that every reader of YAML reads as they were.
#include "convert/yaml_writer.hpp"

#include "json/yaml.hpp"
#include "support/cmocka.hpp"

namespace slurmk8s {
namespace {

// What is written is read back as the same, and looks like this.
void writes(void**) {
  const struct {
    const char* json;
    const char* yaml;
  } cases[] = {
      {"{}", "{}\n"},
      {"[]", "[]\n"},
      {R"({"b":1,"a":{"d":[],"c":{}}})", "b: 1\na:\n  d: []\n  c: {}\n"},
      {R"({"a":[1,2.5,true,null,{"b":"c","d":["e"]}]})", "a:\n- 1\n- 2.5\n- true\n- null\n- b: c\n  d:\n  - e\n"},
      {R"(["no","ON","y","True","null","~","","8","1.5","0x1F","012","12:30","1e3",".5","-"])",
       "- \"no\"\n- \"ON\"\n- \"y\"\n- \"True\"\n- \"null\"\n- \"~\"\n- \"\"\n- \"8\"\n- \"1.5\"\n"
       "- \"0x1F\"\n- \"012\"\n"
       "- \"12:30\"\n- \"1e3\"\n- \".5\"\n- \"-\"\n"},
      {R"(["32Gi","500m","r.example/x/slurmd:25.11","Weight=10 Gres=gpu:8","/home","slurm-k8s.io/a"])",
       "- 32Gi\n- 500m\n- r.example/x/slurmd:25.11\n- Weight=10 Gres=gpu:8\n- /home\n- slurm-k8s.io/a\n"},
      {R"(["a: b","a:","a #b","#a","- a","@a","{a","a\tb"," a","a ","*a","!a","-vvv"])",
       "- \"a: b\"\n- \"a:\"\n- \"a #b\"\n- \"#a\"\n- \"- a\"\n- \"@a\"\n- \"{a\"\n- \"a\\tb\"\n- \" a\"\n"
       "- \"a \"\n- \"*a\"\n"
       "- \"!a\"\n- \"-vvv\"\n"},
      {R"({"yes":1,"8":2,"a b":3})", "\"yes\": 1\n\"8\": 2\na b: 3\n"},
      {R"({"s":"one\ntwo\n","t":"one\n\ntwo"})", "s: |\n  one\n  two\nt: |-\n  one\n\n  two\n"},
      {R"(["one\n\n","\none"," one\ntwo"])", "- \"one\\n\\n\"\n- \"\\none\"\n- \" one\\ntwo\"\n"},
      {"[\"\u00e4\u20ac\"]", "- \"\u00e4\u20ac\"\n"},
  };
  for (const auto& c : cases) {
    const auto value = Json::parse(c.json);
    assert_ok(value);
    const auto text = dump_yaml(*value);
    assert_ok(text);
    assert_text(*text, c.yaml);
    const auto again = parse_yaml(*text);
    assert_ok(again);
    assert_text(again->dump(), value->dump());
  }
  assert_error(dump_yaml(Json::string("\xff")), Errc::invalid, "UTF-8");
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {SLURMK8S_TEST(writes)};
  return cmocka_run_group_tests_name("convert_yaml_writer", tests, nullptr, nullptr);
}
