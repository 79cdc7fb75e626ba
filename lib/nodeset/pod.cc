// SPDX-License-Identifier: GPL-2.0-or-later
// decode_pod(): what a pod object says about its node.
#include "nodeset/pod.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/strings.hpp"
#include "base/words.hpp"
#include "nodeset/last_words.hpp"
#include "nodeset/names.hpp"

namespace slurmk8s {
namespace {

/** kubelet's and the scheduler's sentences may quote a whole pod. */
std::string cut(std::string text) {
  constexpr std::size_t kMax = 240;
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  if (text.size() > kMax) text.replace(kMax - 3, std::string::npos, "...");
  return text;
}

std::string sentence(std::string_view reason, std::string_view message) {
  std::string text(reason);
  if (!message.empty()) text.append(": ").append(message);
  return cut(std::move(text));
}

/** Of slurmd's container: "running", "terminated" or "waiting"; null before kubelet has said anything. */
Json slurmd_state(const Json& status) {
  Json state;
  status["containerStatuses"].each([&](const Json& container) {
    if (container["name"].text() == kSlurmdContainer) state = container["state"];
  });
  return state;
}

bool slurmd_runs(const Json& status) { return !slurmd_state(status)["running"].is_null(); }

/** For good: the pod's restartPolicy is Never. Its phase stays Running while another container runs. */
bool has_ended(const Json& status) {
  const std::string_view phase = status["phase"].text();
  return phase == "Failed" || phase == "Succeeded" || !slurmd_state(status)["terminated"].is_null();
}

/** Of the condition DisruptionTarget: "DeletionByPodGC: PodGC: node no longer exists". */
std::string disruption(const Json& status) {
  std::string reason;
  status["conditions"].each([&](const Json& condition) {
    if (condition["type"].text() != "DisruptionTarget" || condition["status"].text() != "True") return;
    reason = sentence(condition["reason"].text(), condition["message"].text());
  });
  return reason;
}

/**
 * "OOMKilled", "exit code 1: fatal: …" of the slurmd container; the pod's own reason (Evicted: …) goes first.
 * Without the state of the container it is the condition DisruptionTarget.
 */
std::string ended_reason(const Json& status) {
  std::string reason;
  if (!status["reason"].text().empty()) reason = sentence(status["reason"].text(), status["message"].text());
  const Json terminated = slurmd_state(status)["terminated"];
  if (reason.empty() && !terminated.is_null()) {
    reason = terminated["reason"].text();
    if (reason.empty() || reason == "Error" || reason == "Completed") {
      reason = format("slurmd ended with exit code %d", static_cast<int>(terminated["exitCode"].integer_or(-1)));
    }
    const std::string words = last_words(terminated["message"].text());
    if (!words.empty()) reason += ": " + words;
  }
  if (reason.empty()) reason = disruption(status);
  return reason.empty() ? std::string(status["phase"].text()) : reason;
}

/** Its own limit of local storage, and not the machine's: kubelet's sentences (pkg/kubelet/eviction/helpers.go). */
bool is_evicted_for_its_limit(const Json& status) {
  constexpr std::array<std::string_view, 3> kSentences = {
      "exceeded its local ephemeral storage limit",                 // a container
      "Pod ephemeral local storage usage exceeds the total limit",  // all containers together
      "Usage of EmptyDir volume",                                   // sizeLimit
  };
  const std::string_view message = status["message"].text();
  return status["reason"].text() == "Evicted" &&
         std::any_of(kSentences.begin(), kSentences.end(),
                     [&](std::string_view sentence) { return message.find(sentence) != std::string_view::npos; });
}

SlurmdEnd decode_slurmd_end(const Json& status) {
  constexpr std::int64_t kSigkill = 128 + 9, kSigterm = 128 + 15;
  if (is_evicted_for_its_limit(status)) return SlurmdEnd::error;
  if (!status["reason"].text().empty()) return SlurmdEnd::other;  // evicted for others, NodeShutdown, …
  const Json terminated = slurmd_state(status)["terminated"];
  const std::string_view reason = terminated["reason"].text();
  if (reason == "OOMKilled") return SlurmdEnd::out_of_memory;
  // "Unknown", 255: of a container that the runtime lost, as when the machine is rebooted (containerd's
  // internal/cri/server/restart.go). "ContainerStatusUnknown": the kubelet's word. The others never began.
  for (const char* no_end : {"Unknown", "ContainerStatusUnknown", "StartError", "ContainerCannotRun"}) {
    if (reason == no_end) return SlurmdEnd::other;
  }
  const std::int64_t code = terminated["exitCode"].integer_or(0);
  return code != 0 && code != kSigkill && code != kSigterm ? SlurmdEnd::error : SlurmdEnd::other;
}

/** Of a container that waits: the first that has a fault, else the first. */
void note_container(const Json& container, StartProblem& start_problem) {
  const Json waiting = container.at({"state", "waiting"});
  if (waiting.is_null() || start_problem.kind == StartProblem::Kind::failing) return;
  const std::string_view reason = waiting["reason"].text();
  if (reason.empty() || reason == "ContainerCreating" || reason == "PodInitializing") {
    start_problem = {StartProblem::Kind::creating, "pulling images, creating containers"};
  } else {
    start_problem = {StartProblem::Kind::failing, sentence(reason, waiting["message"].text())};
  }
}

/** None while slurmd runs: another container that fails then is no reason to end the jobs. */
StartProblem decode_start_problem(const Json& status) {
  StartProblem start_problem;
  if (slurmd_runs(status)) return start_problem;
  status["conditions"].each([&](const Json& condition) {
    if (condition["type"].text() != "PodScheduled" || condition["status"].text() != "False") return;
    const std::string reason =
        condition["reason"].text() == "Unschedulable" ? "unschedulable" : std::string(condition["reason"].text());
    start_problem = {StartProblem::Kind::unschedulable, sentence(reason, condition["message"].text())};
  });
  if (start_problem.kind != StartProblem::Kind::none) return start_problem;
  for (const char* list : {"initContainerStatuses", "containerStatuses"}) {
    status[list].each([&](const Json& container) { note_container(container, start_problem); });
  }
  return start_problem;
}

void decode_deletion(const Json& metadata, Pod& pod) {
  constexpr std::int64_t kMaxGrace = 24 * 3600;
  pod.deleting = !metadata["deletionTimestamp"].is_null();
  if (!pod.deleting) return;
  const std::int64_t grace = metadata["deletionGracePeriodSeconds"].integer_or(0);
  pod.grace = std::chrono::seconds(std::clamp<std::int64_t>(grace, 0, kMaxGrace));
  Words finalizers;
  metadata["finalizers"].each([&](const Json& finalizer) { finalizers.emplace_back(finalizer.text()); });
  pod.finalizers = cut(join_words(finalizers));
}

}  // namespace

bool is_node_pod(const Json& object) {
  const Json metadata = object["metadata"];
  return metadata.at({"labels", kLabelNode}).text() == metadata["name"].text();
}

Pod decode_pod(const Json& object) {
  const Json metadata = object["metadata"];
  Pod pod;
  pod.uid = metadata["uid"].text();
  pod.request = metadata.at({"annotations", kAnnotationRequest}).text();
  pod.kube_node = object.at({"spec", "nodeName"}).text();
  decode_deletion(metadata, pod);
  const Json status = object["status"];
  pod.scheduled = !pod.kube_node.empty();
  if (has_ended(status)) {
    pod.ended = ended_reason(status);
    if (!pod.deleting) pod.slurmd_end = decode_slurmd_end(status);
  } else {
    pod.running = status["phase"].text() == "Running" || slurmd_runs(status);
    pod.start_problem = decode_start_problem(status);
  }
  return pod;
}

std::string describe_deletion(const Pod& pod) {
  std::string text = "still terminating";
  if (!pod.kube_node.empty()) text += " on kubernetes node " + pod.kube_node;
  if (!pod.finalizers.empty()) text += ", finalizers: " + pod.finalizers;
  return text;
}

}  // namespace slurmk8s
