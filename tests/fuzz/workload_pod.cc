// SPDX-License-Identifier: GPL-2.0-or-later
// Whatever a pod that Slurm schedules, its Job or its PodGroup says: what is asked of Slurm for it.
#include "bridge/job_request.hpp"
#include "bridge/workload.hpp"
#include "fuzz/target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace slurmk8s;
  const auto object = Json::parse(as_text(data, size));
  if (!object.ok()) return 0;
  const WorkloadPod pod = decode_workload_pod(*object);
  require(pod.cpu_milli >= 0 && pod.memory_bytes >= 0, "a size below zero");
  require(!pod.minutes || *pod.minutes > 0, "no time");
  for (const char* kind : {"Job", "PodGroup"}) {
    const Workload workload = decode_workload({pod.name_space, kind, pod.name}, *object);
    require(workload.min_pods > 0 && workload.all_pods >= workload.min_pods, "a gang of no pods");
  }
  IdentityRule rule;
  rule.name_space = "*";
  rule.uid = rule.gid = 1;
  const auto identity = find_identity({rule}, pod, pod.annotations);
  if (!identity.ok()) return 0;
  const auto request = build_job_request(pod.group, {&pod}, pod.annotations, *identity);
  if (!request.ok()) return 0;
  require(request->user == 1 && request->group == 1, "another user");
  require(request->cpus_per_task > 0 && request->tasks == 1, "a job without CPUs");
  require(request->qos.empty() && request->account.empty() && request->partition.empty(), "what no rule allows");
  return 0;
}
