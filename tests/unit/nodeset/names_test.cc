// SPDX-License-Identifier: GPL-2.0-or-later
// nodeset/names: node names both ways.
#include "nodeset/names.hpp"
#include "support/cmocka.hpp"

namespace slurmk8s {
namespace {

void builds_names(void**) {
  const struct {
    const char* nodeset;
    std::int64_t ordinal;
    int padding;
    const char* expected;
  } cases[] = {
      {"compute", 0, 0, "compute-0"},       {"compute", 12, 0, "compute-12"}, {"gpu", 7, 3, "gpu-007"},
      {"gpu", 1234, 3, "gpu-1234"},         {"a-1", 0, 0, "a-1-0"},           {"x", 65535, 5, "x-65535"},
      {"x", 4294967296, 1, "x-4294967296"},
  };
  for (const auto& c : cases) assert_text(node_name(c.nodeset, c.ordinal, c.padding), c.expected);
}

void parses_names(void**) {
  const struct {
    const char* name;
    const char* nodeset;  // null: no name of a node of ours
    std::int64_t ordinal;
  } cases[] = {
      {"compute-0", "compute", 0},
      {"gpu-007", "gpu", 7},
      {"a-1-0", "a-1", 0},
      {"a-1", "a", 1},
      {"compute", nullptr, 0},
      {"compute-", nullptr, 0},
      {"-1", nullptr, 0},
      {"c-1x", nullptr, 0},
      {"c--1", "c-", 1},
      {"", nullptr, 0},
      {"c-99999999999999999999", nullptr, 0},
      {"c-+1", nullptr, 0},
  };
  for (const auto& c : cases) {
    const auto parsed = parse_node_name(c.name);
    assert_int_equal(parsed.has_value(), c.nodeset != nullptr);
    if (!parsed) continue;
    assert_true(parsed->nodeset == c.nodeset);
    assert_int_equal(parsed->ordinal, c.ordinal);
  }
}

void names_kube_nodes(void**) {
  const std::pair<const char*, const char*> cases[] = {
      {"node1", "node1"}, {"ip-10-0-0-1", "ip-10-0-0-1"}, {"m.example.org", "m--example--org"},
      {"m--x", "m---x"},  {"m---x.y", "m----x--y"},       {"m-x.y-z", "m-x--y-z"},
      {"0", "0"},
  };
  for (const auto& [kube_node, text] : cases) {
    assert_text(encode_kube_node(kube_node), text);
    assert_text(decode_kube_node(text).value_or("-"), kube_node);
  }
  for (const char* text : {"", "-a", "a-", "a.b", "A", "a_b", "a b"}) assert_false(decode_kube_node(text).has_value());
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(builds_names),
      SLURMK8S_TEST(parses_names),
      SLURMK8S_TEST(names_kube_nodes),
  };
  return cmocka_run_group_tests_name("nodeset_names", tests, nullptr, nullptr);
}
