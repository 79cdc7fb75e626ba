// SPDX-License-Identifier: GPL-2.0-or-later
// Bindings, conditions, evictions, events.
#include "bridge/pod_writer.hpp"

#include <algorithm>

#include "base/strings.hpp"
#include "bridge/names.hpp"

namespace slurmk8s {
namespace {

std::string join_names(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ",") + name;
  return text;
}

}  // namespace

PodWriter::PodWriter(const PodWriterParts& parts, const std::string& name_space)
    : clock_(parts.clock),
      waiting_(parts.waiting),
      writer_(parts.client, parts.clock, parts.throttle,
              {.resource = kube::kPods,
               .name_space = name_space,
               .what = "pod",
               .action = "schedule",
               .max_in_flight = 64,
               .logs_absence = true}),
      events_(parts.client, parts.timers, parts.clock, parts.throttle, name_space, kBridgeReporter, join_names),
      wait_events_(parts.client, parts.clock, parts.throttle, name_space) {}

bool PodWriter::bind(const WorkloadPod& pod, const BindingFacts& facts) {
  const auto bound = bound_.find(pod.name);
  if (bound != bound_.end() && bound->second == pod.uid) return false;
  if (!writer_.may_write(pod.name) || told_refusal(pod)) return false;
  const std::string note = format("%s/%s is bound to %s: Slurm job %u", pod.name_space.c_str(), pod.name.c_str(),
                                  facts.kube_node.c_str(), facts.job);
  const auto done = [this, pod, note](const Result<Json>& answer) {
    if (!answer) return note_refusal(pod, answer.error());
    bound_[pod.name] = pod.uid;
    refusals_.erase(pod.name);
    wait_events_.forget(pod.name);
    record(pod, {"Normal", "Scheduled", "Binding"}, note);
  };
  if (pod.has_gate) {
    writer_.patch(pod.name, kube::PatchType::merge, build_release_patch(pod, facts), done);
  } else {
    writer_.create(pod.name, build_binding(pod, facts), done, "binding");
  }
  return true;
}

/** What is refused now may be taken later, but not by itself. */
void PodWriter::note_refusal(const WorkloadPod& pod, const Error& error) {
  if (error.retryable() || error.code() == Errc::conflict || error.code() == Errc::not_found) return;
  refusals_[pod.name] = {pod.uid, "the API server refuses the pod's binding: " + error.message()};
}

/** Tells the pod why it was not bound. Whether its condition is being written: it is bound by the next call. */
bool PodWriter::told_refusal(const WorkloadPod& pod) {
  const auto refusal = refusals_.find(pod.name);
  if (refusal == refusals_.end() || refusal->second.uid != pod.uid) return false;
  tell_wait(pod, refusal->second.why, kRefused);
  return writer_.is_writing(pod.name);
}

void PodWriter::tell_wait(const WorkloadPod& pod, const std::string& message, const kube::EventRecorder::Kind& kind) {
  Told& told = told_[pod.name];
  if (told.uid != pod.uid) told = {pod.uid, {}};
  // From before a restart: condition and event are there. kube-scheduler writes the condition of a pod with gates.
  if (!told.wait && !pod.has_gate && !pod.waits_for.empty()) told.wait = {pod.waits_for, clock_.now()};
  const WaitNews news = judge_wait(told.wait, message, waiting_, clock_.now());
  if (news == WaitNews::none) return;
  const bool has_condition = news == WaitNews::message && !pod.has_gate;
  if (has_condition && !writer_.may_write(pod.name)) return;
  told.wait = tell_wait_message(told.wait, message, clock_.now());
  wait_events_.tell(pod, kind, message);
  if (!has_condition) return;
  const auto done = [this, name = pod.name](const Result<Json>& answer) {
    if (!answer) told_.erase(name);
  };
  writer_.patch(pod.name, kube::PatchType::strategic_merge, build_waiting_patch(pod, message, clock_.wall()), done,
                "status");
}

void PodWriter::evict(const WorkloadPod& pod, const std::string& reason, const std::string& message) {
  if (!writer_.may_write(pod.name)) return;
  if (pod.disrupted || pod.deleting) return remove(pod);
  record(pod, {"Warning", "Evicted", "Eviction"}, message);
  const Json patch = build_disruption_patch(pod, reason, message, clock_.wall());
  // Whatever becomes of the condition: the nodes belong to others.
  writer_.patch(
      pod.name, kube::PatchType::strategic_merge, patch,
      [this, pod](const Result<Json>& answer) {
        if (answer || !answer.error().retryable()) remove(pod);
      },
      "status");
}

void PodWriter::remove(const WorkloadPod& pod) {
  const int grace = pod.has_long_grace() ? static_cast<int>(pod.longest_grace.count()) : -1;
  writer_.remove(pod.name, {.uid = pod.uid, .grace_s = grace}, {});
}

bool PodWriter::record(const WorkloadPod& pod, const kube::EventRecorder::Kind& kind, const std::string& note) {
  return events_.record({"v1", "Pod", pod.name, pod.uid}, kind, {}, note);
}

void PodWriter::forget(const std::string& name) {
  told_.erase(name);
  bound_.erase(name);
  refusals_.erase(name);
  wait_events_.forget(name);
  writer_.forget(name);
}

}  // namespace slurmk8s
