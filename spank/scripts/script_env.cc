// SPDX-License-Identifier: GPL-2.0-or-later
// Selects variables.
#include "spank/scripts/script_env.hpp"

#include "spank/pod_env.hpp"

namespace slurmk8s {

Result<std::vector<std::string>> script_environment(const std::vector<std::string>& host, const std::string& pod_env) {
  std::vector<std::string> environment{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"};
  for (const std::string& variable : host) {
    const bool slurms = variable.starts_with("SLURM_") || variable.starts_with("SLURMD_");
    // SLURM_K8S_* come from pod.env only.
    if (slurms && !variable.starts_with("SLURM_K8S_")) environment.push_back(variable);
  }
  const EnvChanges pod = SLURMK8S_TRY(parse_pod_env(pod_env));
  for (const auto& [name, value] : pod) environment.push_back(name + "=" + value.value_or(""));
  return environment;
}

}  // namespace slurmk8s
