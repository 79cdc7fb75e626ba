// SPDX-License-Identifier: GPL-2.0-or-later
// Which nodes a gang's pods are on.
#include "bridge/pod_jobs.hpp"

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

/** Where a pod of a job that is over, or that slurmctld does not know, may be. */
Names nodes_of(const WorkloadPod& pod, const Gang& gang, const Allocation* job, const KubeNodes& kube_nodes) {
  if (const std::string node = gang.node_of(pod.uid); !node.empty()) return {node};
  const Names of_job = job == nullptr ? Names() : nodes_of(*job);
  Names names;
  for (const auto& [node, kube_node] : kube_nodes) {
    if (kube_node == pod.kube_node && (job == nullptr || of_job.contains(node))) names.insert(node);
  }
  return names.empty() ? of_job : names;
}

std::string hostlist_of(const Names& names) { return compress_hostlist({names.begin(), names.end()}); }

}  // namespace

PodJobs list_pod_jobs(const std::vector<const Gang*>& gangs, const WorkloadPods& pods, const KnownJobs& known,
                      const KubeNodes& kube_nodes, bool is_current) {
  struct Where {
    Names nodes;
    Names over;
  };
  std::map<std::uint32_t, Where> found;  // two gangs have one id: slurmctld has forgotten the one's job
  for (const Gang* gang : gangs) {
    if (gang->job == 0) continue;
    const Allocation* const job = known.find(*gang);
    const std::vector<const WorkloadPod*> on_nodes = pods_on_nodes(*gang, pods);
    const bool is_over = job == nullptr ? known.asked > gang->asked : has_no_cpus(*job);
    if (is_over && on_nodes.empty()) continue;
    Where& where = found[gang->job];
    if (!is_over && job != nullptr) where.nodes.merge(nodes_of(*job));
    if (!is_over && is_current && job != nullptr && !job->nodes.empty()) continue;  // its pods are on these
    for (const WorkloadPod* pod : on_nodes) {
      const Names names = nodes_of(*pod, *gang, job, kube_nodes);
      if (!is_over) where.nodes.insert(names.begin(), names.end());
      if (is_over || !is_current) where.over.insert(names.begin(), names.end());
    }
  }
  PodJobs jobs;
  for (const auto& [id, where] : found) jobs[id] = {hostlist_of(where.nodes), hostlist_of(where.over)};
  return jobs;
}

}  // namespace slurmk8s
