// SPDX-License-Identifier: GPL-2.0-or-later
// ScriptSettings: the arguments of the scripts' line in plugstack.conf. Pure; any thread.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace slurmk8s {

struct ScriptSettings {
  std::string pod_setup;             ///< once, before the pod's first job; empty: none
  std::string pod_cleanup;           ///< when slurmd ends
  std::string job_setup;             ///< before a job's first step here
  std::string job_cleanup;           ///< after its last
  std::chrono::seconds timeout{60};  ///< of each
};

/** Each argument is `NAME=value`; the last of two counts. Error (invalid): read_arguments(). */
Result<ScriptSettings> parse_script_settings(const std::vector<std::string_view>& arguments);

}  // namespace slurmk8s
