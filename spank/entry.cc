// SPDX-License-Identifier: GPL-2.0-or-later
// SPANK plugin: gives each job the environment of its pod. In plugstack.conf:
//
//   optional spank_k8s.so [env=/run/slurm-k8s/pod.env]
//
// On a node that is no pod (there is no such file) it does nothing.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/file.hpp"
#include "base/guarded.hpp"
#include "pod_env.hpp"

extern "C" {  // the header declares the hooks without it
#include <slurm/spank.h>
}

#define SLURMK8S_EXPORT __attribute__((visibility("default")))

using namespace slurmk8s;

namespace {

constexpr std::size_t kMaxPodEnv = 65536;
constexpr std::string_view kEnvArgument = "env=";

std::string pod_env_path(int count, char** arguments) {
  for (int i = 0; i < count; ++i) {
    const std::string_view argument(arguments[i]);
    if (argument.starts_with(kEnvArgument)) return std::string(argument.substr(kEnvArgument.size()));
    slurm_error("spank_k8s: %s: env=FILE was expected in plugstack.conf", arguments[i]);
  }
  return "/run/slurm-k8s/pod.env";
}

int give_environment(spank_t spank, const std::string& path) {
  const auto text = read_file(path, kMaxPodEnv);
  if (!text && text.error().code() == Errc::not_found) return ESPANK_SUCCESS;
  const auto environment = text ? parse_pod_env(*text) : Result<Environment>(text.error());
  if (!environment) {
    slurm_error("spank_k8s: %s: %s", path.c_str(), environment.error().message().c_str());
    return ESPANK_SUCCESS;  // a job can run without it
  }
  for (const auto& [name, value] : *environment) {
    if (spank_setenv(spank, name.c_str(), value.c_str(), 1) != ESPANK_SUCCESS) {
      slurm_error("spank_k8s: %s: not set", name.c_str());
    }
  }
  return ESPANK_SUCCESS;
}

}  // namespace

extern "C" {

SLURMK8S_EXPORT extern const char plugin_name[] = "k8s";
SLURMK8S_EXPORT extern const char plugin_type[] = "spank";
SLURMK8S_EXPORT extern const unsigned int plugin_version = SLURM_VERSION_NUMBER;
SLURMK8S_EXPORT extern const unsigned int spank_plugin_version = 1;

/** In slurmstepd, for each step, before the user's tasks: the job's environment can be changed here. */
SLURMK8S_EXPORT int slurm_spank_user_init(spank_t spank, int count, char** arguments) {
  if (!spank_remote(spank)) return ESPANK_SUCCESS;
  return guarded("slurm_spank_user_init", static_cast<int>(ESPANK_SUCCESS),
                 [&] { return give_environment(spank, pod_env_path(count, arguments)); });
}

}  // extern "C"
