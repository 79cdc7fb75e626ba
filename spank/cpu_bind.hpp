// SPDX-License-Identifier: GPL-2.0-or-later
// CPUs of a step in its pod. A process may choose among its own CPUs without any privilege, which task/affinity cannot:
// it sets them for processes of other users.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace slurmk8s {

/** Numbers of CPUs or cores, ascending. */
using CpuList = std::vector<unsigned>;

/** A step on this node. */
struct StepCpus {
  std::string cores;      ///< that Slurm has given it, counted from 0 on this node: "0-1,4"; may be empty
  unsigned cpus = 0;      ///< their number
  unsigned pod_cpus = 0;  ///< of the pod (SLURM_K8S_CPU_LIMIT); 0: unknown
  std::string bind_type;  ///< SLURM_CPU_BIND_TYPE: what the user wants of srun; "none": no binding
  bool confined = false;  ///< the pod has a confinement: control groups limit its CPUs
};

/** "0-2,7" as Slurm and the kernel write it. Error (invalid): another text, or a number above 65535. Pure. */
Result<CpuList> parse_cpu_list(std::string_view text);

/**
 * The CPUs of a step: the n-th core of the node is the n-th CPU that the pod may use, `allowed`. Nothing when these are
 * not as many as the pod has, since then other pods use them too; when cores have several threads; in a pod with a
 * confinement; and with `--cpu-bind=none`. `why` says so then. Pure.
 */
std::optional<CpuList> choose_cpus(const StepCpus& step, const CpuList& allowed, std::string& why);

/** The CPUs that the calling thread may use. Error (unavailable): errno. */
Result<CpuList> allowed_cpus();

/** The calling thread, and what it starts, runs on these CPUs alone. Error (unavailable): errno. */
Status bind_to(const CpuList& cpus);

}  // namespace slurmk8s
