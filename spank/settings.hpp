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
  std::string pod_env = kPodEnvFile;  ///< empty: jobs get nothing of it
  std::chrono::seconds login_env{5};  ///< how long a user's profile may take; 0: it isn't read
  bool keep_service_env = false;      ///< leave jobs the variables by which Kubernetes tells its services
  Threads threads;                    ///< OMP_NUM_THREADS where a user gives none
  bool pod_gpus = false;              ///< put the device plugin's ids in place of Slurm's numbers
  std::optional<int> oom_score_adj;   ///< of tasks, raised to this
  bool memory_limit = false;          ///< end jobs that use more memory than they have (--mem)
  std::vector<std::string> hidden;    ///< paths that no task may read
};

/**
 * Each argument is `NAME=value`; the last of two counts. Error (invalid): quotes the argument, and says what is wrong.
 */
Result<Settings> parse_settings(const std::vector<std::string_view>& arguments);

}  // namespace slurmk8s
