// SPDX-License-Identifier: GPL-2.0-or-later
// R5: bridge/workload_pod and workload: what a pod, a Job and a PodGroup mean for their Slurm job.
#include "bridge/workload_pod.hpp"

#include <map>
#include <string>

#include "bridge/workload.hpp"
#include "support/cmocka.hpp"

namespace slurmk8s {
namespace {

WorkloadPod decode(const std::string& text) { return decode_workload_pod(*Json::parse(text)); }

void members(void**) {
  const WorkloadPod pod = decode(R"({
    "metadata": {"namespace": "team-a", "name": "p", "uid": "u1", "deletionTimestamp": "2026-01-01T00:00:00Z",
      "annotations": {"slurm-k8s.io/job-id": "12", "slurm-k8s.io/job-submitted": "99",
        "batch.kubernetes.io/job-completion-index": "3",
        "slurmjob.slinky.slurm.net/timelimit": "5", "job.slurm-k8s.io/timelimit": "7", "other/timelimit": "9",
        "slinky.slurm.net/timelimit": "6", "slinky.slurm.net/account": "a", "slinky.slurm.net/slurm-node": "n"}},
    "spec": {"serviceAccountName": "trainer", "nodeName": "m1", "activeDeadlineSeconds": 61,
      "schedulingGates": [{"name": "x"}]},
    "status": {"phase": "Running", "conditions": [
      {"type": "PodScheduled", "status": "False", "message": "why"},
      {"type": "DisruptionTarget", "status": "True"}]}})");
  assert_text(to_string(pod.group), "team-a/Pod/p");
  assert_text(pod.uid, "u1");
  assert_text(pod.service_account, "trainer");
  assert_int_equal(pod.rank, 3);
  assert_text(pod.annotations.at("timelimit"), "7");
  assert_text(pod.annotations.at("account"), "a");
  assert_int_equal(pod.annotations.size(), 2);
  assert_int_equal(pod.minutes.value_or(0), 2);
  assert_true(pod.gated && pod.deleting && pod.disrupted && !pod.is_over() && !pod.refusal);
  assert_text(pod.kube_node, "m1");
  assert_int_equal(pod.job, 12);
  assert_int_equal(pod.job_submitted, 99);
  assert_text(pod.waits_for, "why");
}

void gates(void**) {
  const struct {
    const char* annotations;
    const char* spec;
    bool has_gate;
    bool gated;
    const char* kube_node;
  } cases[] = {
      {"", "", false, false, ""},
      {"", R"("schedulingGates": [{"name": "slurm-k8s.io/bridge"}])", true, false, ""},
      {"", R"("schedulingGates": [{"name": "x"}])", false, true, ""},
      {"", R"("schedulingGates": [{"name": "slurm-k8s.io/bridge"}, {"name": "x"}])", true, true, ""},
      {R"("slurm-k8s.io/job-id": "1", "slurm-k8s.io/kubernetes-node": "m1")", "", false, false, "m1"},
      {R"("slurm-k8s.io/job-id": "1", "slurm-k8s.io/kubernetes-node": "m1")", R"("nodeName": "m2")", false, false,
       "m2"},
      {R"("slurm-k8s.io/job-id": "1", "slurm-k8s.io/kubernetes-node": "m1")",
       R"("schedulingGates": [{"name": "slurm-k8s.io/bridge"}])", true, false, ""},
      {R"("slurm-k8s.io/kubernetes-node": "m1")", "", false, false, ""},
  };
  for (const auto& one : cases) {
    const WorkloadPod pod = decode(std::string(R"({"metadata": {"annotations": {)") + one.annotations +
                                   R"(}}, "spec": {)" + one.spec + "}}");
    if (pod.has_gate != one.has_gate || pod.gated != one.gated || pod.kube_node != one.kube_node) {
      fail_msg("{%s} {%s}: %d %d \"%s\"", one.annotations, one.spec, pod.has_gate, pod.gated, pod.kube_node.c_str());
    }
  }
}

void groups(void**) {
  const struct {
    const char* metadata;
    const char* expected;
  } cases[] = {
      {R"("ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": "j", "controller": true}])", "a/Job/j"},
      {R"("ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": "j"}])", "a/Pod/p"},
      {R"("ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "r", "controller": true}])",
       "a/Pod/p"},
      {R"("labels": {"scheduling.x-k8s.io/pod-group": "g"}, "ownerReferences":
          [{"apiVersion": "batch/v1", "kind": "Job", "name": "j", "controller": true}])",
       "a/PodGroup/g"},
      {R"("labels": {"jobset.sigs.k8s.io/jobset-name": "s"}, "ownerReferences":
          [{"apiVersion": "batch/v1", "kind": "Job", "name": "j", "controller": true}])",
       "a/JobSet/s"},
      {R"("labels": {"leaderworkerset.sigs.k8s.io/name": "l", "leaderworkerset.sigs.k8s.io/group-index": "3"})",
       "a/LeaderWorkerSet/l/3"},
  };
  for (const auto& [metadata, expected] : cases) {
    const WorkloadPod pod =
        decode(std::string(R"({"metadata": {"namespace": "a", "name": "p", )") + metadata + R"(}, "spec": {}})");
    assert_text(to_string(pod.group), expected);
  }
}

void ranks(void**) {
  const struct {
    const char* metadata;
    std::int64_t rank;
  } cases[] = {
      {R"("labels": {})", -1},
      {R"("annotations": {"batch.kubernetes.io/job-completion-index": "7"})", 7},
      {R"("labels": {"leaderworkerset.sigs.k8s.io/worker-index": "2"})", 2},
      {R"("labels": {"jobset.sigs.k8s.io/job-global-index": "1"})", std::int64_t{1} << 31},
      {R"("labels": {"jobset.sigs.k8s.io/job-global-index": "1"},
          "annotations": {"batch.kubernetes.io/job-completion-index": "7"})",
       (std::int64_t{1} << 31) + 7},
      {R"("labels": {"jobset.sigs.k8s.io/job-global-index": "99999999999"})", -1},
  };
  for (const auto& [metadata, rank] : cases) {
    assert_int_equal(decode(std::string(R"({"metadata": {"name": "p", )") + metadata + R"(}, "spec": {}})").rank, rank);
  }
}

void requests(void**) {
  const WorkloadPod pod = decode(R"({"metadata": {"name": "p"}, "spec": {
      "containers": [{"resources": {"requests": {"cpu": "500m", "memory": "64Mi"}}},
                     {"resources": {"requests": {"cpu": 1}}}]}})");
  assert_int_equal(pod.cpu_milli, 1500);
  assert_int_equal(pod.memory_bytes, 64 * 1048576);
}

void ends(void**) {
  const struct {
    const char* status;
    PodEnd end;
  } cases[] = {
      {R"({"phase": "Running"})", {}},
      {R"({"phase": "Succeeded"})", {PodEnd::Kind::succeeded, 0}},
      {R"({"phase": "Failed", "reason": "OutOfcpu"})", {PodEnd::Kind::failed, 1}},
      {R"({"phase": "Failed", "containerStatuses": [{"state": {"terminated": {"exitCode": 0}}},
                                                    {"state": {"terminated": {"exitCode": 3, "reason": "Error"}}}]})",
       {PodEnd::Kind::failed, 3}},
      {R"({"phase": "Failed", "containerStatuses":
            [{"state": {"terminated": {"exitCode": 137, "reason": "OOMKilled"}}}]})",
       {PodEnd::Kind::out_of_memory, 137}},
      // An init container has failed: the others never ran.
      {R"({"phase": "Failed", "initContainerStatuses": [{"state": {"terminated": {"exitCode": 0}}},
                                                        {"state": {"terminated": {"exitCode": 7}}}],
           "containerStatuses": [{"state": {"waiting": {"reason": "PodInitializing"}}}]})",
       {PodEnd::Kind::failed, 7}},
      {R"({"phase": "Failed", "initContainerStatuses":
            [{"state": {"terminated": {"exitCode": 137, "reason": "OOMKilled"}}}]})",
       {PodEnd::Kind::out_of_memory, 137}},
      // A sidecar is killed when the others have ended.
      {R"({"phase": "Failed", "containerStatuses": [{"state": {"terminated": {"exitCode": 3}}}],
           "initContainerStatuses": [{"state": {"terminated": {"exitCode": 137, "reason": "OOMKilled"}}}]})",
       {PodEnd::Kind::failed, 3}},
      // By the kubelet: before its containers have ended, after them, and at its deadline.
      {R"({"phase": "Failed", "reason": "Evicted", "message": "The node was low on resource: memory."})",
       {PodEnd::Kind::failed, 1}},
      {R"({"phase": "Failed", "reason": "Evicted", "containerStatuses":
            [{"state": {"terminated": {"exitCode": 143, "reason": "Error"}}}]})",
       {PodEnd::Kind::failed, 143}},
      {R"({"phase": "Failed", "reason": "Evicted", "containerStatuses":
            [{"state": {"terminated": {"exitCode": 0, "reason": "Completed"}}}]})",
       {PodEnd::Kind::failed, 1}},
      {R"({"phase": "Failed", "reason": "DeadlineExceeded", "containerStatuses":
            [{"state": {"terminated": {"exitCode": 137, "reason": "Error"}}}]})",
       {PodEnd::Kind::failed, 137}},
  };
  for (const auto& [status, end] : cases) {
    const WorkloadPod pod = decode(std::string(R"({"metadata": {"name": "p"}, "spec": {}, "status": )") + status + "}");
    assert_true(pod.end == end);
    assert_true(pod.is_over() == (end.kind != PodEnd::Kind::none));
  }
}

void lost_pods(void**) {
  const struct {
    const char* condition;
    bool disrupted;
    bool is_lost;
    bool is_terminated_by_kubelet = false;
    const char* reason = "Evicted";  // of the pod
  } cases[] = {
      {R"("type": "DisruptionTarget", "status": "True", "reason": "TerminationByKubelet")", true, false, true},
      // The Kubernetes node shuts down.
      {R"("type": "DisruptionTarget", "status": "True", "reason": "TerminationByKubelet")", true, true, false,
       "Terminated"},
      {R"("type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler")", true, false},
      {R"("type": "DisruptionTarget", "status": "False", "reason": "TerminationByKubelet")", false, false},
      {R"("type": "DisruptionTarget", "status": "True", "reason": "DeletionByPodGC")", true, true},
      {R"("type": "DisruptionTarget", "status": "True", "reason": "DeletionByTaintManager")", true, true},
      {R"("type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI")", true, false},
      {R"("type": "DisruptionTarget", "status": "True", "reason": "SlurmNodeFailure")", true, false},
      {R"("type": "DisruptionTarget", "status": "False", "reason": "DeletionByPodGC")", false, false},
      {R"("type": "Ready", "status": "True", "reason": "DeletionByPodGC")", false, false},
  };
  for (const auto& one : cases) {
    const WorkloadPod pod = decode(std::string(R"({"metadata": {"name": "p"}, "spec": {}, "status": {"reason": ")") +
                                   one.reason + R"(", "conditions": [{)" + one.condition + "}]}}");
    assert_int_equal(pod.disrupted, one.disrupted);
    assert_int_equal(pod.is_lost, one.is_lost);
    assert_int_equal(pod.is_terminated_by_kubelet, one.is_terminated_by_kubelet);
  }
}

void pods_that_kube_scheduler_cannot_place(void**) {
  constexpr const char* kJob = R"("slurm-k8s.io/job-id": "12", "slurm-k8s.io/kubernetes-node": "m0")";
  const struct {
    const char* annotations;
    const char* spec;
    const char* condition;
    bool is_unschedulable;
  } cases[] = {
      {kJob, "", R"("type": "PodScheduled", "status": "False", "reason": "Unschedulable")", true},
      {kJob, "", R"("type": "PodScheduled", "status": "False", "reason": "SchedulerError")", false},
      {kJob, "", R"("type": "PodScheduled", "status": "True", "reason": "Unschedulable")", false},
      {kJob, "", R"("type": "Ready", "status": "False", "reason": "Unschedulable")", false},
      {kJob, R"("nodeName": "m0")", R"("type": "PodScheduled", "status": "False", "reason": "Unschedulable")", false},
      {kJob, R"("schedulingGates": [{"name": "slurm-k8s.io/bridge"}])",
       R"("type": "PodScheduled", "status": "False", "reason": "Unschedulable")", false},
      {"", "", R"("type": "PodScheduled", "status": "False", "reason": "Unschedulable")", false},
  };
  for (const auto& one : cases) {
    const WorkloadPod pod =
        decode(std::string(R"({"metadata": {"name": "p", "annotations": {)") + one.annotations + R"(}}, "spec": {)" +
               one.spec + R"(}, "status": {"conditions": [{)" + one.condition + "}]}}");
    assert_int_equal(pod.is_unschedulable, one.is_unschedulable);
  }
}

void what_has_no_effect(void**) {
  const struct {
    const char* spec;
    const char* fields;
  } cases[] = {
      {R"("nodeSelector": {"a": "b"}, "preemptionPolicy": "PreemptLowerPriority",
          "containers": [{"resources": {"requests": {"cpu": "1"}, "limits": {"ephemeral-storage": "1Gi"}}}],
          "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": []},
                                        "preferredDuringSchedulingIgnoredDuringExecution": []}})",
       ""},
      {R"("affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{}]}})",
       "spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution"},
      {R"("affinity": {"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{}]},
                       "podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{}]}})",
       "spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution, "
       "spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution"},
      {R"("preemptionPolicy": "Never")", "spec.preemptionPolicy"},
      {R"("initContainers": [{}], "containers": [{}, {"resources": {"requests": {"ephemeral-storage": "1Gi"}}}])",
       "spec.containers[1].resources.requests[ephemeral-storage]"},
      // kube-scheduler counts it.
      {R"("schedulingGates": [{"name": "slurm-k8s.io/bridge"}], "preemptionPolicy": "Never",
          "containers": [{"resources": {"requests": {"ephemeral-storage": "1Gi"}}}])",
       "spec.preemptionPolicy"},
  };
  for (const auto& [spec, fields] : cases) {
    assert_text(decode(std::string(R"({"metadata": {"name": "p"}, "spec": {)") + spec + "}}").ignored, fields);
  }
}

void pods_that_stay_terminating(void**) {
  const auto deleted = std::chrono::system_clock::from_time_t(1767225600);  // 2026-01-01T00:00:00Z
  const struct {
    const char* metadata;
    const char* node;
    const char* phase;
    int after;  // seconds
    bool is_overdue;
  } cases[] = {
      {R"(, "deletionTimestamp": "2026-01-01T00:00:00Z")", "m0", "Running", 59, false},
      {R"(, "deletionTimestamp": "2026-01-01T00:00:00Z")", "m0", "Running", 60, true},
      {R"(, "deletionTimestamp": "2026-01-01T00:00:00Z")", "m0", "Failed", 60, false},  // a finalizer
      {R"(, "deletionTimestamp": "2026-01-01T00:00:00Z")", "", "Pending", 60, false},
      {R"(, "deletionTimestamp": "yesterday")", "m0", "Running", 60, false},
      {"", "m0", "Running", 60, false},
  };
  for (const auto& one : cases) {
    const WorkloadPod pod =
        decode(std::string(R"({"metadata": {"name": "p")") + one.metadata + R"(}, "spec": {"nodeName": ")" + one.node +
               R"("}, "status": {"phase": ")" + one.phase + R"("}})");
    assert_int_equal(pod.is_overdue(deleted + std::chrono::seconds(one.after)), one.is_overdue);
  }
}

void gpus(void**) {
  const struct {
    const char* spec;
    std::map<std::string, std::int64_t> devices;
  } cases[] = {
      {R"("containers": [{"resources": {"requests": {"cpu": "1", "rdma/hca": "1"}}}])", {}},
      {R"("containers": [{"resources": {"requests": {"nvidia.com/gpu": 1}}},
                         {"resources": {"requests": {"nvidia.com/gpu": "2", "nvidia.com/mig-1g.10gb": 1}}}])",
       {{"nvidia.com/gpu", 3000}, {"nvidia.com/mig-1g.10gb", 1000}}},
      // What it needs at a time.
      {R"("initContainers": [{"resources": {"requests": {"amd.com/gpu": 4}}}],
          "containers": [{"resources": {"requests": {"amd.com/gpu": 2}}}])",
       {{"amd.com/gpu", 4000}}},
  };
  for (const auto& one : cases) {
    const WorkloadPod pod = decode(std::string(R"({"metadata": {"name": "p"}, "spec": {)") + one.spec + "}}");
    assert_true(pod.devices == one.devices);
  }
}

void what_slurm_cannot_be_told(void**) {
  const struct {
    const char* spec;
    const char* field;  // null: nothing is refused
  } cases[] = {
      {R"("nodeSelector": {"a": "b"})", nullptr},
      {R"("topologySpreadConstraints": [{}])", "spec.topologySpreadConstraints"},
      {R"("resourceClaims": [{"name": "x"}])", "spec.resourceClaims"},
      {R"("schedulingGates": [{"name": "slurm-k8s.io/bridge"}], "resourceClaims": [{"name": "x"}])", nullptr},
      {R"("schedulingGates": [{"name": "slurm-k8s.io/bridge"}], "containers":
          [{"resources": {"requests": {"rdma/hca": "1"}}}])",
       nullptr},
      {R"("schedulingGates": [{"name": "slurm-k8s.io/bridge"}], "topologySpreadConstraints": [{}])",
       "spec.topologySpreadConstraints"},
      {R"("affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": []}}})",
       nullptr},
      {R"("affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{}]}})",
       "spec.affinity.podAntiAffinity"},
      {R"("affinity": {"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{}]}})", nullptr},
      {R"("containers": [{}, {"resources": {"requests": {"nvidia.com/gpu": "1", "rdma/hca": "1"}}}])",
       "spec.containers[1].resources.requests[rdma/hca]"},
      {R"("containers": [{"resources": {"requests": {"nvidia.com/gpu": "1"}}}])", nullptr},
      {R"("containers": [{"resources": {"requests": {"cpu": "1", "ephemeral-storage": "1Gi"}}}])", nullptr},
      {R"("initContainers": [{"resources": {"requests": {"rdma/hca": "1"}}}])",
       "spec.initContainers[0].resources.requests[rdma/hca]"},
      {R"("containers": [{"resources": {"requests": {"hugepages-2Mi": "4Mi"}}}])",
       "spec.containers[0].resources.requests[hugepages-2Mi]"},
      {R"("resources": {"requests": {"hugepages-1Gi": "1Gi"}})", "spec.resources.requests[hugepages-1Gi]"},
      {R"("containers": [{}, {"ports": [{"containerPort": 80}, {"containerPort": 81, "hostPort": 81}]}])",
       "spec.containers[1].ports[1].hostPort"},
      {R"("containers": [{"ports": [{"containerPort": 80}]}])", nullptr},
      {R"("schedulingGates": [{"name": "slurm-k8s.io/bridge"}], "containers":
          [{"ports": [{"hostPort": 80}], "resources": {"requests": {"hugepages-2Mi": "4Mi"}}}])",
       nullptr},
      {R"("workloadRef": {"name": "w", "podGroup": "g"})", "spec.workloadRef"},
      {R"("schedulingGates": [{"name": "slurm-k8s.io/bridge"}], "workloadRef": {"name": "w"})", "spec.workloadRef"},
      {R"("schedulingGroup": {"podGroupName": "g"})", "spec.schedulingGroup"},
  };
  for (const auto& [spec, field] : cases) {
    const WorkloadPod pod = decode(std::string(R"({"metadata": {"name": "p"}, "spec": {)") + spec + "}}");
    if (field == nullptr) {
      assert_false(pod.refusal.has_value());
    } else {
      assert_text(pod.refusal->message(), std::string(field) + ": Forbidden: the bridge cannot tell Slurm");
    }
  }
}

void claims(void**) {
  constexpr const char* kVolumes = R"("volumes": [{"name": "a", "emptyDir": {}},
    {"name": "b", "persistentVolumeClaim": {"claimName": "data"}}, {"name": "c", "ephemeral": {}}])";
  const auto pod = decode(std::string(R"({"metadata": {"name": "p"}, "spec": {)") + kVolumes + "}}");
  const std::vector<PodClaim> expected = {{"data", "spec.volumes[1].persistentVolumeClaim"},
                                          {"p-c", "spec.volumes[2].ephemeral"}};
  assert_true(pod.claims == expected);
  const auto devices = decode(R"({"metadata": {"name": "p"}, "spec": {"resourceClaims": [{"name": "a"},
    {"name": "b", "resourceClaimName": "own"}, {"name": "c", "resourceClaimTemplateName": "each"}]}})");
  const std::vector<PodClaim> of_devices = {{"own", "spec.resourceClaims[1]", ClaimKind::device},
                                            {"each", "spec.resourceClaims[2]", ClaimKind::device_template}};
  assert_true(devices.device_claims == of_devices);
}

void gangs_of_workloads(void**) {
  const struct {
    const char* kind;
    const char* spec;
    bool is_gang;
    unsigned min_pods;
  } cases[] = {
      {"Job", R"({"parallelism": 4, "completions": 4})", false, 1},
      {"Job", R"({"parallelism": 4, "completions": 4, "completionMode": "Indexed"})", true, 4},
      {"Job", R"({"parallelism": 4, "completions": 8, "completionMode": "Indexed"})", true, 4},
      {"Job", R"({"parallelism": 4, "completions": 2, "completionMode": "Indexed"})", true, 2},
      {"Job", R"({"parallelism": 1, "completions": 2, "completionMode": "Indexed"})", false, 1},
      {"Job", R"({"completionMode": "Indexed"})", false, 1},
      {"JobSet", R"({"replicatedJobs": [{"replicas": 2, "template": {"spec": {"parallelism": 3, "completions": 3}}},
                                       {"template": {"spec": {}}}]})",
       true, 7},
      {"JobSet", R"({"replicatedJobs": [{"template": {"spec": {}}}]})", false, 1},
      {"JobSet", R"({"replicatedJobs": [{"replicas": 2, "template": {"spec": {"parallelism": 3}}},
                                       {"dependsOn": [{}], "template": {"spec": {"parallelism": 2}}}]})",
       true, 2},
      {"JobSet", R"({"startupPolicy": {"startupPolicyOrder": "InOrder"},
                    "replicatedJobs": [{"replicas": 2, "template": {"spec": {"parallelism": 3}}}]})",
       true, 3},
      {"LeaderWorkerSet", R"({"leaderWorkerTemplate": {"size": 4}})", true, 4},
      {"LeaderWorkerSet", R"({"startupPolicy": "LeaderReady", "leaderWorkerTemplate": {"size": 4}})", true, 1},
      {"LeaderWorkerSet", R"({"leaderWorkerTemplate": {}})", false, 1},
      {"PodGroup", R"({"minMember": 3})", true, 3},
      {"PodGroup", R"({"minMember": -1})", true, 1},
  };
  for (const auto& [kind, spec, is_gang, min_pods] : cases) {
    const Json object = *Json::parse(std::string(R"({"metadata": {"annotations": {"job.slurm-k8s.io/qos": "high"}},
                                                     "spec": )") +
                                     spec + "}");
    const Workload workload = decode_workload({"a", kind, "x"}, object);
    assert_int_equal(workload.is_gang, is_gang);
    if (is_gang) assert_int_equal(workload.min_pods, min_pods);
    assert_text(workload.annotations.at("qos"), "high");
    assert_true(resource_of({"a", kind, "x"}).has_value());
  }
  assert_false(resource_of({"a", "Pod", "x"}).has_value());
}

/** The bridge has those of all pods in memory. */
void tolerations_are_bounded(void**) {
  Json tolerations = Json::array();
  for (int i = 0; i < 2000; ++i) tolerations.push(Json::object().set("key", "a/" + std::to_string(i)));
  const Json object = Json::object().set("spec", Json::object().set("tolerations", tolerations));
  const WorkloadPod pod = decode_workload_pod(object);
  assert_text(pod.refusal->message(), "spec.tolerations: Too long: may not be more than 65536 bytes");
  assert_true(pod.tolerations.empty());
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(members),
      SLURMK8S_TEST(gates),
      SLURMK8S_TEST(groups),
      SLURMK8S_TEST(ranks),
      SLURMK8S_TEST(requests),
      SLURMK8S_TEST(ends),
      SLURMK8S_TEST(lost_pods),
      SLURMK8S_TEST(pods_that_kube_scheduler_cannot_place),
      SLURMK8S_TEST(pods_that_stay_terminating),
      SLURMK8S_TEST(what_has_no_effect),
      SLURMK8S_TEST(gpus),
      SLURMK8S_TEST(what_slurm_cannot_be_told),
      SLURMK8S_TEST(claims),
      SLURMK8S_TEST(gangs_of_workloads),
      SLURMK8S_TEST(tolerations_are_bounded),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
