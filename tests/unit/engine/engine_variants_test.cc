// SPDX-License-Identifier: GPL-2.0-or-later
// The engine's NodeSets with variants, and what a pod is told of its job.
#include "support/engine_world.hpp"

using namespace slurmk8s;

namespace {

constexpr const char* kVariants = R"(,"variants":[{"name":"v1","patch":{"slurmd":{"image":"slurmd:v1"}}},
    {"name":"v2","patch":{"slurmd":{"image":"slurmd:v2"}}}])";

std::string image_of(World& world, const char* pod) {
  return std::string(world.api.find(kPods, kNamespace, pod)["spec"]["containers"][0]["image"].text());
}

void a_job_chooses_its_pod(void** state) {
  World& world = world_of(state);
  world.put_nodeset("gpu", 12, kVariants);
  world.start();
  world.slurm.node("gpu-0").active_features = "gpu,v2";
  world.slurm.node("gpu-1").active_features = "gpu";
  world.resume("r1", {"gpu-0", "gpu-1"});
  assert_text(image_of(world, "gpu-0"), "slurmd:v2");
  assert_text(image_of(world, "gpu-1"), "slurmd:1");
  const Json labels = world.api.find(kPods, kNamespace, "gpu-0").at({"metadata", "labels"});
  assert_text(labels[kLabelVariant].text(), "v2");
  assert_false(world.api.find(kPods, kNamespace, "gpu-1").at({"metadata", "labels"}).has(kLabelVariant));

  // Many share one request.
  std::vector<std::string> many;
  for (int i = 2; i < 12; i++) many.push_back("gpu-" + std::to_string(i));
  for (const std::string& name : many) world.slurm.node(name).active_features = "v1";
  const int loads = world.slurm.loads;
  world.resume("r2", many);
  assert_int_equal(world.slurm.loads, loads + 1);
  for (const std::string& name : many) assert_text(image_of(world, name.c_str()), "slurmd:v1");
}

void no_pod_is_made_before_its_variant_is_known(void** state) {
  World& world = world_of(state);
  world.put_nodeset("gpu", 4, kVariants);
  world.start();
  world.slurm.node("gpu-0").active_features = "v1";
  world.slurm.fail_loads = true;
  world.slurm.failures.assign(1, Error(Errc::timeout, "no answer"));
  world.resume("r1", {"gpu-0"});
  assert_text(world.pods(), "");
  world.pass(std::chrono::seconds(1));
  assert_text(image_of(world, "gpu-0"), "slurmd:v1");

  // The answer is for a request that another one has overtaken.
  world.slurm.node("gpu-1").active_features = "v1";
  world.caller.late = true;
  world.resume("r2", {"gpu-1"});
  world.slurm.node("gpu-1").active_features = "v2";
  world.ask_up("r3", {"gpu-1"});
  world.caller.arrive();
  world.settle();
  assert_text(image_of(world, "gpu-1"), "slurmd:v2");
  assert_text(world.request_of("gpu-1"), "r3");
}

void a_resume_that_was_missed_gets_its_variant(void** state) {
  World& world = world_of(state);
  world.put_nodeset("gpu", 4, kVariants);
  SlurmNode& node = world.slurm.node("gpu-0");
  node.powered_down = false;
  node.powering_up = node.not_responding = true;
  node.base = SlurmNode::Base::allocated;
  node.active_features = "gpu,v2";
  world.start();
  assert_text(image_of(world, "gpu-0"), "slurmd:v2");
}

void a_pod_tells_of_its_job(void** state) {
  World& world = world_of(state);
  world.put_nodeset("gpu", 4, R"x(,"template":{"metadata":{"labels":{"account":"$(JOB_ACCOUNT)"}}})x");
  world.start();
  world.slurm.jobs[7] = {.id = 7, .account = "physics"};
  world.resume("r1", {"gpu-0"}, 7);
  world.resume("r2", {"gpu-1"}, 8);  // gone already
  world.resume("r3", {"gpu-2"});
  const auto account = [&](const char* pod) {
    return std::string(world.api.find(kPods, kNamespace, pod).at({"metadata", "labels", "account"}).text());
  };
  assert_text(account("gpu-0"), "physics");
  assert_text(account("gpu-1"), "");
  assert_text(account("gpu-2"), "");
}

void plugins_are_told_of_variants(void** state) {
  World& world = world_of(state);
  std::vector<std::string> published;
  world.publish = [&](const VariantCatalog* catalog) {
    published.push_back(catalog ? catalog->encode()["nodesets"].dump() : "none");
  };
  world.put_nodeset("gpu", 4, R"(,"variants":[{"name":"v1","allowedUsers":["root"]}])");
  world.start();
  // Complete the first time, and once more with the uid of root.
  assert_int_equal(published.size(), 2);
  assert_text(published[0], R"({"compute":{"features":["compute"],"variants":{}},)"
                            R"("gpu":{"features":["gpu"],"variants":{"v1":{"users":["root"],"accounts":[]}}}})");
  world.put_nodeset("gpu", 5, R"(,"variants":[{"name":"v1","allowedUsers":["root"]}])");
  world.settle();
  assert_int_equal(published.size(), 2);
  world.put_nodeset("gpu", 5, R"(,"variants":3)");  // an older one's nodes are still there
  world.settle();
  assert_int_equal(published.size(), 2);
  world.put_nodeset("gpu", 5, "");
  world.settle();
  assert_int_equal(published.size(), 3);
  world.engine.reset();
  assert_text(published.back(), "none");
}

void plugins_are_told_of_features_outside_of_nodesets(void** state) {
  World& world = world_of(state);
  std::string records;
  world.publish = [&](const VariantCatalog* catalog) {
    if (catalog) records = catalog->encode()["records"].dump();
  };
  for (const char* node : {"metal-0", "metal-1"}) world.slurm.node(node).features = "metal,ib";
  world.start();
  assert_text(records, R"(["metal,ib"])");
}

}  // namespace

int main() {
  const CMUnitTest tests[] = {
      ENGINE_TEST(a_job_chooses_its_pod),
      ENGINE_TEST(no_pod_is_made_before_its_variant_is_known),
      ENGINE_TEST(a_resume_that_was_missed_gets_its_variant),
      ENGINE_TEST(a_pod_tells_of_its_job),
      ENGINE_TEST(plugins_are_told_of_variants),
      ENGINE_TEST(plugins_are_told_of_features_outside_of_nodesets),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
