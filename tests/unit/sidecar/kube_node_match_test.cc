// SPDX-License-Identifier: GPL-2.0-or-later
// sidecar/kube_node_match: which Kubernetes nodes a pod's spec chooses, as Kubernetes' scheduler does.
#include "sidecar/kube_node_match.hpp"

#include "support/cmocka.hpp"

namespace slurmk8s {
namespace {

const KubeNodeFacts kKubeNode{.labels = {{"gpu", "a100"}, {"count", "8"}, {"empty", ""}}};

bool is_selected_by(const std::string& spec) { return is_selected("m1", kKubeNode, *Json::parse(spec)); }

std::string affinity(const std::string& terms) {
  return R"({"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[)" +
         terms + "]}}}}";
}

void selects_by_labels(void**) {
  const std::pair<const char*, bool> cases[] = {
      {"null", true},
      {"{}", true},
      {R"({"nodeSelector":{}})", true},
      {R"({"nodeSelector":{"gpu":"a100"}})", true},
      {R"({"nodeSelector":{"gpu":"a100","count":"8"}})", true},
      {R"({"nodeSelector":{"empty":""}})", true},
      {R"({"nodeSelector":{"gpu":"a100","count":"4"}})", false},
      {R"({"nodeSelector":{"other":""}})", false},
  };
  for (const auto& [spec, selected] : cases) {
    if (is_selected_by(spec) != selected) fail_msg("%s", spec);
  }
}

void selects_by_affinity(void**) {
  const std::pair<const char*, bool> cases[] = {
      {R"({"key":"gpu","operator":"In","values":["h100","a100"]})", true},
      {R"({"key":"gpu","operator":"In","values":["h100"]})", false},
      {R"({"key":"other","operator":"In","values":[""]})", false},
      {R"({"key":"gpu","operator":"NotIn","values":["h100"]})", true},
      {R"({"key":"gpu","operator":"NotIn","values":["a100"]})", false},
      {R"({"key":"other","operator":"NotIn","values":["a100"]})", true},
      {R"({"key":"empty","operator":"Exists"})", true},
      {R"({"key":"other","operator":"Exists"})", false},
      {R"({"key":"other","operator":"DoesNotExist"})", true},
      {R"({"key":"gpu","operator":"DoesNotExist"})", false},
      {R"({"key":"count","operator":"Gt","values":["7"]})", true},
      {R"({"key":"count","operator":"Gt","values":["8"]})", false},
      {R"({"key":"count","operator":"Lt","values":["9"]})", true},
      {R"({"key":"count","operator":"Lt","values":["8"]})", false},
      {R"({"key":"gpu","operator":"Gt","values":["0"]})", false},
      {R"({"key":"other","operator":"Lt","values":["9"]})", false},
      {R"({"key":"gpu","operator":"Exists"},{"key":"other","operator":"Exists"})", false},
      {R"({"key":"gpu","operator":"Like","values":["a100"]})", false},
  };
  for (const auto& [expressions, selected] : cases) {
    const std::string term = R"({"matchExpressions":[)" + std::string(expressions) + "]}";
    if (is_selected_by(affinity(term)) != selected) fail_msg("%s", expressions);
  }
}

void one_term_is_enough_but_a_term_of_nothing_is_none(void**) {
  const std::string here = R"({"matchFields":[{"key":"metadata.name","operator":"In","values":["m1"]}]})";
  const std::string there = R"({"matchFields":[{"key":"metadata.name","operator":"In","values":["m2"]}]})";
  const std::string both = R"({"matchExpressions":[{"key":"other","operator":"Exists"}],)" + here.substr(1);
  assert_true(is_selected_by(affinity(here)));
  assert_false(is_selected_by(affinity(there)));
  assert_false(is_selected_by(affinity(both)));
  assert_true(is_selected_by(affinity(there + "," + here)));
  assert_false(is_selected_by(affinity("")));
  assert_false(is_selected_by(affinity("{}")));
}

void selector_and_affinity_must_both_hold(void**) {
  Json spec = *Json::parse(affinity(R"({"matchExpressions":[{"key":"gpu","operator":"Exists"}]})"));
  assert_true(is_selected("m1", kKubeNode, spec));
  spec.set("nodeSelector", *Json::parse(R"({"count":"4"})"));
  assert_false(is_selected("m1", kKubeNode, spec));
}

void chooses_kube_nodes(void**) {
  NodeSet nodeset;
  nodeset.name = "c";
  nodeset.pod_spec =
      *Json::parse(R"({"nodeSelector":{"gpu":"a100"},"tolerations":[{"key":"gpu","operator":"Exists"}]})");
  KubeNodeFacts cordoned = kKubeNode, tainted = kKubeNode, tolerated = kKubeNode, silent = kKubeNode;
  cordoned.cordoned = true;
  tainted.taints = {{"gone", "", "NoSchedule"}};
  tolerated.taints = {{"gpu", "yes", "NoSchedule"}};
  silent.ready = false;
  const KubeNodes kube_nodes{{"cordoned", cordoned},   {"other", {}},
                             {"silent", silent},       {"tainted", tainted},
                             {"tolerated", tolerated}, {std::string(62, 'x'), kKubeNode}};
  const DaemonNodes nodes = choose_daemon_nodes(nodeset, kube_nodes);
  assert_true(nodes.wanted == (std::map<std::string, bool>{{"c-silent", false}, {"c-tolerated", true}}));
  assert_int_equal(nodes.too_long.size(), 1);
  assert_int_equal(choose_daemon_nodes(nodeset, {{std::string(61, 'x'), kKubeNode}}).wanted.size(), 1);
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(selects_by_labels),
      SLURMK8S_TEST(selects_by_affinity),
      SLURMK8S_TEST(one_term_is_enough_but_a_term_of_nothing_is_none),
      SLURMK8S_TEST(selector_and_affinity_must_both_hold),
      SLURMK8S_TEST(chooses_kube_nodes),
  };
  return cmocka_run_group_tests_name("sidecar_kube_node_match", tests, nullptr, nullptr);
}
