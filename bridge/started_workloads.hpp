// SPDX-License-Identifier: GPL-2.0-or-later
// StartedWorkloads: which workloads have pods that had a job already. One thread.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "bridge/workload_pod.hpp"

namespace slurmk8s {

/** One run of a workload: with WorkloadPod::attempt, which is empty where pods do not tell. */
using WorkloadRun = std::pair<WorkloadRef, std::string>;

/** What became of the pods of a run that came before others. */
enum class EarlierPods {
  none,   ///< there are none that had a job
  ended,  ///< they failed
  alive,  ///< some wait or run, or have succeeded
};

class StartedWorkloads {
 public:
  /** As the watch shows it now. Pods without an attempt are not noted: another object of the name may have them. */
  void note(const WorkloadPod& pod);
  /** It is gone. */
  void forget(const WorkloadPod& pod);
  EarlierPods find(const WorkloadRun& run) const;

 private:
  std::map<WorkloadRun, std::map<std::string, EarlierPods>> pods_;  // by uid
};

}  // namespace slurmk8s
