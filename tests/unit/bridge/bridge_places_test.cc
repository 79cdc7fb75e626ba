// SPDX-License-Identifier: GPL-2.0-or-later
// bridge/bridge: which Kubernetes nodes a pod may be on, and pods that kube-scheduler binds.
#include <string>
#include <vector>

#include "support/bridge_world.hpp"
#include "support/cmocka.hpp"

namespace slurmk8s {
namespace {

using kube::Verb;
using std::chrono::seconds;

constexpr const char* kOnRack1 = R"("nodeSelector": {"rack": "m1"},)";

void put_nodeset(BridgeWorld& f, const char* name, const char* mode) {
  f.client.put(kube::kNodeSets, "slurm",
               *Json::parse(format(R"({"metadata": {"namespace": "slurm", "name": "%s"}, "spec": {"scalingMode": "%s",
                                      "slurmd": {"resources": {"limits": {"cpu": "2", "memory": "1Gi"}}}}})",
                                   name, mode)));
}

/** They have no pods: names tell their Kubernetes nodes. */
void external_nodes_take_pods(void**) {
  BridgeWorld f;
  put_nodeset(f, "ex", "External");
  f.put_pod("p", "", kOnRack1);
  f.run_for();
  assert_true(f.slurm.requests.at(1).external);
  assert_true(f.slurm.requests.at(1).only_nodes == (std::vector<std::string>{"c-1", "ex-m1"}));
  f.slurm.start(1, {{"ex-m1", 1}});
  f.run_for();
  assert_text(f.kube_node("p"), "m1");

  f.put_kube_node("m2", "m2");
  f.put_pod("q");
  f.run_for();
  f.slurm.start(2, {{"ex-m2", 1}});
  f.run_for();
  assert_text(f.kube_node("q"), "m2");

  f.client.erase(kube::kNodeSets, "slurm", "ex");
  f.put_pod("r", "", kOnRack1);
  f.run_for();
  assert_false(f.slurm.requests.at(3).external);
  assert_true(f.slurm.requests.at(3).only_nodes == std::vector<std::string>{"c-1"});
}

/** MaxMemPerCPU: slurmctld gives a task more CPUs than its pod asks for. */
void larger_tasks_are_placed_as_slurm_has_them(void**) {
  BridgeWorld f;
  put_group(f, 4);
  for (const char* name : {"p1", "p2", "p3", "p4"}) f.put_pod(name, kMember);
  f.run_for(seconds(3));
  f.slurm.jobs.at(1).cpus_per_task = 2;
  f.slurm.start(1, {{"c-0", 4}, {"c-1", 4}});
  f.run_for();
  assert_text(f.kube_node("p1") + f.kube_node("p2") + f.kube_node("p3") + f.kube_node("p4"), "m0m0m1m1");
}

/** All of them would have it. */
void a_long_list_of_nodes_is_left_out(void**) {
  for (const std::size_t length : {60, 250}) {
    BridgeWorld f;
    f.put_node("c-0", std::string(length, 'm'));
    put_group(f, 100);
    for (int i = 0; i < 100; ++i) f.put_pod(("p" + std::to_string(i)).c_str(), kMember);
    f.run_for(seconds(3));
    f.slurm.start(1, {{"c-0", 100}});
    f.run_for(seconds(5));
    assert_int_equal(f.kube_node("p99").size(), length);
    assert_int_equal(f.annotation("p99", kAnnotationKubeNodes).size(), length == 60 ? 100 * 61 - 1 : 0);
  }
}

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

void put_on_demand(BridgeWorld& f, const char* mode, const char* selector, const char* of_variant = "") {
  constexpr const char* kVariants = R"(, "variants": [{"name": "v", "patch": {"template": {"spec":
    {"nodeSelector": {%s}}}}}])";
  const std::string variants = *of_variant == '\0' ? "" : format(kVariants, of_variant);
  f.client.put(kube::kNodeSets, "slurm",
               *Json::parse(format(R"({"metadata": {"namespace": "slurm", "name": "d"},
    "spec": {"replicas": 2, "scalingMode": "%s", "slurmd": {"image": "i", "resources": {"limits":
    {"cpu": "2", "memory": "1Gi"}}}, "template": {"spec": {"nodeSelector": {%s}}}%s}})",
                                   mode, selector, variants.c_str())));
}

/** The template of its NodeSet says where a node without a pod will come up. */
void powered_down_nodes_are_powered_up_by_a_selector(void**) {
  const struct {
    const char* mode;
    const char* selector;
    const char* of_variant;
    bool is_powered_up;
  } cases[] = {{"OnDemand", R"("rack": "m7")", "", true},
               {"Always", R"("rack": "m7", "zone": "a")", "", true},
               {"OnDemand", R"("rack": "m6")", "", false},
               {"OnDemand", "", "", false},
               {"DaemonSet", R"("rack": "m7")", "", false},
               {"OnDemand", R"("rack": "m7")", R"("zone": "a")", true},
               {"OnDemand", R"("rack": "m7")", R"("rack": "m6")", false}};
  for (const auto& c : cases) {
    BridgeWorld f;
    put_on_demand(f, c.mode, c.selector, c.of_variant);
    f.put_pod("p", "", R"("nodeSelector": {"rack": "m7"},)");
    f.run_for();
    if (f.slurm.submits != (c.is_powered_up ? 1 : 0)) fail_msg("%s %s %s", c.mode, c.selector, c.of_variant);
    if (!c.is_powered_up) {
      assert_contains(f.condition("p", "PodScheduled"), "powered-down nodes count where their NodeSet's nodeSelector");
      continue;
    }
    assert_true(f.slurm.requests.at(1).only_nodes == (std::vector<std::string>{"d-0", "d-1"}));
    f.put_kube_node("m7", "m7");
    f.put_node("d-1", "m7");
    f.slurm.start(1, {{"d-1", 1}});
    f.run_for();
    assert_text(f.kube_node("p"), "m7");
    assert_text(f.calls(), "submit p");
  }
}

/** One that is up counts by its Kubernetes node; a NodeSet that is gone has no nodes. */
void nodes_that_are_up_count_once(void**) {
  BridgeWorld f;
  put_on_demand(f, "OnDemand", R"("rack": "m1")");
  f.put_kube_node("m2", "elsewhere");
  f.put_node("d-0", "m2");
  f.put_pod("p", "", kOnRack1);
  f.run_for();
  assert_true(f.slurm.requests.at(1).only_nodes == (std::vector<std::string>{"c-1", "d-1"}));
  f.client.erase(kube::kNodeSets, "slurm", "d");
  f.put_pod("q", "", kOnRack1);
  f.run_for();
  assert_true(f.slurm.requests.at(2).only_nodes == std::vector<std::string>{"c-1"});
}

constexpr const char* kToleratesGpu = R"("tolerations": [{"key": "gpu", "operator": "Exists"}],)";

/** The administrator's tolerations (bridge_world.hpp: "slurm") are each pod's. */
void nodes_with_taints_are_left_out(void**) {
  const struct {
    const char* taint;
    const char* spec;
    std::vector<std::string> not_nodes;
  } cases[] = {{"", "", {}}, {"gpu", "", {"c-1"}}, {"gpu", kToleratesGpu, {}}, {"slurm", "", {}}};
  for (const auto& c : cases) {
    BridgeWorld f;
    f.put_kube_node("m1", "m1", c.taint);
    f.put_pod("p", "", c.spec);
    f.run_for();
    assert_true(f.slurm.requests.at(1).only_nodes.empty());
    assert_true(f.slurm.requests.at(1).not_nodes == c.not_nodes);
  }
}

void a_selector_leaves_no_node_with_a_taint(void**) {
  BridgeWorld f;
  f.put_kube_node("m1", "m1", "gpu");
  f.put_pod("p", "", kOnRack1);
  f.run_for();
  assert_int_equal(f.slurm.submits, 0);
  assert_contains(f.condition("p", "PodScheduled"), "spec.tolerations, spec.volumes: no Slurm node that is up");
  f.put_pod("q", "", (std::string(kOnRack1) + kToleratesGpu).c_str());
  f.run_for();
  assert_true(f.slurm.requests.at(1).only_nodes == std::vector<std::string>{"c-1"});
}

/** For ten minutes its pods do not get it again. Others are tried, ever more rarely. */
void a_node_that_comes_up_behind_a_taint_is_given_back(void**) {
  BridgeWorld f;
  f.put_kube_node("m2", "m2", "gpu");
  f.put_pod("p");
  f.run_for();
  assert_true(f.slurm.requests.at(1).not_nodes.empty());
  f.put_node("c-2", "m2");
  f.slurm.start(1, {{"c-2", 1}});
  f.run_for();
  assert_text(f.kube_node("p"), "");
  assert_contains(f.condition("p", "PodScheduled"), "Slurm node c-2 is on Kubernetes node m2, which has the taint gpu");
  f.client.erase(kube::kPods, "slurm", "c-2");
  f.client.erase(kube::kNodes, "", "m2");  // an autoscaler removes it, and would make it again
  f.run_for(seconds(30));
  assert_text(f.calls(), "submit p, cancel 1");
  f.run_for(seconds(40));
  assert_text(f.calls(), "submit p, cancel 1, submit p");
  assert_true(f.slurm.requests.at(2).not_nodes == std::vector<std::string>{"c-2"});

  f.put_kube_node("m3", "m3", "gpu");
  f.put_node("c-3", "m3");
  f.slurm.start(2, {{"c-3", 1}});
  f.run_for(seconds(70));
  assert_text(f.calls(), "submit p, cancel 1, submit p, cancel 2");
  f.client.erase(kube::kPods, "slurm", "c-3");
  f.run_for(seconds(60));
  assert_text(f.calls(), "submit p, cancel 1, submit p, cancel 2, submit p");
  assert_true(f.slurm.requests.at(3).not_nodes == (std::vector<std::string>{"c-2", "c-3"}));
  f.put_pod("q");
  f.run_for();
  assert_true(f.slurm.requests.at(4).not_nodes == (std::vector<std::string>{"c-2", "c-3"}));
  f.run_for(seconds(600));  // they may come up elsewhere now
  f.put_pod("r");
  f.run_for();
  assert_true(f.slurm.requests.at(5).not_nodes.empty());
}

/** Kubernetes evicts pods, whatever the administrator's tolerations are. */
void a_taint_that_evicts_needs_the_pods_own_toleration(void**) {
  BridgeWorld f;
  f.put_kube_node("m1", "m1", "slurm", "NoExecute");
  f.put_pod("p");
  f.run_for();
  assert_true(f.slurm.requests.at(1).not_nodes == std::vector<std::string>{"c-1"});
}

/** A node is one for all pods of a gang. */
void all_pods_of_a_gang_tolerate_its_nodes(void**) {
  BridgeWorld f;
  f.put_kube_node("m1", "m1", "gpu");
  put_group(f, 3);
  f.put_pod("p1", kMember, kToleratesGpu);
  f.put_pod("p2", kMember);
  f.put_pod("p3", kMember, kToleratesGpu);
  f.run_for(seconds(3));
  assert_true(f.slurm.requests.at(1).not_nodes == std::vector<std::string>{"c-1"});
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

/** The watch shows a binding later than the API server does it: another job would have the pod, too. */
void a_pod_whose_binding_is_sent_keeps_its_job(void**) {
  BridgeWorld f;
  f.put_pod("p", "", kOnRack1);
  f.run_for();
  f.client.fail_next(Verb::create, Error(Errc::unavailable, "no"), 1000);  // it may be done all the same
  f.slurm.start(1, {{"c-1", 1}});
  f.run_for();
  f.put_kube_node("m1", "elsewhere");
  f.run_for(seconds(10));
  assert_text(f.calls(), "submit p");
  f.client.forgive();
  f.run_for(seconds(60));
  assert_text(f.kube_node("p"), "m1");
}

/** `affinity`: of nodeAffinity; empty: any node can mount it. */
void put_volume(BridgeWorld& f, const char* name, const char* affinity = "") {
  f.client.put(kube::kVolumes, "",
               *Json::parse(format(R"({"metadata": {"name": "%s"}, "spec": {"nodeAffinity": {%s}}})", name, affinity)));
}
void put_claim(BridgeWorld& f, const char* name, const char* volume) {
  f.client.put(kube::kVolumeClaims, "a",
               *Json::parse(format(R"({"metadata": {"namespace": "a", "name": "%s"}, "spec": {"volumeName": "%s"}})",
                                   name, volume)));
}

/** Volumes on the Kubernetes nodes with this label. */
void put_volume_on(BridgeWorld& f, const char* name, const char* rack) {
  put_volume(f, name,
             format(R"("required": {"nodeSelectorTerms": [{"matchExpressions": [
                       {"key": "rack", "operator": "In", "values": ["%s"]}]}]})",
                    rack)
                 .c_str());
}

constexpr const char* kClaimed = R"("volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}],)";

/** What cannot be read is no reason to refuse a pod, nor to cancel its job. */
void a_failed_read_of_a_claim_is_no_refusal(void**) {
  const Error errors[] = {Error(Errc::forbidden, "no role"), Error(Errc::unavailable, "away"),
                          Error(Errc::timeout, "late"), Error(Errc::throttled, "busy")};
  for (const Error& error : errors) {
    BridgeWorld f;
    put_claim(f, "data", "volume-1");
    put_volume(f, "volume-1");
    f.client.fail_next(Verb::get, error, 1000);
    f.put_pod("p", "", kClaimed);
    f.run_for(seconds(3));
    assert_text(f.calls(), "");
    assert_text(f.events("SlurmJobRefused"), "");
    assert_contains(f.events("SlurmPending"),
                    "spec.volumes[0].persistentVolumeClaim: claim data cannot be read: " + error.message());
    f.client.forgive();
    f.run_for(seconds(6));
    assert_text(f.calls(), "submit p");
    f.slurm.wait_for(1, "Resources");
    f.client.fail_next(Verb::get, error, 1000);
    f.restart();
    f.run_for(seconds(20));
    assert_text(f.calls(), "submit p");
    assert_text(f.events("SlurmJobRefused"), "");
    f.slurm.start(1, {{"c-0", 1}});
    f.run_for();
    // Whether c-0 is still where the volume is, is not known.
    assert_text(f.kube_node("p"), "");
    assert_contains(f.events("SlurmPending"), "Slurm job 1: spec.volumes[0].persistentVolumeClaim: claim data cannot");
    f.client.forgive();
    f.run_for(seconds(40));
    assert_text(f.kube_node("p"), "m0");
    assert_text(f.calls(), "submit p");
  }
}

void a_volume_leaves_nodes(void**) {
  BridgeWorld f;
  put_claim(f, "data", "volume-1");
  put_volume_on(f, "volume-1", "m1");
  f.put_pod("p", "", kClaimed);
  f.run_for();
  assert_true(f.slurm.requests.at(1).only_nodes == std::vector<std::string>{"c-1"});
  f.slurm.start(1, {{"c-1", 1}});
  f.run_for();
  assert_text(f.kube_node("p"), "m1");

  put_volume(f, "volume-1");
  f.run_for(seconds(70));  // it was believed for a minute
  f.put_pod("q", "", kClaimed);
  f.run_for();
  assert_true(f.slurm.requests.at(2).only_nodes.empty());
}

/** What lacks is told, with its field, and is looked for again. */
void a_volume_that_no_node_can_mount_is_told(void**) {
  BridgeWorld f;
  put_claim(f, "data", "volume-1");
  f.put_pod("p", "", kClaimed);
  f.run_for();
  assert_contains(f.events("SlurmJobRefused"), "spec.volumes[0].persistentVolumeClaim: Forbidden: ");
  assert_contains(f.events("SlurmJobRefused"), "volume-1");
  put_volume_on(f, "volume-1", "m7");
  f.run_for(seconds(10));
  assert_contains(f.condition("p", "PodScheduled"), "spec.volumes: no Slurm node that is up is on such a Kubernetes");
  assert_text(f.calls(), "");
  f.put_kube_node("m0", "m7");
  f.run_for(seconds(70));
  assert_true(f.slurm.requests.at(1).only_nodes == std::vector<std::string>{"c-0"});
}

void an_unreadable_volume_is_waited_for(void**) {
  BridgeWorld f;
  put_claim(f, "data", "volume-1");
  f.put_pod("p", "", kClaimed);
  f.run_for(std::chrono::milliseconds(10));
  f.client.fail_next(Verb::get, Error(Errc::forbidden, "no role"), 1000);
  f.run_for(seconds(10));
  f.client.forgive();
  put_volume_on(f, "volume-1", "m1");
  assert_text(f.calls(), "");
  assert_contains(f.events("SlurmPending"), "cannot be read: no role");
  f.run_for(seconds(70));
  assert_true(f.slurm.requests.at(1).only_nodes == std::vector<std::string>{"c-1"});
}

/** The node's pod has come up elsewhere since: also for a bridge that did not submit the job. */
void a_node_that_cannot_mount_a_volume_is_given_back(void**) {
  for (const bool restarts : {false, true}) {
    BridgeWorld f;
    put_claim(f, "data", "volume-1");
    put_volume_on(f, "volume-1", "m1");
    f.put_pod("p", "", kClaimed);
    f.run_for();
    f.slurm.wait_for(1, "Resources");
    if (restarts) f.restart();
    f.run_for();
    f.put_node("c-1", "m0");
    f.put_node("c-0", "m1");
    f.slurm.start(1, {{"c-1", 1}});
    f.run_for(seconds(10));
    assert_text(f.kube_node("p"), "");
    assert_text(f.calls(), "submit p, cancel 1, submit p");
    assert_true(f.slurm.requests.at(2).only_nodes == std::vector<std::string>{"c-0"});
  }
}

/** Each pod of a gang may get each node of its job: all of these can mount all volumes. */
void volumes_of_a_gang(void**) {
  const struct {
    const char* racks[2];  // of the volumes of p1 and p2; empty: the pod has none
    std::vector<std::string> only_nodes;
  } cases[] = {{{"m1", "m1"}, {"c-1"}}, {{"m1", ""}, {"c-1"}}, {{"", "m0"}, {"c-0"}}, {{"m0", "m1"}, {}}};
  for (const auto& c : cases) {
    BridgeWorld f;
    put_group(f, 2);
    for (int i = 0; i < 2; ++i) {
      const std::string name = "p" + std::to_string(i + 1);
      put_claim(f, name.c_str(), name.c_str());
      put_volume_on(f, name.c_str(), c.racks[i]);
      const std::string claimed =
          format(R"("volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "%s"}}],)", name.c_str());
      f.put_pod(name.c_str(), kMember, *c.racks[i] == '\0' ? "" : claimed.c_str());
    }
    f.run_for(seconds(3));
    assert_int_equal(f.slurm.submits, c.only_nodes.empty() ? 0 : 1);
    if (c.only_nodes.empty()) {
      assert_contains(f.condition("p1", "PodScheduled"), "spec.volumes: no Slurm node");
    } else {
      assert_true(f.slurm.requests.at(1).only_nodes == c.only_nodes);
    }
  }
}

/** Its job keeps its size. */
void a_changed_annotation_does_not_change_where_pods_go(void**) {
  const std::string member(kMember);
  const std::string two_cpus = member + R"(, "annotations": {"job.slurm-k8s.io/cpu-per-task": "2")";
  BridgeWorld f;
  put_group(f, 3);
  for (const char* pod : {"p1", "p2", "p3"}) f.put_pod(pod, (two_cpus + "}").c_str());
  f.run_for(seconds(3));
  f.slurm.wait_for(1, "Resources");
  f.run_for();
  f.put_pod("p1", (two_cpus + R"(, "job.slurm-k8s.io/timelimit": "soon"})").c_str());
  f.run_for();
  f.slurm.start(1, {{"c-0", 2}, {"c-1", 4}});
  f.run_for();
  assert_text(f.kube_node("p1") + f.kube_node("p2") + f.kube_node("p3"), "m0m1m1");
}

void ranks_follow_the_topology_of_kubernetes_nodes(void**) {
  const struct {
    const char* annotation;  // of m1
    const char* places;      // of p1 and p2
  } cases[] = {{"", "m0m1"}, {"default:rack1", "m1m0"}, {"-", "m0m1"}};
  for (const auto& c : cases) {
    BridgeWorld f;
    const std::string annotation = c.annotation == std::string("-") ? "default:rack1" : c.annotation;
    const auto annotate = [&](const std::string& value) {
      f.client.put(kube::kNodes, "",
                   *Json::parse(R"({"metadata": {"name": "m1", "annotations": {
                                                      "slurm-k8s.io/topology": ")" +
                                value + "\"}}}"));
      f.run_for();
    };
    annotate(annotation);
    if (c.annotation == std::string("-")) annotate("");  // taken away again
    put_group(f, 2);
    f.put_pod("p1", kMember);
    f.put_pod("p2", kMember);
    f.run_for(seconds(3));
    f.slurm.start(1, {{"c-0", 1}, {"c-1", 1}});
    f.run_for();
    assert_text(f.kube_node("p1") + f.kube_node("p2"), c.places);
    assert_text(f.annotation("p1", kAnnotationKubeNodes), c.places[1] == '0' ? "m0,m1" : "m1,m0");
  }
}

/** Its Comment says no more than that: a pod without a volume gets no job by it, and the job is cancelled. */
void a_job_of_another_pod_of_the_name_is_not_adopted(void**) {
  BridgeWorld f;
  put_claim(f, "data", "volume-1");
  put_volume(f, "volume-1");
  f.put_pod("p", "", kClaimed);
  f.run_for();
  f.slurm.wait_for(1, "Resources");
  f.bridge->stop();
  f.client.erase(kube::kPods, "a", "p");
  put_claim(f, "data", "");
  f.put_pod("p", "", kClaimed);
  f.restart();
  f.run_for(seconds(20));
  assert_text(f.calls(), "submit p, cancel 1");
  assert_contains(f.events("SlurmJobRefused"), "claim data is not bound");
}

void an_answer_is_about_its_pods_alone(void**) {
  kube::FakeClient client;
  FakeClock clock;
  std::vector<std::string> told;
  ClaimCache claims(client, clock, {}, [&](const std::set<std::string>& pods) {
    std::string uids;
    for (const std::string& uid : pods) uids += uid;
    told.push_back(uids);
  });
  for (int i = 0; i < 60; ++i) {
    WorkloadPod pod;
    pod.name_space = "a";
    pod.uid = "u" + std::to_string(i) + ".";
    pod.claims = {{"d" + std::to_string(i / 2), "spec"}};
    const ClaimCache::Answer answer = claims.judge(pod);
    assert_false(answer.is_known);
    assert_text(answer.why + answer.unread, "");
  }
  assert_int_equal(client.count(Verb::get), 16);
  client.deliver();
  assert_int_equal(client.count(Verb::get), 30);
  assert_int_equal(told.size(), 30);
  assert_text(told[0], "u0.u1.");
  assert_text(told[29], "u58.u59.");
}

/** The API server has others to serve. */
void unbound_claims_are_read_ever_less_often(void**) {
  BridgeWorld f;
  for (int i = 0; i < 100; ++i) {
    const std::string name = "d" + std::to_string(i);
    put_claim(f, name.c_str(), "");
    f.put_pod(
        name.c_str(), "",
        format(R"("volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "%s"}}],)", name.c_str()).c_str());
  }
  f.run_for(seconds(3));
  assert_int_equal(f.client.count(Verb::get), 100);
  f.run_for(seconds(80));  // after 5, 10, 20 and 40 s
  assert_int_equal(f.client.count(Verb::get), 500);
  f.run_for(seconds(120));  // after 60 s each
  assert_int_equal(f.client.count(Verb::get), 700);
  assert_text(f.calls(), "");
}

/** Nothing binds the claim of a pod that the bridge binds itself. */
void a_pod_waits_for_its_claims(void**) {
  BridgeWorld f;
  f.put_pod("p", "", kClaimed);
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
  put_volume(f, "volume-1");
  f.run_for(seconds(20));
  assert_text(f.calls(), "submit p");
  f.put_pod("q", "", kClaimed);
  f.run_for();
  assert_text(f.calls(), "submit p, submit q");
}

/** Of kube-scheduler, with a gate until its job has nodes. */
void put_gated_pod(BridgeWorld& f, const char* name = "g", const char* spec = "", const char* metadata = "") {
  f.client.put(kube::kPods, "a",
               *Json::parse(format(R"({"metadata": {"namespace": "a", "name": "%s", %s "labels":
    {"slurm-k8s.io/bridge": "slurm-k8s-bridge"}}, "spec": {"schedulerName": "default-scheduler", "schedulingGates":
    [{"name": "slurm-k8s.io/bridge"}], %s "containers": [{}]}})",
                                   name, metadata, spec)));
}

/** kube-scheduler would not bind it there. */
void a_gated_pod_has_its_own_tolerations_alone(void**) {
  BridgeWorld f;
  f.put_kube_node("m1", "m1", "slurm");
  put_gated_pod(f);
  f.run_for();
  assert_true(f.slurm.requests.at(1).not_nodes == std::vector<std::string>{"c-1"});
  put_gated_pod(f, "h", R"("tolerations": [{"key": "slurm", "operator": "Exists"}],)");
  f.run_for();
  assert_true(f.slurm.requests.at(2).not_nodes.empty());
}

/** kube-scheduler binds its claims. One that is bound already decides where the pod can be. */
void volumes_of_a_gated_pod(void**) {
  BridgeWorld f;
  put_gated_pod(f, "g", kClaimed);  // no claim is there yet
  f.run_for();
  assert_true(f.slurm.requests.at(1).only_nodes.empty());
  f.slurm.wait_for(1, "Resources");
  put_claim(f, "data", "volume-1");  // another pod had it bound
  put_volume_on(f, "volume-1", "m1");
  f.run_for(seconds(60));
  f.slurm.start(1, {{"c-0", 1}});
  f.run_for(seconds(10));
  assert_text(f.annotation("g", kAnnotationKubeNode), "");
  assert_text(f.calls(), "submit g, cancel 1, submit g");
  assert_true(f.slurm.requests.at(2).only_nodes == std::vector<std::string>{"c-1"});
  f.slurm.start(2, {{"c-1", 1}});
  f.run_for();
  assert_text(f.annotation("g", kAnnotationKubeNode), "m1");
}

void an_unbound_claim_of_a_gated_pod_leaves_all_nodes(void**) {
  BridgeWorld f;
  put_claim(f, "data", "");
  put_gated_pod(f, "g", kClaimed);
  f.run_for();
  assert_true(f.slurm.requests.at(1).only_nodes.empty());
  f.slurm.start(1, {{"c-0", 1}});
  f.run_for();
  assert_text(f.annotation("g", kAnnotationKubeNode), "m0");
}

constexpr const char* kTwoGpus = R"("resourceClaims": [{"name": "g", "resourceClaimTemplateName": "two"}],)";

void put_template(BridgeWorld& f, const char* request) {
  f.client.put(kube::kResourceClaimTemplates, "a",
               *Json::parse(format(R"({"metadata": {"namespace": "a", "name": "two"}, "spec": {"spec": {"devices":
                                      {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu.nvidia.com",
                                      %s}}]}}}})",
                                   request)));
}

void slurm_counts_gpus_of_claims(void**) {
  BridgeWorld f;
  put_template(f, R"("count": 2)");
  put_gated_pod(f, "g", kTwoGpus);
  f.run_for();
  assert_text(f.slurm.requests.at(1).gres, "gpu:2");
  assert_text(f.slurm.requests.at(1).features, "nvidia.com/gpu");
  // It is bound by another process, long after that has read its claim.
  f.slurm.wait_for(1, "Resources");
  f.restart();
  f.run_for(seconds(200));
  f.slurm.start(1, {{"c-0", 1, 0}, {"c-1", 1, 2}});
  f.run_for();
  assert_text(f.annotation("g", kAnnotationKubeNode), "m1");
  assert_text(f.calls(), "submit g");
}

/** Its creator has made the claim again since the job was submitted: kube-scheduler would give the pod more. */
void a_claim_that_asks_for_more_since_gets_another_job(void**) {
  BridgeWorld f;
  put_template(f, R"("count": 1)");
  put_gated_pod(f, "g", kTwoGpus);
  f.run_for();
  assert_text(f.slurm.requests.at(1).gres, "gpu:1");
  put_template(f, R"("count": 2)");
  f.slurm.start(1, {{"c-0", 1, 1}});
  f.run_for(seconds(10));
  assert_text(f.annotation("g", kAnnotationKubeNode), "");
  assert_text(f.calls(), "submit g, cancel 1, submit g");
  assert_text(f.slurm.requests.at(2).gres, "gpu:2");
  put_template(f, R"("count": 1)");  // less is fine
  f.slurm.start(2, {{"c-0", 1, 2}});
  f.run_for();
  assert_text(f.annotation("g", kAnnotationKubeNode), "m0");
}

void a_claim_that_cannot_be_counted_is_told(void**) {
  BridgeWorld f;
  put_gated_pod(f, "g", kTwoGpus);
  f.run_for();
  assert_text(f.calls(), "");
  assert_contains(f.events("SlurmJobRefused"), "spec.resourceClaims[0]: Forbidden: ");
  put_template(f, R"("allocationMode": "All")");
  f.run_for(seconds(10));
  assert_text(f.calls(), "");
  assert_contains(f.events("SlurmJobRefused"),
                  "spec.resourceClaims[0]: Forbidden: resource claim two: request r: allocationMode All cannot be "
                  "counted");
  put_template(f, R"("count": 1)");
  f.run_for(seconds(20));
  assert_text(f.slurm.requests.at(1).gres, "gpu:1");
}

/** A restart while claims cannot be read: its job is found, and nothing is submitted or refused. */
void an_unread_claim_costs_no_job(void**) {
  BridgeWorld f;
  put_template(f, R"("count": 2)");
  constexpr const char* kMetadata = R"("annotations": {"job.slurm-k8s.io/gres": "gpu:a100:2"}, )";
  put_gated_pod(f, "g", kTwoGpus, kMetadata);
  f.run_for();
  assert_text(f.slurm.requests.at(1).gres, "gpu:a100:2");
  f.slurm.wait_for(1, "Resources");
  f.client.fail_next(Verb::get, Error(Errc::unavailable, "away"), 1000);
  f.restart();
  f.run_for(seconds(15));
  f.client.forgive();
  f.run_for(seconds(100));
  assert_text(f.calls(), "submit g");
  assert_text(f.events("SlurmJobRefused"), "");
  f.slurm.start(1, {{"c-0", 1, 0}, {"c-1", 1, 2}});
  f.run_for(seconds(10));
  assert_text(f.annotation("g", kAnnotationKubeNode), "m1");
}

/** A claim of its own, while the API server answers nothing: no job without its GPUs. */
void an_unread_claim_is_waited_for(void**) {
  BridgeWorld f;
  f.client.put(kube::kResourceClaims, "a", *Json::parse(R"({"metadata": {"namespace": "a", "name": "own"},
    "spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu.nvidia.com"}}]}}})"));
  f.client.fail_next(Verb::get, Error(Errc::unavailable, "away"), 1000);
  put_gated_pod(f, "g", R"("resourceClaims": [{"name": "g", "resourceClaimName": "own"}],)");
  f.run_for(seconds(3));
  assert_text(f.calls(), "");
  assert_contains(f.events("SlurmPending"), "spec.resourceClaims[0]: claim own cannot be read: away");
  f.client.forgive();
  f.run_for(seconds(6));
  assert_text(f.slurm.requests.at(1).gres, "gpu:1");
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

/** What kube-scheduler says of a pod without its gate; empty: nothing. */
void set_unschedulable(BridgeWorld& f, const char* pod, const std::string& message) {
  Json object = f.client.find(kube::kPods, "a", pod).clone();
  Json conditions = Json::array();
  if (!message.empty()) {
    conditions.push(Json::object()
                        .set("type", "PodScheduled")
                        .set("status", "False")
                        .set("reason", "Unschedulable")
                        .set("message", message));
  }
  object.set("status", Json::object().set("conditions", conditions));
  f.client.put(kube::kPods, "a", object);
}

void a_pod_that_kube_scheduler_cannot_place_ends_with_its_job(void**) {
  constexpr const char* kWhy = "0/2 nodes are available: 1 Insufficient example.com/x.";
  BridgeWorld f;
  put_gated_pod(f);
  f.run_for();
  f.slurm.start(1, {{"c-1", 1}});
  f.run_for();
  set_unschedulable(f, "g", kWhy);
  f.run_for(seconds(50));
  set_unschedulable(f, "g", "");  // a volume was late
  f.run_for();
  set_unschedulable(f, "g", kWhy);
  f.run_for(seconds(50));
  assert_text(f.calls(), "submit g");
  assert_text(f.events("SlurmPodUnschedulable"), "");
  f.slurm.failures.push_back(Error(Errc::unavailable, "slurm: connection refused"));
  f.run_for(seconds(20));
  assert_text(f.calls(), "submit g, cancel 1, cancel 1");
  assert_text(f.events("SlurmPodUnschedulable"),
              std::string("Slurm job 1 is cancelled: kube-scheduler has not bound the pod to m1: ") + kWhy + "\n");
  // It is deleted since slurmctld says that its job has ended.
  assert_text(f.events("Evicted"), "Slurm job 1: CANCELLED\n");
  assert_int_equal(f.client.count(kube::Verb::remove), 1);
}

// kube-scheduler sets this condition only on its own pods, once the bridge has removed the gate.
void a_pod_that_waits_for_slurm_is_not_given_up(void**) {
  BridgeWorld f;
  put_gated_pod(f);
  f.put_pod("p");
  f.run_for();
  set_unschedulable(f, "g", "forged");
  set_unschedulable(f, "p", "forged");
  f.run_for(seconds(120));
  assert_int_equal(f.slurm.ends, 0);
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
      SLURMK8S_TEST(ranks_follow_the_topology_of_kubernetes_nodes),
      SLURMK8S_TEST(external_nodes_take_pods),
      SLURMK8S_TEST(a_selector_leaves_nodes),
      SLURMK8S_TEST(larger_tasks_are_placed_as_slurm_has_them),
      SLURMK8S_TEST(a_long_list_of_nodes_is_left_out),
      SLURMK8S_TEST(a_selector_without_a_node_is_told),
      SLURMK8S_TEST(powered_down_nodes_are_powered_up_by_a_selector),
      SLURMK8S_TEST(nodes_that_are_up_count_once),
      SLURMK8S_TEST(nodes_with_taints_are_left_out),
      SLURMK8S_TEST(a_gated_pod_has_its_own_tolerations_alone),
      SLURMK8S_TEST(a_selector_leaves_no_node_with_a_taint),
      SLURMK8S_TEST(a_node_that_comes_up_behind_a_taint_is_given_back),
      SLURMK8S_TEST(a_taint_that_evicts_needs_the_pods_own_toleration),
      SLURMK8S_TEST(all_pods_of_a_gang_tolerate_its_nodes),
      SLURMK8S_TEST(a_node_that_does_not_fit_is_given_back),
      SLURMK8S_TEST(a_pod_whose_binding_is_sent_keeps_its_job),
      SLURMK8S_TEST(a_failed_read_of_a_claim_is_no_refusal),
      SLURMK8S_TEST(a_job_of_another_pod_of_the_name_is_not_adopted),
      SLURMK8S_TEST(an_answer_is_about_its_pods_alone),
      SLURMK8S_TEST(unbound_claims_are_read_ever_less_often),
      SLURMK8S_TEST(a_pod_waits_for_its_claims),
      SLURMK8S_TEST(a_volume_leaves_nodes),
      SLURMK8S_TEST(a_volume_that_no_node_can_mount_is_told),
      SLURMK8S_TEST(an_unreadable_volume_is_waited_for),
      SLURMK8S_TEST(a_node_that_cannot_mount_a_volume_is_given_back),
      SLURMK8S_TEST(volumes_of_a_gang),
      SLURMK8S_TEST(volumes_of_a_gated_pod),
      SLURMK8S_TEST(an_unbound_claim_of_a_gated_pod_leaves_all_nodes),
      SLURMK8S_TEST(kube_scheduler_binds_a_pod_with_a_gate),
      SLURMK8S_TEST(a_pod_that_kube_scheduler_cannot_place_ends_with_its_job),
      SLURMK8S_TEST(a_pod_that_waits_for_slurm_is_not_given_up),
      SLURMK8S_TEST(a_gate_that_is_gone_takes_the_job_with_it),
      SLURMK8S_TEST(slurm_counts_gpus_of_claims),
      SLURMK8S_TEST(a_claim_that_asks_for_more_since_gets_another_job),
      SLURMK8S_TEST(a_claim_that_cannot_be_counted_is_told),
      SLURMK8S_TEST(an_unread_claim_is_waited_for),
      SLURMK8S_TEST(an_unread_claim_costs_no_job),
      SLURMK8S_TEST(a_changed_annotation_does_not_change_where_pods_go),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
