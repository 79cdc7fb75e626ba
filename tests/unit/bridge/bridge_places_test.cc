// SPDX-License-Identifier: GPL-2.0-or-later
// bridge/bridge: which Kubernetes nodes a pod may be on, and pods that kube-scheduler binds.
#include <string>
#include <vector>

#include "support/bridge_world.hpp"
#include "support/cmocka.hpp"

namespace slurmk8s {
namespace {

using std::chrono::seconds;

constexpr const char* kOnRack1 = R"("nodeSelector": {"rack": "m1"},)";

void a_selector_leaves_nodes(void**) {
  BridgeWorld f;
  f.put_pod("p", "", kOnRack1);
  f.put_pod("q");
  f.run_for();
  assert_true(f.slurm.requests.at(1).only_nodes == std::vector<std::string>{"c-1"});
  assert_true(f.slurm.requests.at(2).only_nodes.empty());
  f.slurm.start(1, {{"c-1", 1}});
  f.run_for();
  assert_text(f.kube_node("p"), "m1");
}

void a_selector_without_a_node_is_told(void**) {
  BridgeWorld f;
  f.put_pod("p", "", R"("nodeSelector": {"rack": "m7"},)");
  f.run_for();
  assert_int_equal(f.slurm.submits, 0);
  assert_contains(f.condition("p", "PodScheduled"), "no Slurm node that is up is on such a Kubernetes node");
  f.put_kube_node("m0", "m7");
  f.run_for(seconds(70));
  assert_true(f.slurm.requests.at(1).only_nodes == std::vector<std::string>{"c-0"});
}

/** A node that came up after the submission, on a Kubernetes node that does not fit. */
void a_node_that_does_not_fit_is_given_back(void**) {
  BridgeWorld f;
  f.put_pod("p", "", kOnRack1);
  f.run_for();
  f.put_kube_node("m2", "m2");
  f.put_node("c-2", "m2");
  f.slurm.start(1, {{"c-2", 1}});
  f.run_for();
  assert_text(f.kube_node("p"), "");
  f.run_for(seconds(10));
  assert_text(f.calls(), "submit p, cancel 1, submit p");
  f.slurm.start(2, {{"c-1", 1}});
  f.run_for();
  assert_text(f.kube_node("p"), "m1");
}

void put_claim(BridgeWorld& f, const char* name, const char* volume) {
  f.client.put(kube::kVolumeClaims, "a",
               *Json::parse(format(R"({"metadata": {"namespace": "a", "name": "%s"}, "spec": {"volumeName": "%s"}})",
                                   name, volume)));
}

/** Nothing binds the claim of a pod that the bridge binds itself. */
void a_pod_waits_for_its_claims(void**) {
  BridgeWorld f;
  constexpr const char* kSpec = R"("volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}],)";
  f.put_pod("p", "", kSpec);
  f.run_for();
  assert_text(f.calls(), "");
  assert_contains(f.events("SlurmJobRefused"), "spec.volumes[0].persistentVolumeClaim: Forbidden: ");
  put_claim(f, "data", "");
  f.run_for(seconds(20));
  assert_text(f.calls(), "");
  assert_text(f.events("SlurmJobRefused"),
              "spec.volumes[0].persistentVolumeClaim: Forbidden: claim data is not bound; only kube-scheduler binds "
              "claims of a storage class with WaitForFirstConsumer\n");
  put_claim(f, "data", "volume-1");
  f.run_for(seconds(20));
  assert_text(f.calls(), "submit p");
  f.put_pod("q", "", kSpec);
  f.run_for();
  assert_text(f.calls(), "submit p, submit q");
}

/** Of kube-scheduler, with a gate until its job has nodes. */
void put_gated_pod(BridgeWorld& f) {
  f.client.put(kube::kPods, "a", *Json::parse(R"({"metadata": {"namespace": "a", "name": "g", "labels":
    {"slurm-k8s.io/bridge": "slurm-k8s-bridge"}}, "spec": {"schedulerName": "default-scheduler", "schedulingGates":
    [{"name": "slurm-k8s.io/bridge"}], "containers": [{}]}})"));
}

void kube_scheduler_binds_a_pod_with_a_gate(void**) {
  BridgeWorld f;
  put_gated_pod(f);
  f.run_for();
  f.slurm.wait_for(1, "Resources");
  f.run_for();
  assert_text(f.condition("g", "PodScheduled"), "");
  assert_contains(f.events("SlurmPending"), "Slurm job 1: Resources");
  f.slurm.start(1, {{"c-1", 1}});
  f.run_for();
  const Json spec = f.client.find(kube::kPods, "a", "g")["spec"];
  assert_int_equal(spec["schedulingGates"].size(), 0);
  assert_text(spec["nodeSelector"].dump(), R"({"kubernetes.io/hostname":"m1"})");
  assert_text(f.annotation("g", kAnnotationJob), "1");
  assert_int_equal(f.bindings(), 0);
  f.restart();
  f.run_for(seconds(20));
  assert_int_equal(f.slurm.ends, 0);
  f.end_pod("g", "Succeeded");
  f.run_for();
  assert_text(f.calls(), "submit g, complete 1 0");
}

void a_gate_that_is_gone_takes_the_job_with_it(void**) {
  BridgeWorld f;
  put_gated_pod(f);
  f.run_for();
  Json pod = f.client.find(kube::kPods, "a", "g").clone();
  Json spec = pod["spec"].clone();
  spec.set("schedulingGates", Json::array());
  pod.set("spec", std::move(spec));
  f.client.put(kube::kPods, "a", pod);
  f.run_for();
  assert_text(f.calls(), "submit g, cancel 1");
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(a_selector_leaves_nodes),
      SLURMK8S_TEST(a_selector_without_a_node_is_told),
      SLURMK8S_TEST(a_node_that_does_not_fit_is_given_back),
      SLURMK8S_TEST(a_pod_waits_for_its_claims),
      SLURMK8S_TEST(kube_scheduler_binds_a_pod_with_a_gate),
      SLURMK8S_TEST(a_gate_that_is_gone_takes_the_job_with_it),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
