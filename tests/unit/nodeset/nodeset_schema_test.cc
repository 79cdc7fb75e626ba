// SPDX-License-Identifier: GPL-2.0-or-later
// helm/slurm/crds: the names in its rules are those in the code. The rules themselves run in an API server
// (tests/contract/nodeset_schema.sh).

#include "base/strings.hpp"
#include "nodeset/names.hpp"
#include "nodeset/nodeset.hpp"
#include "nodeset/pod_builder.hpp"
#include "json/yaml.hpp"

#include "support/cmocka.hpp"
#include "support/source_file.hpp"

namespace slurmk8s {
namespace {

/** The schema of a NodeSet, or of a member below it: "spec", "replicas". */
Json schema(std::initializer_list<std::string_view> path) {
  const auto definition = parse_yaml(read_source("helm/slurm/crds/slurm-k8s.io_nodesets.yaml"));
  assert_ok(definition);
  Json at = definition->at({"spec", "versions"})[std::size_t(0)].at({"schema", "openAPIV3Schema"});
  for (const std::string_view name : path) at = name == "[]" ? at["items"] : at.at({"properties", name});
  assert_true(at.is_object());
  return at;
}

/** All rules of a schema, one a line. */
std::string rules(const Json& of) {
  std::string text;
  of["x-kubernetes-validations"].each([&](const Json& one) { text.append(one["rule"].text()).append("\n"); });
  return text;
}

Json built_pod() {
  NodeSet nodeset;
  nodeset.name = "n";
  nodeset.protects_busy = false;  // its annotations are left to the template
  return build_pod(nodeset, {.node = "n-0", .request = "r", .jobs = "1"}, Options());
}

void reserved_names_are_those_of_the_pod(void**) {
  const Json pod = built_pod();
  const std::string slurmd = rules(schema({"spec", "slurmd", "env", "[]", "name"}));
  const std::string container = rules(schema({"spec", "template", "spec", "containers", "[]"}));
  int variables = 0;
  pod.at({"spec", "containers"})[std::size_t(0)]["env"].each([&](const Json& variable) {
    const std::string quoted = "'" + std::string(variable["name"].text()) + "'";
    assert_contains(slurmd, quoted);
    assert_contains(container, quoted);
    variables++;
  });
  assert_int_equal(split(slurmd, ',').size(), variables);  // and no others
  for (const char* kind : {"labels", "annotations"}) {
    const std::string rule = rules(schema({"spec", "template", "metadata", kind}));
    pod.at({"metadata", kind}).each([&](std::string_view name, const Json&) {
      const bool ours = name.starts_with("slurm-k8s.io/");
      assert_contains(rule, ours ? "startsWith('slurm-k8s.io/')" : "'" + std::string(name) + "'");
    });
  }
}

// The fields that build_pod() writes last are refused.
void fixed_fields_are_those_of_the_pod(void**) {
  const Json spec = built_pod()["spec"];
  for (const char* field : {"restartPolicy", "automountServiceAccountToken", "enableServiceLinks"}) {
    const Json values = schema({"spec", "template", "spec", field})["enum"];
    assert_int_equal(values.size(), 1);
    assert_true(values[std::size_t(0)].equals(spec[field]));
  }
  const std::string rule = rules(schema({"spec", "template", "spec"}));
  for (const char* field : {"hostname", "subdomain"}) {
    assert_true(spec.has(field));
    assert_contains(rule, "!has(self." + std::string(field) + ")");
  }
}

void limits_are_those_of_the_code(void**) {
  assert_int_equal(schema({"spec", "replicas"})["maximum"].integer_or(0), kMaxReplicas);
  const std::int64_t padding = schema({"spec", "ordinalPadding"})["maximum"].integer_or(0);
  // The longest name gives the longest valid host name.
  assert_contains(rules(schema({})), "size() <= 57 ");
  assert_int_equal(node_name(std::string(57, 'a'), kMaxReplicas - 1, static_cast<int>(padding)).size(), 63);
}

void extra_keys_are_taken(void**) {
  const std::string rule = rules(schema({"spec", "extraConf"}));
  const std::string start = "(?i)^( |(";
  const std::size_t from = rule.find(start);
  assert_true(from != std::string::npos);
  std::string keys = rule.substr(from + start.size());
  keys.resize(keys.find(')'));
  for (const char* seam : {"'", " ", "+"}) std::erase(keys, *seam);  // the rule is on several lines
  int count = 0;
  for (std::string_view key : split(keys, '|')) {
    if (key.ends_with('?')) key.remove_suffix(2);  // Features?
    Json object = *Json::parse(R"({"metadata":{"name":"n"},"spec":{"slurmd":{"image":"i","resources":{"limits":
                                   {"cpu":1,"memory":"1Gi"}}}}})");
    object["spec"].set("extraConf", std::string(key) + "=1");
    assert_ok(decode_nodeset(object));
    count++;
  }
  assert_int_equal(count, 14);
}

void partition_options_are_taken(void**) {
  const std::string rule = rules(schema({"spec", "partition", "config"}));
  const std::string start = "(?i)^( |(";
  const std::size_t from = rule.find(start);
  assert_true(from != std::string::npos);
  std::string keys = rule.substr(from + start.size());
  keys.resize(keys.find(')'));
  for (const char* seam : {"'", " ", "+"}) std::erase(keys, *seam);
  std::string ours;
  for (const PartitionOption& option : partition_options()) ours += (ours.empty() ? "" : "|") + std::string(option.key);
  assert_text(keys, ours);
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(reserved_names_are_those_of_the_pod), SLURMK8S_TEST(fixed_fields_are_those_of_the_pod),
      SLURMK8S_TEST(limits_are_those_of_the_code),        SLURMK8S_TEST(extra_keys_are_taken),
      SLURMK8S_TEST(partition_options_are_taken),
  };
  return cmocka_run_group_tests_name("nodeset_nodeset_schema", tests, nullptr, nullptr);
}
