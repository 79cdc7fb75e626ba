// SPDX-License-Identifier: GPL-2.0-or-later
// sidecar/kube_node_features: what annotations give.
#include "sidecar/kube_node_features.hpp"

#include "base/strings.hpp"
#include "support/cmocka.hpp"

namespace slurmk8s {
namespace {

std::string joined(const KubeNodeFeatures& kube_node) {
  std::string text;
  for (const std::string& feature : kube_node.features) text += (text.empty() ? "" : " ") + feature;
  return kube_node.wrong.empty() ? text : text + " | " + kube_node.wrong;
}

std::string decode(const char* annotations) { return joined(decode_kube_node_features(*Json::parse(annotations))); }

void reads_the_annotation(void**) {
  const std::pair<const char*, const char*> cases[] = {
      {"null", ""},
      {R"({"other":"a"})", ""},
      {R"({"slurm-k8s.io/features":""})", ""},
      {R"({"slurm-k8s.io/features":"rack1"})", "k8s/rack1"},
      {R"({"slurm-k8s.io/features":" rack1 ,,zone=a,k8s/ssd"})", "k8s/rack1 k8s/zone=a k8s/ssd"},
      {R"({"features.slinky.slurm.net/spec":"rack1,rack2"})", "k8s/rack1 k8s/rack2"},
      {R"({"features.slinky.slurm.net/spec":"theirs","slurm-k8s.io/features":"ours"})", "k8s/ours"},
      {R"({"slurm-k8s.io/features":"a&b,rack1"})", "k8s/rack1 | \"a&b\": must be letters, digits and _-.:/="},
  };
  for (const auto& [annotations, features] : cases) assert_text(decode(annotations), features);
}

void has_bounds(void**) {
  std::string many;
  for (int i = 0; i < 40; i++) many += format("f%d,", i);
  Json annotations = Json::object().set(kAnnotationFeatures, many);
  const KubeNodeFeatures kube_node = decode_kube_node_features(annotations);
  assert_int_equal(kube_node.features.size(), 32);
  assert_text(kube_node.wrong, "more than 32 features");
  annotations.set(kAnnotationFeatures, std::string(300, 'x'));
  assert_int_equal(decode_kube_node_features(annotations).features.size(), 0);
}

void knows_its_own(void**) {
  assert_true(is_kube_node_feature("k8s/rack1"));
  assert_false(is_kube_node_feature("rack1"));
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(reads_the_annotation),
      SLURMK8S_TEST(has_bounds),
      SLURMK8S_TEST(knows_its_own),
  };
  return cmocka_run_group_tests_name("sidecar_kube_node_features", tests, nullptr, nullptr);
}
