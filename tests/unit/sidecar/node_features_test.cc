// SPDX-License-Identifier: GPL-2.0-or-later
// sidecar/node_features: what becomes of a record's features.
#include "sidecar/node_features.hpp"

#include "support/cmocka.hpp"
#include "support/fake_slurm.hpp"

namespace slurmk8s {
namespace {

NodeSet nodeset() {
  NodeSet nodeset;
  nodeset.features = "c,big,v1,v2";
  nodeset.variants["v1"];
  nodeset.variants["v2"];
  return nodeset;
}

/** "features active-ones"; empty: no change. */
std::string changed(const char* features, const char* active, const WantedFeatures& wanted) {
  SlurmNode node = FakeSlurm::cloud_node("c-0");
  node.features = features;
  node.active_features = active;
  const auto change = features_change(node, wanted);
  return change ? *change->features + " " + *change->active_features : "";
}

void changes_what_is_of_a_kube_node_alone(void**) {
  const KubeNodeFeatures rack1{{"k8s/rack1"}, ""};
  const KubeNodeFeatures rack2{{"k8s/rack2", "k8s/ssd"}, ""};
  const KubeNodeFeatures none;
  const struct {
    const char* features;
    const char* active;
    const KubeNodeFeatures* kube_node;
    const char* result;
  } cases[] = {
      {"c", "", nullptr, ""},
      {"c", "", &none, ""},
      {"c", "", &rack1, "c,k8s/rack1 c,k8s/rack1"},
      {"c,k8s/rack1", "", &rack1, ""},
      {"k8s/rack1,c", "c,k8s/rack1", &rack1, ""},
      {"c,k8s/rack1", "c", &rack1, "c,k8s/rack1 c,k8s/rack1"},
      {"c,k8s/rack1,gpu", "c,k8s/rack1,gpu", &rack2, "c,gpu,k8s/rack2,k8s/ssd c,gpu,k8s/rack2,k8s/ssd"},
      {"c,k8s/rack1", "c,k8s/rack1", nullptr, "c c"},
      {"c,big,small", "c,small", &rack1, "c,big,small,k8s/rack1 c,small,k8s/rack1"},  // one of them is switched off
      {"", "", &rack1, "k8s/rack1 k8s/rack1"},
      {"k8s/rack1", "", &none, " "},
  };
  const NodeSet plain;
  for (const auto& c : cases) {
    WantedFeatures wanted{plain};
    wanted.knows_kube_nodes = true;
    wanted.kube_node = c.kube_node;
    assert_text(changed(c.features, c.active, wanted), c.result);
  }
  assert_text(changed("c,k8s/rack1", "", WantedFeatures{plain}), "");  // Kubernetes nodes aren't known
}

void follows_the_nodeset(void**) {
  const NodeSet now = nodeset();
  const struct {
    const char* features;
    const char* active;
    const char* before;
    const char* result;
  } cases[] = {
      {"c,big,v1,v2", "c,big", "", ""},
      {"c,big,v1,v2", "c,big,v2", "", ""},          // slurmctld has noted v2
      {"c,big", "c,big", "", "c,big,v1,v2 c,big"},  // as it was made
      {"c", "c,v1", "", "c,big,v1,v2 c,big"},
      {"c,big,v1,v2,mine", "c,big,mine", "", ""},  // an administrator's
      {"c,big,v1,v2,old", "c,big,old", "c,old,v1", "c,big,v1,v2 c,big"},
      {"c,big,v1,v2,v3", "c,big,v3", "c,big,v1,v2,v3", "c,big,v1,v2 c,big"},
      {"c,big,v1,v2,old", "c,big,old", "", ""},  // nobody knows whose it is
  };
  for (const auto& c : cases) {
    assert_text(changed(c.features, c.active, {now, true, c.before}), c.result);
  }
}

void without_the_plugin_there_is_no_variant(void**) {
  const NodeSet now = nodeset();
  assert_text(changed("c,big", "c,big", {now, false}), "");
  assert_text(changed("c,big,v1,v2", "c,big,v1,v2", {now, false}), "c,big c,big");
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(changes_what_is_of_a_kube_node_alone),
      SLURMK8S_TEST(follows_the_nodeset),
      SLURMK8S_TEST(without_the_plugin_there_is_no_variant),
  };
  return cmocka_run_group_tests_name("sidecar_node_features", tests, nullptr, nullptr);
}
