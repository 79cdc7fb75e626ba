// SPDX-License-Identifier: GPL-2.0-or-later
// A pod object as a WorkloadPod.
#include "bridge/workload_pod.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <string_view>

#include "base/rfc3339.hpp"
#include "base/strings.hpp"
#include "bridge/job_request.hpp"
#include "bridge/names.hpp"
#include "nodeset/device_gres.hpp"
#include "nodeset/field_error.hpp"
#include "nodeset/pod_request.hpp"

namespace slurmk8s {
namespace {

constexpr const char* kCannotTell = "the bridge cannot tell Slurm";
constexpr const char* kContainerLists[] = {"containers", "initContainers"};

/** What the containers request of GPUs. */
std::map<std::string, std::int64_t> find_devices(const Json& spec) {
  std::set<std::string> names;
  for (const char* list : kContainerLists) {
    spec[list].each([&](const Json& container) {
      container.at({"resources", "requests"}).each([&](std::string_view name, const Json&) {
        if (is_gpu_resource(name)) names.emplace(name);
      });
    });
  }
  std::map<std::string, std::int64_t> devices;
  for (const std::string& name : names) devices[name] = pod_request_milli(spec, name);
  return devices;
}

/** Neither Slurm nor the bridge counts it, and the kubelet refuses a pod for which there is not enough. */
bool is_uncounted(std::string_view resource) {
  if (resource.starts_with("hugepages-")) return true;
  return resource.find('/') != std::string_view::npos && !is_gpu_resource(resource);
}

std::optional<Error> find_uncounted(const Json& requests, const std::string& path) {
  std::optional<Error> found;
  requests.each([&](std::string_view name, const Json&) {
    if (!found && is_uncounted(name)) found = forbidden_field(path + "[" + std::string(name) + "]", kCannotTell);
  });
  return found;
}

/** Two pods with one host port on a Kubernetes node: the kubelet refuses the second. */
std::optional<Error> find_host_port(const Json& container, const std::string& path) {
  std::optional<Error> found;
  std::size_t index = 0;
  container["ports"].each([&](const Json& port) {
    const bool has_one = port["hostPort"].integer_or(0) != 0;
    if (!found && has_one) found = forbidden_field(path + format(".ports[%zu].hostPort", index), kCannotTell);
    ++index;
  });
  return found;
}

std::optional<Error> find_unsupported_container(const Json& spec) {
  std::optional<Error> found;
  for (const char* list : kContainerLists) {
    std::size_t index = 0;
    spec[list].each([&](const Json& container) {
      const std::string path = format("spec.%s[%zu]", list, index++);
      if (!found) found = find_uncounted(container.at({"resources", "requests"}), path + ".resources.requests");
      if (!found) found = find_host_port(container, path);
    });
  }
  return found;
}

/** A field whose meaning a Slurm job can't have. */
std::optional<Error> find_unsupported(const Json& spec, bool has_gate) {
  if (spec["topologySpreadConstraints"].size() != 0) {
    return forbidden_field("spec.topologySpreadConstraints", kCannotTell);
  }
  for (const char* kind : {"podAffinity", "podAntiAffinity"}) {
    if (spec.at({"affinity", kind, "requiredDuringSchedulingIgnoredDuringExecution"}).size() != 0) {
      return forbidden_field(std::string("spec.affinity.") + kind, kCannotTell);
    }
  }
  // Kubernetes' own gangs, in 1.35 and later.
  for (const char* field : {"workloadRef", "schedulingGroup"}) {
    if (!spec[field].is_null()) return forbidden_field(std::string("spec.") + field, kCannotTell);
  }
  if (has_gate) return std::nullopt;  // kube-scheduler allocates the rest
  if (spec["resourceClaims"].size() != 0) return forbidden_field("spec.resourceClaims", kCannotTell);
  const auto of_pod = find_uncounted(spec.at({"resources", "requests"}), "spec.resources.requests");
  return of_pod ? of_pod : find_unsupported_container(spec);
}

/** What has no effect on its job, and is no reason to refuse it. kube-scheduler counts storage. */
std::string find_ignored(const Json& spec, bool has_gate) {
  std::string fields;
  const auto add = [&](const std::string& field) { fields += (fields.empty() ? "" : ", ") + field; };
  for (const char* kind : {"nodeAffinity", "podAffinity", "podAntiAffinity"}) {
    constexpr const char* kPreferred = "preferredDuringSchedulingIgnoredDuringExecution";
    if (spec.at({"affinity", kind, kPreferred}).size() != 0) {
      add(std::string("spec.affinity.") + kind + "." + kPreferred);
    }
  }
  if (spec["preemptionPolicy"].text() == "Never") add("spec.preemptionPolicy");
  if (has_gate) return fields;
  for (const char* list : kContainerLists) {
    std::size_t index = 0;
    spec[list].each([&](const Json& container) {
      const std::string path = format("spec.%s[%zu].resources.requests[ephemeral-storage]", list, index++);
      if (container.at({"resources", "requests"}).has("ephemeral-storage")) add(path);
    });
  }
  return fields;
}

/** Also those that Kubernetes makes for the pod alone, with the pod's name and the volume's. */
std::vector<PodClaim> decode_claims(const Json& spec, const std::string& pod) {
  std::vector<PodClaim> claims;
  std::size_t index = 0;
  spec["volumes"].each([&](const Json& volume) {
    const std::string path = format("spec.volumes[%zu].", index++);
    const std::string claim(volume.at({"persistentVolumeClaim", "claimName"}).text());
    if (!claim.empty()) claims.push_back({claim, path + "persistentVolumeClaim"});
    if (!volume["ephemeral"].is_null()) {
      claims.push_back({pod + "-" + std::string(volume["name"].text()), path + "ephemeral"});
    }
  });
  return claims;
}

std::vector<PodClaim> decode_device_claims(const Json& spec) {
  std::vector<PodClaim> claims;
  std::size_t index = 0;
  spec["resourceClaims"].each([&](const Json& claim) {
    const std::string path = format("spec.resourceClaims[%zu]", index++);
    const std::string own(claim["resourceClaimName"].text());
    const std::string of_template(claim["resourceClaimTemplateName"].text());
    if (!own.empty()) claims.push_back({own, path, ClaimKind::device});
    if (!of_template.empty()) claims.push_back({of_template, path, ClaimKind::device_template});
  });
  return claims;
}

/** The first failed container's code, and whether one was out of memory. */
void note_ends(const Json& statuses, PodEnd& end) {
  statuses.each([&](const Json& container) {
    const Json terminated = container.at({"state", "terminated"});
    if (terminated["reason"].text() == "OOMKilled") end.kind = PodEnd::Kind::out_of_memory;
    const std::int64_t code = terminated["exitCode"].integer_or(0);
    if (end.exit_code == 0 && code > 0 && code < 256) end.exit_code = static_cast<std::uint32_t>(code);
  });
}

/**
 * 1 without a failed container: the kubelet refused or evicted the pod before they ended, or its machine was lost. Of a
 * pod whose containers did not fail an init container has: it never got further, or that is a sidecar.
 */
PodEnd decode_end(const Json& status) {
  const std::string_view phase = status["phase"].text();
  if (phase == "Succeeded") return {PodEnd::Kind::succeeded, 0};
  if (phase != "Failed") return {};
  PodEnd end{PodEnd::Kind::failed, 0};
  note_ends(status["containerStatuses"], end);
  if (end.exit_code == 0) note_ends(status["initContainerStatuses"], end);
  if (end.exit_code == 0) end.exit_code = 1;
  return end;
}

WorkloadRef decode_group(const Json& metadata) {
  const std::string name_space(metadata["namespace"].text());
  const auto label = [&](const char* key) { return std::string(metadata["labels"][key].text()); };
  if (const std::string name = label(kLabelPodGroup); !name.empty()) return {name_space, "PodGroup", name};
  if (const std::string name = label(kLabelJobSet); !name.empty()) return {name_space, "JobSet", name};
  if (const std::string name = label(kLabelLeaderWorkerSet); !name.empty()) {
    return {name_space, "LeaderWorkerSet", name, label(kLabelGroupIndex)};
  }
  WorkloadRef group{name_space, "Pod", std::string(metadata["name"].text())};
  metadata["ownerReferences"].each([&](const Json& owner) {
    const bool is_job = owner["kind"].text() == "Job" && owner["apiVersion"].text() == "batch/v1";
    if (is_job && owner["controller"].boolean_or(false)) group = {name_space, "Job", std::string(owner["name"].text())};
  });
  return group;
}

/** Empty: the pod doesn't tell. Up to JobSet 0.9 it tells the restarts alone. */
std::string decode_attempt(const Json& metadata, const WorkloadRef& group) {
  std::string attempt;
  if (group.kind == "JobSet") {
    const Json labels = metadata["labels"];
    const std::string restart(labels[kLabelJobSetRestart].text());
    if (!restart.empty()) attempt = std::string(labels[kLabelJobSetUid].text()) + "/" + restart;
  }
  if (group.kind != "Job") return attempt;
  metadata["ownerReferences"].each([&](const Json& owner) {
    if (owner["controller"].boolean_or(false)) attempt = owner["uid"].text();
  });
  return attempt;
}

/** By the Job in a JobSet, and the index in the Job; or by the worker. */
std::int64_t decode_rank(const Json& metadata) {
  const auto index = [](const Json& value) {
    const std::int64_t number = parse_int(value.text()).value_or(-1);
    return number <= std::numeric_limits<std::int32_t>::max() ? number : -1;
  };
  const std::int64_t completion = index(metadata["annotations"][kAnnotationCompletionIndex]);
  const std::int64_t worker = index(metadata["labels"][kLabelWorkerIndex]);
  const std::int64_t job = index(metadata["labels"][kLabelJobSetJobIndex]);
  const std::int64_t in_job = completion >= 0 ? completion : worker;
  constexpr int kBitsInJob = 31;
  return job < 0 ? in_job : (job << kBitsInJob) + std::max<std::int64_t>(in_job, 0);
}

std::uint32_t decode_job(const Json& annotations) {
  const std::optional<std::int64_t> id = parse_int(annotations[kAnnotationJob].text());
  const bool fits = id && *id > 0 && *id <= std::numeric_limits<std::uint32_t>::max();
  return fits ? static_cast<std::uint32_t>(*id) : 0;
}

std::optional<std::uint32_t> decode_minutes(const Json& spec) {
  const std::int64_t seconds = spec["activeDeadlineSeconds"].integer_or(0);
  if (seconds <= 0) return std::nullopt;
  constexpr std::int64_t kMaxMinutes = std::numeric_limits<std::int32_t>::max();
  return static_cast<std::uint32_t>((std::min(seconds, kMaxMinutes * 60) + 59) / 60);
}

void decode_gates(const Json& spec, WorkloadPod& pod) {
  spec["schedulingGates"].each([&](const Json& gate) {
    const bool is_ours = gate["name"].text() == kGate;
    pod.has_gate = pod.has_gate || is_ours;
    pod.gated = pod.gated || !is_ours;
  });
}

/** Longer ones are refused: the bridge has those of all pods in memory. */
std::optional<Error> decode_pod_tolerations(const Json& tolerations, WorkloadPod& pod) {
  std::size_t bytes = 0;
  tolerations.each(
      [&](const Json& one) { bytes += sizeof(Toleration) + one["key"].text().size() + one["value"].text().size(); });
  if (bytes > kMaxSelectorBytes) return too_long_field("spec.tolerations", kMaxSelectorBytes);
  pod.tolerations = decode_tolerations(tolerations);
  return std::nullopt;
}

void decode_conditions(const Json& status, WorkloadPod& pod) {
  status["conditions"].each([&](const Json& condition) {
    const bool is_true = condition["status"].text() == "True";
    const std::string_view reason = condition["reason"].text();
    if (condition["type"].text() == "PodScheduled" && !is_true) {
      pod.waits_for = condition["message"].text();
      pod.is_unschedulable = reason == "Unschedulable";
    }
    if (condition["type"].text() != "DisruptionTarget") return;
    pod.disrupted = is_true;
    const bool is_of_kubelet = is_true && reason == "TerminationByKubelet";
    const bool shuts_down = is_of_kubelet && status["reason"].text() == "Terminated";
    pod.is_terminated_by_kubelet = is_of_kubelet && !shuts_down;
    pod.is_lost = is_true && (shuts_down || reason == "DeletionByPodGC" || reason == "DeletionByTaintManager");
  });
}

}  // namespace

std::string to_string(const WorkloadRef& workload) {
  return workload.name_space + "/" + workload.kind + "/" + workload.name +
         (workload.part.empty() ? "" : "/" + workload.part);
}

bool WorkloadPod::is_overdue(std::chrono::system_clock::time_point now) const {
  return ends_by && !kube_node.empty() && !is_over() && now >= *ends_by + kOverdueAfter;
}

JobAnnotations decode_job_annotations(const Json& metadata) {
  JobAnnotations found;
  for (const std::string_view prefix : {kOldSlinkyJobPrefix, kSlinkyJobPrefix, kJobPrefix}) {
    metadata["annotations"].each([&](std::string_view key, const Json& value) {
      if (!key.starts_with(prefix)) return;
      const std::string word(key.substr(prefix.size()));
      if (prefix != kOldSlinkyJobPrefix || is_job_annotation(word)) found[word] = value.text();
    });
  }
  return found;
}

WorkloadPod decode_workload_pod(const Json& object) {
  const Json metadata = object["metadata"];
  const Json spec = object["spec"];
  WorkloadPod pod;
  pod.name_space = metadata["namespace"].text();
  pod.name = metadata["name"].text();
  pod.uid = metadata["uid"].text();
  pod.service_account = spec["serviceAccountName"].text("default");
  pod.group = decode_group(metadata);
  pod.attempt = decode_attempt(metadata, pod.group);
  pod.rank = decode_rank(metadata);
  pod.cpu_milli = pod_request_milli(spec, "cpu");
  pod.memory_bytes = pod_request_milli(spec, "memory") / 1000;
  pod.devices = find_devices(spec);
  const Result<NodeSelector> selector = decode_node_selector(spec);
  if (selector) pod.selector = *selector;
  const std::optional<Error> too_long = decode_pod_tolerations(spec["tolerations"], pod);
  pod.annotations = decode_job_annotations(metadata);
  pod.minutes = decode_minutes(spec);
  decode_gates(spec, pod);
  pod.priority_class = spec["priorityClassName"].text();
  pod.claims = decode_claims(spec, pod.name);
  pod.device_claims = decode_device_claims(spec);
  pod.deleting = !metadata["deletionTimestamp"].is_null();
  pod.ends_by = parse_rfc3339(metadata["deletionTimestamp"].text());
  pod.grace = std::chrono::seconds(pod.deleting ? metadata["deletionGracePeriodSeconds"].integer_or(0)
                                                : spec["terminationGracePeriodSeconds"].integer_or(30));
  pod.kube_node = spec["nodeName"].text();
  pod.job = decode_job(metadata["annotations"]);
  pod.job_submitted = parse_int(metadata["annotations"][kAnnotationJobSubmitted].text()).value_or(0);
  if (pod.kube_node.empty() && pod.job != 0 && !pod.has_gate) {
    pod.kube_node = metadata["annotations"][kAnnotationKubeNode].text();
  }
  pod.end = decode_end(object["status"]);
  pod.refusal = selector ? find_unsupported(spec, pod.has_gate) : selector.error();
  if (too_long) pod.refusal = too_long;
  decode_conditions(object["status"], pod);
  const bool is_left_to_scheduler = pod.job != 0 && !pod.has_gate && spec["nodeName"].text().empty();
  pod.is_unschedulable = pod.is_unschedulable && is_left_to_scheduler;
  pod.ignored = find_ignored(spec, pod.has_gate);
  return pod;
}

}  // namespace slurmk8s
