// SPDX-License-Identifier: GPL-2.0-or-later
// Bridge: which nodes a job may have, and which Kubernetes nodes its pods then have.
#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/log.hpp"
#include "base/strings.hpp"
#include "bridge/bridge.hpp"
#include "bridge/names.hpp"

namespace slurmk8s {
namespace {

/** Bytes of annotation kubernetes-nodes: all pods of a job have it. */
constexpr std::size_t kMaxKubeNodes = 16384;
/** A powered-down node may come up elsewhere next time. */
constexpr std::chrono::minutes kBehindTaintsFor{10};
constexpr std::chrono::seconds kShortestPutOff{60};
constexpr std::chrono::seconds kLongestPutOff{960};

}  // namespace

/** Whether all of them select it. */
bool Bridge::are_selecting(const std::vector<const NodeSelector*>& selectors, const std::string& kube_node) const {
  const auto found = kube_nodes_.find(kube_node);
  return std::all_of(selectors.begin(), selectors.end(), [&](const NodeSelector* selector) {
    return found != kube_nodes_.end() && selector->selects(kube_node, found->second.labels);
  });
}

/** Slurm nodes that one of the pods does not tolerate: they are up, or came up so in the last minutes. */
std::set<std::string> Bridge::find_nodes_behind_taints(const std::vector<const WorkloadPod*>& pods) {
  const TimePoint now = parts_.loop.clock()->now();
  std::erase_if(behind_taints_, [&](const auto& one) { return now >= one.second.until; });
  std::vector<const WorkloadPod*> kinds;  // most gangs have one
  for (const WorkloadPod* pod : pods) {
    if (kinds.empty() || kinds.back()->tolerations != pod->tolerations) kinds.push_back(pod);
  }
  const auto keep_away = [&](const std::vector<Taint>& taints) {
    return std::any_of(kinds.begin(), kinds.end(),
                       [&](const WorkloadPod* pod) { return find_untolerated(taints, pod->tolerations) != nullptr; });
  };
  std::set<std::string> kube_nodes;
  for (const auto& [name, place] : kube_nodes_) {
    if (keep_away(place.taints)) kube_nodes.insert(name);
  }
  std::set<std::string> nodes;
  for (const auto& [node, place] : behind_taints_) {
    if (!kube_node_of_.contains(node) && keep_away(place.taints)) nodes.insert(node);
  }
  if (kube_nodes.empty()) return nodes;
  for (const auto& [node, kube_node] : kube_node_of_) {
    if (kube_nodes.contains(kube_node)) nodes.insert(node);
  }
  return nodes;
}

/** What the pod asks of its Kubernetes node, and its volumes do; none: nothing. */
Result<std::vector<const NodeSelector*>> Bridge::selectors_of(const WorkloadPod& pod) {
  std::vector<const NodeSelector*> selectors = SLURMK8S_TRY(claims_.volume_selectors_of(pod));
  if (!pod.selector.empty()) selectors.push_back(&pod.selector);
  return selectors;
}

/**
 * Into the request: the nodes that the pods' selector and their volumes leave, or those that they do not tolerate. A
 * node without a pod could come up on any Kubernetes node that its NodeSet selects. Each pod of a gang may go to each
 * node of its job.
 */
Status Bridge::choose_nodes(const std::vector<const WorkloadPod*>& pods, AllocationRequest& request) {
  const NodeSelector& selector = pods.front()->selector;
  for (const WorkloadPod* pod : pods) {
    if (pod->selector != selector) {
      return Error(Errc::invalid,
                   format("pods %s and %s of one gang differ in spec.nodeSelector or spec.affinity.nodeAffinity",
                          pods.front()->name.c_str(), pod->name.c_str()));
    }
  }
  std::vector<const NodeSelector*> selectors;
  for (const WorkloadPod* pod : pods) {
    for (const NodeSelector* one : SLURMK8S_TRY(selectors_of(*pod))) {
      if (selectors.empty() || *selectors.back() != *one) selectors.push_back(one);  // most pods have the same
    }
  }
  const std::set<std::string> behind_taints = find_nodes_behind_taints(pods);
  if (selectors.empty()) {
    request.not_nodes.assign(behind_taints.begin(), behind_taints.end());
    return {};
  }
  for (const auto& [node, kube_node] : kube_node_of_) {
    if (are_selecting(selectors, kube_node) && !behind_taints.contains(node)) request.only_nodes.push_back(node);
  }
  powered_down_nodes_.each(selectors, [&](const std::string& node) {
    if (!kube_node_of_.contains(node) && !behind_taints.contains(node)) request.only_nodes.push_back(node);
  });
  if (!request.only_nodes.empty()) return {};
  return Error(Errc::invalid,
               "spec.nodeSelector, spec.affinity.nodeAffinity, spec.tolerations, spec.volumes: no Slurm node that is "
               "up is on such a Kubernetes node; powered-down nodes count where their NodeSet's nodeSelector has these "
               "labels");
}

/** Its job was given a node that has come up since, or whose labels have changed. */
Result<bool> Bridge::is_misplaced(const Gang& gang) {
  for (const WorkloadPod* pod : pods_of(gang)) {
    const std::vector<const NodeSelector*> selectors = SLURMK8S_TRY(selectors_of(*pod));
    const auto kube_node = kube_node_of_.find(gang.node_of(pod->uid));
    if (kube_node != kube_node_of_.end() && !are_selecting(selectors, kube_node->second)) return true;
  }
  return false;
}

/** The same for taints, in the order of the pods. */
std::vector<Bridge::NodeTaint> Bridge::find_taints_in_the_way(const Gang& gang) const {
  std::vector<NodeTaint> untolerated;
  for (const WorkloadPod* pod : pods_of(gang)) {
    const auto node = kube_node_of_.find(gang.node_of(pod->uid));
    if (node == kube_node_of_.end()) continue;
    const auto place = kube_nodes_.find(node->second);
    if (place == kube_nodes_.end()) continue;
    const Taint* const taint = find_untolerated(place->second.taints, pod->tolerations);
    if (taint != nullptr) untolerated.push_back({node->first, node->second, taint->key});
  }
  return untolerated;
}

/** The job's nodes. The next one may power up another node in vain: after a minute, then after twice the time. */
void Bridge::give_back(Gang& gang, const std::vector<NodeTaint>& untolerated) {
  const TimePoint now = parts_.loop.clock()->now();
  for (const NodeTaint& one : untolerated) {
    behind_taints_[one.node] = {kube_nodes_.at(one.kube_node).taints, now + kBehindTaintsFor};
  }
  const NodeTaint& first = untolerated.front();
  const std::string why = format("spec.tolerations: Slurm node %s is on Kubernetes node %s, which has the taint %s",
                                 first.node.c_str(), first.kube_node.c_str(), first.key.c_str());
  for (const WorkloadPod* pod : pods_of(gang)) {
    PutOff& put_off = put_off_[pod->uid];
    put_off.wait = std::clamp(2 * put_off.wait, kShortestPutOff, kLongestPutOff);
    put_off.until = now + put_off.wait;
    writer(pod->name_space).tell_wait(*pod, why, PodWriter::kRefused);
  }
  log_warning("%s: %s", to_string(gang.workload).c_str(), why.c_str());
  regroup(gang);
}

/** In order of rank, each as often as it has pods. Empty: too much to have in each of the pods. */
std::string Bridge::kube_nodes_of(const Gang& gang) const {
  std::map<std::uint32_t, std::string> by_rank;
  for (const auto& [uid, place] : gang.places) by_rank[place.rank] = place.node;
  std::string text;
  for (const auto& [rank, node] : by_rank) {
    const auto kube_node = kube_node_of_.find(node);
    text += (text.empty() ? "" : ",") + (kube_node == kube_node_of_.end() ? "" : kube_node->second);
    if (text.size() > kMaxKubeNodes) return {};
  }
  return text;
}

std::string Bridge::hostname_of(const std::string& kube_node) const {
  const auto found = kube_nodes_.find(kube_node);
  if (found == kube_nodes_.end()) return kube_node;
  const NodeLabels& labels = found->second.labels;
  const auto label = labels.find(kLabelHostname);
  return label == labels.end() ? kube_node : label->second;
}

NodeTopologies Bridge::topologies_of(const Allocation& job) const {
  NodeTopologies topologies;
  for (const AllocatedNode& node : job.nodes) {
    const auto kube_node = kube_node_of_.find(node.name);
    if (kube_node == kube_node_of_.end()) continue;
    const auto topology = kube_node_topologies_.find(kube_node->second);
    if (topology != kube_node_topologies_.end()) topologies[node.name] = topology->second;
  }
  return topologies;
}

/** Kubernetes nodes where pods of an ended job are still ending: nothing else begins there. */
void Bridge::note_occupied_nodes() {
  occupied_.clear();
  for (const std::uint64_t number : ended_) {
    const Gang& gang = gangs_.all().at(number);
    for (const WorkloadPod* pod : pods_of(gang)) {
      if (pod->is_over()) continue;
      if (!pod->kube_node.empty()) occupied_.insert(pod->kube_node);
      // Its binding may be under way.
      const auto kube_node = kube_node_of_.find(gang.node_of(pod->uid));
      if (kube_node != kube_node_of_.end()) occupied_.insert(kube_node->second);
    }
  }
}

}  // namespace slurmk8s
