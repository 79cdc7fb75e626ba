// SPDX-License-Identifier: GPL-2.0-or-later
// bridge/node_selector: which Kubernetes nodes a pod may run on.
#include "bridge/node_selector.hpp"

#include <string>

#include "support/cmocka.hpp"

namespace slurmk8s {
namespace {

std::string terms(const char* expressions) {
  return std::string(R"("affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution":
                        {"nodeSelectorTerms": [)") +
         expressions + "]}}}";
}
std::string term(const char* requirement) {
  return terms((std::string(R"({"matchExpressions": [{"key": )") + requirement + "}]}").c_str());
}

/** As Kubernetes' manual of node affinity has it, for node m1. */
void nodes_that_fit(void**) {
  const NodeLabels labels = {{"zone", "a"}, {"cores", "64"}, {"empty", ""}};
  const struct {
    std::string spec;
    bool expected;
  } cases[] = {
      {"", true},
      {R"("nodeSelector": {})", true},
      {R"("nodeSelector": {"zone": "a"})", true},
      {R"("nodeSelector": {"zone": "a", "cores": "64"})", true},
      {R"("nodeSelector": {"zone": "b"})", false},
      {R"("nodeSelector": {"zone": "a", "rack": "1"})", false},
      {R"("nodeSelector": {"rack": ""})", false},
      {R"("nodeSelector": {"empty": ""})", true},
      {term(R"("zone", "operator": "In", "values": ["b", "a"])"), true},
      {term(R"("zone", "operator": "In", "values": ["b"])"), false},
      {term(R"("rack", "operator": "In", "values": ["b"])"), false},
      {term(R"("zone", "operator": "NotIn", "values": ["a"])"), false},
      {term(R"("zone", "operator": "NotIn", "values": ["b"])"), true},
      {term(R"("rack", "operator": "NotIn", "values": ["b"])"), true},
      {term(R"("zone", "operator": "Exists")"), true},
      {term(R"("rack", "operator": "Exists")"), false},
      {term(R"("zone", "operator": "DoesNotExist")"), false},
      {term(R"("rack", "operator": "DoesNotExist")"), true},
      {term(R"("cores", "operator": "Gt", "values": ["63"])"), true},
      {term(R"("cores", "operator": "Gt", "values": ["64"])"), false},
      {term(R"("cores", "operator": "Lt", "values": ["65"])"), true},
      {term(R"("cores", "operator": "Lt", "values": ["64"])"), false},
      {term(R"("cores", "operator": "Lt", "values": ["many"])"), false},
      {term(R"("zone", "operator": "Gt", "values": ["1"])"), false},
      {term(R"("rack", "operator": "Lt", "values": ["1"])"), false},
      {term(R"("zone", "operator": "Like", "values": ["a"])"), false},
      {terms(""), false},    // none of no terms
      {terms("{}"), false},  // a term without requirements
      {terms(R"({"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["m1"]}]})"), true},
      {terms(R"({"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["m2"]}]})"), false},
      {terms(R"({"matchFields": [{"key": "metadata.uid", "operator": "In", "values": ["m1"]}]})"), false},
      {terms(R"({"matchExpressions": [{"key": "zone", "operator": "Exists"}, {"key": "rack", "operator": "Exists"}]})"),
       false},
      {terms(R"({"matchExpressions": [{"key": "rack", "operator": "Exists"}]},
                {"matchExpressions": [{"key": "zone", "operator": "Exists"}]})"),
       true},
      {R"("nodeSelector": {"zone": "b"}, )" + term(R"("cores", "operator": "Exists")"), false},
  };
  for (const auto& [spec, expected] : cases) {
    const NodeSelector selector = *decode_node_selector(*Json::parse("{" + spec + "}"));
    if (selector.selects("m1", labels) != expected) fail_msg("{%s}: must be %d", spec.c_str(), expected);
  }
}

/** What is not known may be otherwise. */
void nodes_of_which_some_labels_are_known(void**) {
  const NodeLabels known = {{"zone", "a"}, {"cores", "64"}};
  const struct {
    std::string spec;
    bool expected;
  } cases[] = {
      {R"("nodeSelector": {"zone": "a"})", true},
      {R"("nodeSelector": {"zone": "b"})", false},
      {R"("nodeSelector": {"zone": "a", "rack": "1"})", false},
      {term(R"("zone", "operator": "In", "values": ["b", "a"])"), true},
      {term(R"("zone", "operator": "NotIn", "values": ["b"])"), true},
      {term(R"("zone", "operator": "NotIn", "values": ["a"])"), false},
      {term(R"("zone", "operator": "Exists")"), true},
      {term(R"("cores", "operator": "Gt", "values": ["63"])"), true},
      {term(R"("rack", "operator": "NotIn", "values": ["b"])"), false},
      {term(R"("rack", "operator": "DoesNotExist")"), false},
      {term(R"("rack", "operator": "Exists")"), false},
      {terms(R"({"matchFields": [{"key": "metadata.name", "operator": "NotIn", "values": ["m2"]}]})"), false},
      {terms("{}"), false},
      {terms(R"({"matchExpressions": [{"key": "rack", "operator": "Exists"}]},
                {"matchExpressions": [{"key": "zone", "operator": "Exists"}]})"),
       true},
  };
  for (const auto& [spec, expected] : cases) {
    const NodeSelector selector = *decode_node_selector(*Json::parse("{" + spec + "}"));
    if (selector.selects_all_with(known) != expected) fail_msg("{%s}: must be %d", spec.c_str(), expected);
  }
}

/** For node m1. */
void nodes_that_can_mount_a_volume(void**) {
  const NodeLabels labels = {{"zone", "a"}};
  const struct {
    const char* spec;
    bool expected;
  } cases[] = {
      {R"({})", true},
      {R"({"nodeAffinity": {}})", true},
      {R"({"nodeAffinity": {"required": {"nodeSelectorTerms": []}}})", false},
      {R"({"nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [
           {"key": "zone", "operator": "In", "values": ["a", "b"]}]}]}}})",
       true},
      {R"({"nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [
           {"key": "zone", "operator": "In", "values": ["b"]}]}]}}})",
       false},
      {R"({"nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchFields": [
           {"key": "metadata.name", "operator": "In", "values": ["m1"]}]}]}}})",
       true},
  };
  for (const auto& [spec, expected] : cases) {
    const NodeSelector selector = *decode_volume_affinity(*Json::parse(spec));
    if (selector.selects("m1", labels) != expected) fail_msg("%s: must be %d", spec, expected);
  }
  std::string empty = "{}";
  for (int i = 0; i < 10'000; ++i) empty += ",{}";
  const std::string spec = R"({"nodeAffinity": {"required": {"nodeSelectorTerms": [)" + empty + "]}}}";
  assert_error(decode_volume_affinity(*Json::parse(spec)), Errc::invalid,
               "spec.nodeAffinity: Too long: may not be more than 65536 bytes");
}

void a_preference_selects_nothing(void**) {
  const char* const spec = R"({"affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution":
    [{"weight": 1, "preference": {"matchExpressions": [{"key": "rack", "operator": "Exists"}]}}]}}})";
  assert_true(decode_node_selector(*Json::parse(spec))->empty());
  assert_false(decode_node_selector(*Json::parse("{" + terms("") + "}"))->empty());
}

/** The bridge has it in memory, whoever may create pods. */
void a_long_one_is_refused(void**) {
  std::string values = "\"a\"";
  for (int i = 0; i < 500'000; ++i) values += ",\"a\"";
  const std::string in = R"({"key": "zone", "operator": "In", "values": [)" + values + "]}";
  const std::string spec = terms((R"({"matchExpressions": [)" + in + "]}").c_str());
  assert_error(decode_node_selector(*Json::parse("{" + spec + "}")), Errc::invalid,
               "spec.affinity.nodeAffinity: Too long: may not be more than 65536 bytes");
  std::string empty = "{}";
  for (int i = 0; i < 500'000; ++i) empty += ",{}";
  assert_false(decode_node_selector(*Json::parse("{" + terms(empty.c_str()) + "}")).ok());
  const std::string label = R"({"nodeSelector": {"a": ")" + std::string(70'000, 'a') + "\"}}";
  assert_error(decode_node_selector(*Json::parse(label)), Errc::invalid, "spec.nodeSelector: Too long");
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(nodes_that_fit),
      SLURMK8S_TEST(nodes_of_which_some_labels_are_known),
      SLURMK8S_TEST(nodes_that_can_mount_a_volume),
      SLURMK8S_TEST(a_preference_selects_nothing),
      SLURMK8S_TEST(a_long_one_is_refused),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
