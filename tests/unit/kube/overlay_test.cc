// SPDX-License-Identifier: GPL-2.0-or-later
// kube/overlay: parts of a pod laid over others.
#include "kube/overlay.hpp"

#include "support/cmocka.hpp"

using namespace slurmk8s;

namespace {

Json parse(const char* text) {
  const auto parsed = Json::parse(text);
  assert_ok(parsed);
  return *parsed;
}

void merges(void**) {
  const struct {
    const char* name;
    const char* base;
    const char* overlay;
    const char* expected;
  } cases[] = {
      {"null overlay", R"({"a":1})", "null", R"({"a":1})"},
      {"members", R"({"a":1,"b":{"c":1}})", R"({"b":{"d":2},"e":3})", R"({"a":1,"b":{"c":1,"d":2},"e":3})"},
      {"null removes", R"({"a":1,"b":2})", R"({"a":null})", R"({"b":2})"},
      {"other lists are replaced", R"({"args":["a","b"]})", R"({"args":["c"]})", R"({"args":["c"]})"},
      {"containers by name", R"({"containers":[{"name":"a","image":"1"},{"name":"b"}]})",
       R"({"containers":[{"name":"c"},{"name":"a","image":"2","tty":true}]})",
       R"({"containers":[{"name":"a","image":"2","tty":true},{"name":"b"},{"name":"c"}]})"},
      {"env entries are replaced whole", R"({"env":[{"name":"A","value":"1"}]})",
       R"({"env":[{"name":"A","valueFrom":{"x":1}}]})", R"({"env":[{"name":"A","valueFrom":{"x":1}}]})"},
      {"mounts by path", R"({"volumeMounts":[{"name":"v","mountPath":"/a"}]})",
       R"({"volumeMounts":[{"name":"w","mountPath":"/a"},{"name":"v","mountPath":"/b"}]})",
       R"({"volumeMounts":[{"name":"w","mountPath":"/a"},{"name":"v","mountPath":"/b"}]})"},
  };
  for (const auto& row : cases) {
    const Json base = parse(row.base);
    const Json merged = merge_overlay(base, parse(row.overlay));
    if (!merged.equals(parse(row.expected))) fail_msg("%s: %s", row.name, merged.dump().c_str());
    if (!base.equals(parse(row.base))) fail_msg("%s: the base was changed", row.name);
  }
}

}  // namespace

int main() {
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(merges),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
