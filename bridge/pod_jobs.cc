// SPDX-License-Identifier: GPL-2.0-or-later
// Which nodes a gang's pods are on.
#include "bridge/pod_jobs.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <vector>

#include "slurm/hostlist.hpp"

namespace slurmk8s {
namespace {

using Names = std::set<std::string>;

/** Or may be soon: a binding may be under way. */
bool is_on_node(const WorkloadPod& pod, const Gang& gang) {
  if (pod.is_over()) return false;
  return !pod.kube_node.empty() || !gang.node_of(pod.uid).empty();
}

std::vector<const WorkloadPod*> pods_on_nodes(const Gang& gang, const WorkloadPods& pods) {
  std::vector<const WorkloadPod*> found;
  for (const std::string& uid : gang.uids) {
    const auto pod = pods.find(uid);
    if (pod != pods.end() && is_on_node(pod->second, gang)) found.push_back(&pod->second);
  }
  return found;
}

Names nodes_of(const Allocation& job) {
  Names names;
  for (const AllocatedNode& node : job.nodes) names.insert(node.name);
  return names;
}

/** Others have its CPUs: it has ended, or is suspended, which stops no pod. */
bool has_no_cpus(const Allocation& job) {
  return job.state == Allocation::State::ended || job.state == Allocation::State::suspended;
}

/** Slurm nodes by Kubernetes node; made when it is first asked for. */
class NodesByKubeNode {
 public:
  explicit NodesByKubeNode(const KubeNodes& kube_nodes) : kube_nodes_(kube_nodes) {}
  const Names& on(const std::string& kube_node) {
    if (by_kube_node_.empty()) {
      for (const auto& [node, its_kube_node] : kube_nodes_) by_kube_node_[its_kube_node].insert(node);
    }
    static const Names kNone;
    const auto found = by_kube_node_.find(kube_node);
    return found == by_kube_node_.end() ? kNone : found->second;
  }
  /** Whether it is on that one, as far as is known. */
  bool may_be_on(const std::string& node, const std::string& kube_node) const {
    const auto found = kube_nodes_.find(node);
    return found == kube_nodes_.end() || found->second == kube_node;
  }

 private:
  const KubeNodes& kube_nodes_;
  std::map<std::string, Names> by_kube_node_;
};

/** Where a pod may be: nodes of its job, unless none of them is on its Kubernetes node. */
Names nodes_of(const WorkloadPod& pod, const Gang& gang, const Names& of_job, NodesByKubeNode& nodes) {
  const std::string node = gang.node_of(pod.uid);
  if (!node.empty() && (pod.kube_node.empty() || nodes.may_be_on(node, pod.kube_node))) return {node};
  const Names& there = nodes.on(pod.kube_node);
  if (there.empty()) return of_job;
  Names of_job_there;
  std::ranges::set_intersection(there, of_job, std::inserter(of_job_there, of_job_there.end()));
  return of_job_there.empty() ? there : of_job_there;
}

std::string hostlist_of(const Names& names) { return compress_hostlist({names.begin(), names.end()}); }

}  // namespace

PodJobs list_pod_jobs(const std::vector<const Gang*>& gangs, const WorkloadPods& pods, const KnownJobs& known,
                      const KubeNodes& kube_nodes, bool is_current) {
  struct Where {
    Names nodes;
    Names over;
  };
  NodesByKubeNode nodes(kube_nodes);
  std::map<std::uint32_t, Where> found;  // two gangs have one id: slurmctld has forgotten the one's job
  for (const Gang* gang : gangs) {
    if (gang->job == 0) continue;
    const Allocation* const job = known.find(*gang);
    const std::vector<const WorkloadPod*> on_nodes = pods_on_nodes(*gang, pods);
    const bool is_over = job == nullptr ? known.asked > gang->asked : has_no_cpus(*job);
    if (is_over && on_nodes.empty()) continue;
    Where& where = found[gang->job];
    const Names of_job = job == nullptr ? Names() : nodes_of(*job);
    const bool has_nodes = !is_over && is_current && !of_job.empty();
    if (!is_over) where.nodes.insert(of_job.begin(), of_job.end());
    for (const WorkloadPod* pod : on_nodes) {
      const Names names = nodes_of(*pod, *gang, of_job, nodes);
      const bool is_beside = has_nodes && !std::ranges::includes(of_job, names);
      if (!is_over && !has_nodes) where.nodes.insert(names.begin(), names.end());
      if (is_over || !is_current || is_beside) where.over.insert(names.begin(), names.end());
    }
  }
  PodJobs jobs;
  for (const auto& [id, where] : found) jobs[id] = {hostlist_of(where.nodes), hostlist_of(where.over)};
  return jobs;
}

}  // namespace slurmk8s
