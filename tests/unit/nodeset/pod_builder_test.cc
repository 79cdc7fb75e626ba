// SPDX-License-Identifier: GPL-2.0-or-later
// nodeset/pod_builder: fixed fields, and fields that a NodeSet can change.
#include <string>

#include "nodeset/pod_builder.hpp"

#include "support/cmocka.hpp"

using namespace slurmk8s;

namespace {

Json parse(const char* text) {
  auto json = Json::parse(text);
  if (!json) fail_msg("test data: %s", json.error().message().c_str());
  return *json;
}

NodeSet compute(const char* slurmd, const char* metadata, const char* spec) {
  NodeSet nodeset;
  nodeset.name_space = "slurm";
  nodeset.name = "compute";
  nodeset.uid = "nodeset-uid";
  nodeset.size.cpus = 2;
  nodeset.size.real_memory_mib = 936;
  nodeset.template_hash = "1-abc";
  nodeset.slurmd = parse(slurmd);
  nodeset.pod_metadata = parse(metadata);
  nodeset.pod_spec = parse(spec);
  return nodeset;
}

Json build(const NodeSet& nodeset) { return build_pod(nodeset, {"compute-3", "request-1", "12,13"}, Options{}); }

Json named(const Json& list, std::string_view name) {
  Json found;
  list.each([&](const Json& element) {
    if (element["name"].text() == name) found = element;
  });
  return found;
}

Json slurmd_of(const Json& pod) { return named(pod.at({"spec", "containers"}), "slurmd"); }

void assert_member(const Json& value, const char* expected) {
  assert_string_equal(std::string(value.text()).c_str(), expected);
}

void names_are_looked_up_in_the_domain_of_the_cluster(void**) {
  const NodeSet nodeset = compute(R"({"image":"slurmd:1"})", "null", "null");
  const auto search = [](const Json& pod) { return pod.at({"spec", "dnsConfig", "searches"})[std::size_t{0}]; };
  assert_member(search(build(nodeset)), "slurm-nodes.slurm.svc.cluster.local");
  Options options;
  options.cluster_domain = "k8s.example.org";
  assert_member(search(build_pod(nodeset, {"compute-3", "request-1", "12,13"}, options)),
                "slurm-nodes.slurm.svc.k8s.example.org");
}

void a_plain_nodeset(void**) {
  const Json pod = build(compute(R"({"image":"slurmd:1"})", "null", "null"));
  assert_member(pod["kind"], "Pod");
  assert_member(pod.at({"metadata", "name"}), "compute-3");
  assert_member(pod.at({"metadata", "namespace"}), "slurm");
  assert_member(pod.at({"metadata", "labels", "slurm-k8s.io/nodeset"}), "compute");
  assert_member(pod.at({"metadata", "labels", "slurm-k8s.io/node"}), "compute-3");
  assert_member(pod.at({"metadata", "labels", "slurm-k8s.io/template-hash"}), "1-abc");
  assert_member(pod.at({"metadata", "annotations", "slurm-k8s.io/request"}), "request-1");
  assert_member(pod.at({"metadata", "annotations", "slurm-k8s.io/jobs"}), "12,13");
  assert_member(pod.at({"metadata", "ownerReferences"})[std::size_t{0}]["uid"], "nodeset-uid");
  assert_member(pod.at({"spec", "hostname"}), "compute-3");
  assert_member(pod.at({"spec", "subdomain"}), "slurm-nodes");
  assert_member(pod.at({"spec", "restartPolicy"}), "Never");
  assert_false(pod.at({"spec", "automountServiceAccountToken"}).boolean_or(true));
  assert_false(pod.at({"spec", "enableServiceLinks"}).boolean_or(true));
  const Json slurmd = slurmd_of(pod);
  assert_member(slurmd["image"], "slurmd:1");
  assert_member(named(slurmd["env"], "SLURMD_NODENAME")["value"], "compute-3");
  assert_member(named(slurmd["env"], "SLURMD_CONF")["value"], "CPUs=2 RealMemory=936");
  assert_member(named(slurmd["env"], "SLURM_K8S_NODE").at({"valueFrom", "fieldRef", "fieldPath"}), "spec.nodeName");
  assert_member(named(slurmd["env"], "SLURM_K8S_ZONE").at({"valueFrom", "fieldRef", "fieldPath"}),
                "metadata.labels['topology.kubernetes.io/zone']");
  assert_member(named(slurmd["env"], "SLURM_K8S_CPU_LIMIT").at({"valueFrom", "resourceFieldRef", "resource"}),
                "limits.cpu");
  assert_member(named(slurmd["env"], "SLURM_K8S_MEMORY_LIMIT").at({"valueFrom", "resourceFieldRef", "resource"}),
                "limits.memory");
  assert_int_equal(named(pod.at({"spec", "volumes"}), "slurm-key").at({"secret", "defaultMode"}).integer_or(0), 0400);
}

// Of the administrator's own Gres in extraConf it says nothing.
void slurmd_is_told_its_gpus(void**) {
  NodeSet nodeset = compute(R"({"image":"slurmd:1"})", "null", "null");
  assert_true(named(slurmd_of(build(nodeset))["env"], "SLURMD_DEVICE_GRES").is_null());
  nodeset.extra_conf = "Gres=foo:1,gpu:a100:2";
  nodeset.device_gres = "gpu:a100:2";
  const Json env = slurmd_of(build(nodeset))["env"];
  assert_member(named(env, "SLURMD_CONF")["value"], "CPUs=2 RealMemory=936 Gres=foo:1,gpu:a100:2");
  assert_member(named(env, "SLURMD_DEVICE_GRES")["value"], "gpu:a100:2");
  assert_true(named(env, "SLURM_K8S_BRIDGE_DEVICES").is_null());
  nodeset.has_bridge_devices = true;
  assert_member(named(slurmd_of(build(nodeset))["env"], "SLURM_K8S_BRIDGE_DEVICES")["value"], "gpu:a100:2");
}

// As a DaemonSet's controller does; each of the template's terms stays.
void a_daemon_sets_pod_goes_to_its_kube_node(void**) {
  NodeSet nodeset =
      compute(R"({"image":"slurmd:1"})", "null", R"({"nodeSelector":{"a":"b"},"affinity":{"podAffinity":{}}})");
  nodeset.scaling_mode = ScalingMode::daemon_set;
  const auto affinity = [&nodeset] {
    return build_pod(nodeset, {"compute-m1--example", "request-1", ""}, Options{}).at({"spec", "affinity"}).dump();
  };
  const std::string field = R"("matchFields":[{"key":"metadata.name","operator":"In","values":["m1.example"]}])";
  const std::string begin =
      R"({"podAffinity":{},"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[)";
  assert_text(affinity(), begin + "{" + field + "}]}}}");
  nodeset.pod_spec = parse(R"({"affinity":{"podAffinity":{},"nodeAffinity":{
      "requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[
      {"matchExpressions":[{"key":"gpu","operator":"Exists"}]},{"matchExpressions":[]}]}}}})");
  assert_text(affinity(), begin + R"({"matchExpressions":[{"key":"gpu","operator":"Exists"}],)" + field +
                              R"(},{"matchExpressions":[],)" + field + "}]}}}");
}

void a_daemon_sets_pod_tolerates_taints_of_its_kube_node(void**) {
  const auto tolerations = [](const char* spec, ScalingMode mode) {
    NodeSet nodeset = compute(R"({"image":"slurmd:1"})", "null", spec);
    nodeset.scaling_mode = mode;
    std::string keys;
    build(nodeset).at({"spec", "tolerations"}).each([&](const Json& one) {
      keys += std::string(one["key"].text()) + ":" + std::string(one["effect"].text()) + " ";
    });
    return keys;
  };
  const std::string added =
      "node.kubernetes.io/not-ready:NoExecute node.kubernetes.io/unreachable:NoExecute "
      "node.kubernetes.io/disk-pressure:NoSchedule node.kubernetes.io/memory-pressure:NoSchedule "
      "node.kubernetes.io/pid-pressure:NoSchedule ";
  assert_text(tolerations("null", ScalingMode::daemon_set), added);
  assert_text(tolerations(R"({"tolerations":[{"key":"gpu","operator":"Exists","effect":"NoExecute"}]})",
                          ScalingMode::daemon_set),
              "gpu:NoExecute " + added);
  assert_text(tolerations(R"({"hostNetwork":true})", ScalingMode::daemon_set),
              added + "node.kubernetes.io/network-unavailable:NoSchedule ");
  assert_text(tolerations("null", ScalingMode::always), "");
}

void a_pod_is_busy_from_the_start(void**) {
  NodeSet nodeset =
      compute(R"({"image":"slurmd:1"})", R"({"annotations":{"karpenter.sh/do-not-disrupt":"false","a":"b"}})", "null");
  const Json marked = build(nodeset)["metadata"];
  assert_member(marked.at({"labels", "slurm-k8s.io/busy"}), "true");
  assert_member(marked.at({"annotations", "cluster-autoscaler.kubernetes.io/safe-to-evict"}), "false");
  assert_member(marked.at({"annotations", "karpenter.sh/do-not-disrupt"}), "false");  // the template's
  assert_member(marked.at({"annotations", "a"}), "b");
  assert_text(
      busy_marks(nodeset, false).dump(),
      R"({"labels":{"slurm-k8s.io/busy":null},"annotations":{"cluster-autoscaler.kubernetes.io/safe-to-evict":null}})");
  nodeset.protects_busy = false;
  const Json plain = build(nodeset)["metadata"];
  assert_false(plain["labels"].has("slurm-k8s.io/busy"));
  assert_false(plain["annotations"].has("cluster-autoscaler.kubernetes.io/safe-to-evict"));
}

void a_pod_in_the_network_of_its_kube_node(void**) {
  const Json pod = build(compute(R"({"image":"slurmd:1"})", "null", R"({"hostNetwork":true})"));
  assert_member(pod.at({"spec", "dnsPolicy"}), "ClusterFirstWithHostNet");
  const Json other = build(compute(R"({"image":"slurmd:1"})", "null", R"({"hostNetwork":true,"dnsPolicy":"Default"})"));
  assert_member(other.at({"spec", "dnsPolicy"}), "Default");
  assert_true(build(compute(R"({"image":"slurmd:1"})", "null", "null")).at({"spec", "dnsPolicy"}).is_null());
}

void scheduling_fields_are_the_templates(void**) {
  const Json spec = build(compute(R"({"image":"slurmd:1"})", "null",
                                  R"({"tolerations":[{"key":"k","operator":"Exists"}],"priorityClassName":"high",
                                      "affinity":{"podAntiAffinity":{}}})"))["spec"];
  assert_text(spec["tolerations"].dump(), R"([{"key":"k","operator":"Exists"}])");
  assert_member(spec["priorityClassName"], "high");
  assert_true(spec["affinity"].has("podAntiAffinity"));
}

void a_template_adds_and_changes(void**) {
  const Json pod = build(compute(
      R"({"image":"slurmd:1","env":[{"name":"A","value":"1"}],
          "volumeMounts":[{"name":"scratch","mountPath":"/scratch"}]})",
      R"({"labels":{"team":"x"},"annotations":{"note":"y"}})",
      R"({"nodeSelector":{"disk":"ssd"},"terminationGracePeriodSeconds":60,
          "containers":[{"name":"log","image":"log:1"},
                        {"name":"slurmd","env":[{"name":"A","value":"0"},{"name":"B","value":"2"}]}],
          "volumes":[{"name":"scratch","emptyDir":{}}]})"));
  assert_member(pod.at({"metadata", "labels", "team"}), "x");
  assert_member(pod.at({"metadata", "annotations", "note"}), "y");
  assert_member(pod.at({"spec", "nodeSelector", "disk"}), "ssd");
  assert_int_equal(pod.at({"spec", "terminationGracePeriodSeconds"}).integer_or(0), 60);
  assert_int_equal(pod.at({"spec", "containers"}).size(), 2);
  assert_int_equal(pod.at({"spec", "volumes"}).size(), 2);
  const Json slurmd = slurmd_of(pod);
  assert_member(named(slurmd["env"], "A")["value"], "1");  // the slurmd overlay goes over the template
  assert_member(named(slurmd["env"], "B")["value"], "2");
  assert_int_equal(slurmd["volumeMounts"].size(), 2);
}

constexpr const char* kPodSecurity = R"({"seccompProfile":{"type":"RuntimeDefault"},)"
                                     R"("sysctls":[{"name":"net.ipv4.ping_group_range","value":"0 2147483647"}]})";

void the_end_of_slurmds_log_is_in_its_status(void**) {
  const Json pod = build(compute(R"({"image":"slurmd:1"})", "null", "null"));
  assert_member(slurmd_of(pod)["terminationMessagePolicy"], "FallbackToLogsOnError");
  const Json other = build(compute(R"({"image":"slurmd:1","terminationMessagePolicy":"File"})", "null", "null"));
  assert_member(slurmd_of(other)["terminationMessagePolicy"], "File");
}

void security_context_of_jobs(void**) {
  const struct {
    const char* name;
    const char* slurmd;
    const char* spec;
    const char* pod_security;
    const char* security;
  } cases[] = {
      {"by default", "{}", "null", kPodSecurity,
       R"({"capabilities":{"drop":["NET_RAW","MKNOD"]},"allowPrivilegeEscalation":false})"},
      {"Kubernetes refuses such a setting in the Kubernetes node's network", "{}", R"({"hostNetwork":true})",
       R"({"seccompProfile":{"type":"RuntimeDefault"}})",
       R"({"capabilities":{"drop":["NET_RAW","MKNOD"]},"allowPrivilegeEscalation":false})"},
      {"and the kernel that many groups in a user namespace", "{}", R"({"hostUsers":false})",
       R"({"seccompProfile":{"type":"RuntimeDefault"}})",
       R"({"capabilities":{"drop":["NET_RAW","MKNOD"]},"allowPrivilegeEscalation":false})"},
      {"set-uid programs on request", R"({"securityContext":{"allowPrivilegeEscalation":true}})", "null", kPodSecurity,
       R"({"capabilities":{"drop":["NET_RAW","MKNOD"]},"allowPrivilegeEscalation":true})"},
      {"asked for in the template", "{}",
       R"({"securityContext":{"fsGroup":7,"seccompProfile":{"type":"Unconfined"},"sysctls":[]},
           "containers":[{"name":"slurmd","securityContext":{"allowPrivilegeEscalation":true}}]})",
       R"({"fsGroup":7,"seccompProfile":{"type":"Unconfined"},"sysctls":[]})",
       R"({"capabilities":{"drop":["NET_RAW","MKNOD"]},"allowPrivilegeEscalation":true})"},
      {"Kubernetes refuses false beside CAP_SYS_ADMIN", R"({"securityContext":{"capabilities":{"add":["SYS_ADMIN"]}}})",
       "null", kPodSecurity, R"({"capabilities":{"drop":["NET_RAW","MKNOD"],"add":["SYS_ADMIN"]}})"},
      {"by its long name", R"({"securityContext":{"capabilities":{"add":["CAP_SYS_ADMIN"],"drop":[]}}})", "null",
       kPodSecurity, R"({"capabilities":{"drop":[],"add":["CAP_SYS_ADMIN"]}})"},
      {"and beside privileged", R"({"securityContext":{"privileged":true}})", "null", kPodSecurity,
       R"({"capabilities":{"drop":["NET_RAW","MKNOD"]},"privileged":true})"},
  };
  for (const auto& row : cases) {
    const Json pod = build(compute(row.slurmd, "null", row.spec));
    const Json pod_security = pod.at({"spec", "securityContext"});
    const Json security = slurmd_of(pod)["securityContext"];
    if (!pod_security.equals(parse(row.pod_security))) fail_msg("%s: pod: %s", row.name, pod_security.dump().c_str());
    if (!security.equals(parse(row.security))) fail_msg("%s: slurmd: %s", row.name, security.dump().c_str());
  }
}

// A container of a site gets Kubernetes' defaults.
void other_containers_are_left_alone(void**) {
  const Json pod = build(compute("{}", "null", R"({"containers":[{"name":"log","image":"log:1"}]})"));
  assert_true(named(pod.at({"spec", "containers"}), "log")["securityContext"].is_null());
}

void identity_can_not_be_changed(void**) {
  const Json pod = build(compute(
      R"({"name":"other","image":"slurmd:1","env":[{"name":"SLURMD_NODENAME","value":"root"},
          {"name":"SLURM_K8S_NODESET","valueFrom":{"fieldRef":{"fieldPath":"metadata.uid"}}}]})",
      R"({"name":"x","namespace":"kube-system","labels":{"slurm-k8s.io/node":"other"},"ownerReferences":[]})",
      R"({"hostname":"x","subdomain":"y","restartPolicy":"Always","automountServiceAccountToken":true})"));
  assert_member(pod.at({"metadata", "name"}), "compute-3");
  assert_member(pod.at({"metadata", "namespace"}), "slurm");
  assert_member(pod.at({"metadata", "labels", "slurm-k8s.io/node"}), "compute-3");
  assert_int_equal(pod.at({"metadata", "ownerReferences"}).size(), 1);
  assert_member(pod.at({"spec", "hostname"}), "compute-3");
  assert_member(pod.at({"spec", "restartPolicy"}), "Never");
  assert_false(pod.at({"spec", "automountServiceAccountToken"}).boolean_or(true));
  const Json slurmd = slurmd_of(pod);
  assert_member(named(slurmd["env"], "SLURMD_NODENAME")["value"], "compute-3");
  const Json nodeset = named(slurmd["env"], "SLURM_K8S_NODESET");
  assert_member(nodeset["value"], "compute");
  assert_true(nodeset["valueFrom"].is_null());  // both at once would be refused by the API server
}

}  // namespace

int main() {
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(names_are_looked_up_in_the_domain_of_the_cluster),
      SLURMK8S_TEST(a_plain_nodeset),
      SLURMK8S_TEST(slurmd_is_told_its_gpus),
      SLURMK8S_TEST(a_daemon_sets_pod_goes_to_its_kube_node),
      SLURMK8S_TEST(a_daemon_sets_pod_tolerates_taints_of_its_kube_node),
      SLURMK8S_TEST(a_pod_is_busy_from_the_start),
      SLURMK8S_TEST(a_pod_in_the_network_of_its_kube_node),
      SLURMK8S_TEST(scheduling_fields_are_the_templates),
      SLURMK8S_TEST(a_template_adds_and_changes),
      SLURMK8S_TEST(the_end_of_slurmds_log_is_in_its_status),
      SLURMK8S_TEST(security_context_of_jobs),
      SLURMK8S_TEST(other_containers_are_left_alone),
      SLURMK8S_TEST(identity_can_not_be_changed),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
