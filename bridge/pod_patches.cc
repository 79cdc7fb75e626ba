// SPDX-License-Identifier: GPL-2.0-or-later
// Bindings, and conditions of pods.
#include "bridge/pod_patches.hpp"

#include "base/rfc3339.hpp"
#include "base/strings.hpp"
#include "bridge/names.hpp"

namespace slurmk8s {
namespace {

Json build_annotations(const BindingFacts& facts) {
  Json annotations = Json::object();
  annotations.set(kAnnotationJob, std::to_string(facts.job))
      .set(kAnnotationJobSubmitted, std::to_string(facts.job_submitted))
      .set(kAnnotationRank, std::to_string(facts.rank));
  if (!facts.kube_nodes.empty()) annotations.set(kAnnotationKubeNodes, facts.kube_nodes);
  return annotations;
}

Json build_status_patch(const WorkloadPod& pod, Json condition, std::chrono::system_clock::time_point now) {
  condition.set("lastTransitionTime", rfc3339(now));
  // The other conditions stay: a strategic merge finds this one by its type.
  return Json::object()
      .set("metadata", Json::object().set("uid", pod.uid))
      .set("status", Json::object().set("conditions", Json::array().push(std::move(condition))));
}

}  // namespace

Json build_binding(const WorkloadPod& pod, const BindingFacts& facts) {
  const std::string job = std::to_string(facts.job);
  Json annotations = build_annotations(facts);
  Json metadata = Json::object();
  metadata.set("name", pod.name)
      .set("namespace", pod.name_space)
      .set("uid", pod.uid)
      .set("annotations", std::move(annotations))
      .set("labels", Json::object().set(kLabelSlinkyJob, job));
  return Json::object()
      .set("apiVersion", "v1")
      .set("kind", "Binding")
      .set("metadata", std::move(metadata))
      .set("target", Json::object().set("apiVersion", "v1").set("kind", "Node").set("name", facts.kube_node));
}

Json build_release_patch(const WorkloadPod& pod, const BindingFacts& facts) {
  Json metadata = Json::object();
  metadata.set("uid", pod.uid)
      .set("annotations", build_annotations(facts).set(kAnnotationKubeNode, facts.kube_node))
      .set("labels", Json::object().set(kLabelSlinkyJob, std::to_string(facts.job)));
  Json spec = Json::object();
  spec.set("schedulingGates", Json::array()).set("nodeSelector", Json::object().set(kLabelHostname, facts.hostname));
  return Json::object().set("metadata", std::move(metadata)).set("spec", std::move(spec));
}

Json build_waiting_patch(const WorkloadPod& pod, const std::string& message,
                         std::chrono::system_clock::time_point now) {
  Json condition = Json::object();
  condition.set("type", "PodScheduled").set("status", "False").set("reason", "SlurmPending").set("message", message);
  return build_status_patch(pod, std::move(condition), now);
}

Json build_disruption_patch(const WorkloadPod& pod, const std::string& reason, const std::string& message,
                            std::chrono::system_clock::time_point now) {
  Json condition = Json::object();
  condition.set("type", "DisruptionTarget").set("status", "True").set("reason", reason).set("message", message);
  return build_status_patch(pod, std::move(condition), now);
}

std::string describe_wait(const Allocation& job) {
  const std::string what = format("Slurm job %u: ", job.id);
  if (job.state == Allocation::State::configuring) return what + "its nodes power up";
  if (job.state != Allocation::State::pending) return what + "waits for pods of earlier jobs on its nodes";
  std::string text = what + (job.reason.empty() ? "None" : job.reason);
  if (!job.state_desc.empty()) text += ": " + job.state_desc;
  if (job.position != 0) text += format("; position %u", job.position);
  if (job.started == 0) return text;
  // slurmctld's estimate moves by seconds at each look.
  const std::time_t minute = (job.started + 59) / 60 * 60;
  const std::string start = rfc3339(std::chrono::system_clock::from_time_t(minute));
  return text + "; expected start " + start.substr(0, start.find('.')) + "Z";
}

std::string disruption_reason(const Allocation& job) {
  if (job.preempted != 0 || job.state_name == "PREEMPTED") return "SlurmPreempted";
  if (job.state_name == "TIMEOUT" || job.state_name == "DEADLINE") return "SlurmTimeout";
  if (job.state_name == "NODE_FAIL" || job.state_name == "BOOT_FAIL") return "SlurmNodeFailure";
  if (job.state_name == "CANCELLED") return "SlurmCancelled";
  if (job.state == Allocation::State::suspended) return "SlurmSuspended";
  return "SlurmJobEnded";
}

}  // namespace slurmk8s
