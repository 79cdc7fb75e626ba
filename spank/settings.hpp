// SPDX-License-Identifier: GPL-2.0-or-later
// Settings: the arguments of the plugin's line in plugstack.conf. Pure; any thread.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "spank/choices.hpp"
#include "spank/pod_env.hpp"

namespace slurmk8s {

struct Settings {
  std::string pod_env = kPodEnvFile;  ///< empty: not read
  std::chrono::seconds login_env{5};  ///< time limit of a user's profile; 0: not read
  bool host_names = true;             ///< /etc/hosts has the nodes of a job
  bool keep_service_env = false;      ///< keep the variables of Kubernetes' services in jobs
  Threads threads;                    ///< default OMP_NUM_THREADS
  bool pod_gpus = false;              ///< replace Slurm's GPU numbers by the device plugin's ids
  std::optional<int> oom_score_adj;   ///< minimum oom_score_adj of tasks
  bool memory_limit = false;          ///< end jobs that use more memory than --mem
  bool cpu_bind = false;              ///< tasks run on the CPUs of their step alone
  std::vector<std::string> hidden;    ///< paths that no task may read
};

/** Each argument is `NAME=value`; the last of two counts. Error (invalid): read_arguments(). */
Result<Settings> parse_settings(const std::vector<std::string_view>& arguments);

}  // namespace slurmk8s
