// SPDX-License-Identifier: GPL-2.0-or-later
// OtherPods: whether a pod counts, and sums.
#include "sidecar/other_pods.hpp"

#include <algorithm>

#include "nodeset/names.hpp"
#include "nodeset/pod_request.hpp"

namespace slurmk8s {
namespace {

/** More than a Kubernetes node has: whoever names a Kubernetes node in a pod can request anything of it. */
constexpr std::int64_t kMaxRequest = std::int64_t{1} << 45;

bool is_of_a_node(const Json& pod, const PodOwners& owners) {
  const Json metadata = pod["metadata"];
  return metadata["namespace"].text() == owners.name_space && metadata["labels"].has(kLabelNode);
}

/** The limit of container slurmd of a node's pod; 0 of other pods. */
std::int64_t slurmd_limit_milli(const Json& pod, std::string_view resource, const PodOwners& owners) {
  std::int64_t limit = 0;
  if (!is_of_a_node(pod, owners)) return limit;
  pod.at({"spec", "containers"}).each([&](const Json& container) {
    if (container["name"].text() == kSlurmdContainer) {
      limit = quantity_milli(container.at({"resources", "limits"}), resource);
    }
  });
  return limit;
}

}  // namespace

bool has_slurm_job(const Json& pod, const PodOwners& owners) {
  if (owners.bridge_scheduler.empty()) return false;
  const Json metadata = pod["metadata"];
  const bool is_the_bridges = pod.at({"spec", "schedulerName"}).text() == owners.bridge_scheduler ||
                              metadata.at({"labels", kLabelBridge}).text() == owners.bridge_scheduler;
  return is_the_bridges && metadata["annotations"].has(kAnnotationJob);
}

Resources requests_of(const Json& pod, const PodOwners& owners) {
  const auto milli = [&](std::string_view resource) {
    return std::max(pod_request_milli(pod["spec"], resource), slurmd_limit_milli(pod, resource, owners));
  };
  return {std::min(milli("cpu"), kMaxRequest), std::min(milli("memory") / 1000, kMaxRequest)};
}

void OtherPods::upsert(const Json& object) {
  const Json metadata = object["metadata"];
  const kube::ObjectKey key{std::string(metadata["namespace"].text()), std::string(metadata["name"].text())};
  remove(key);
  const std::string kube_node(object.at({"spec", "nodeName"}).text());
  if (kube_node.empty() || has_slurm_job(object, owners_)) return;
  const Resources requests = requests_of(object, owners_);
  const auto sum = sums_.try_emplace(kube_node).first;
  sum->second.requested.cpu_milli += requests.cpu_milli;
  sum->second.requested.memory_bytes += requests.memory_bytes;
  sum->second.pods++;
  pods_.emplace(key, Pod{sum, requests});
}

void OtherPods::remove(const kube::ObjectKey& key) {
  const auto found = pods_.find(key);
  if (found == pods_.end()) return;
  const auto& [sum, requests] = found->second;
  sum->second.requested.cpu_milli -= requests.cpu_milli;
  sum->second.requested.memory_bytes -= requests.memory_bytes;
  if (--sum->second.pods == 0) sums_.erase(sum);
  pods_.erase(found);
}

void OtherPods::clear() {
  pods_.clear();
  sums_.clear();
}

Resources OtherPods::requested_on(const std::string& kube_node) const {
  const auto found = sums_.find(kube_node);
  return found == sums_.end() ? Resources{} : found->second.requested;
}

}  // namespace slurmk8s
