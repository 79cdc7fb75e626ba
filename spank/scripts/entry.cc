// SPDX-License-Identifier: GPL-2.0-or-later
// SPANK plugin: an administrator's scripts, run as root in the pod of a job. In plugstack.conf (docs/admin/spank.md):
//
//   required spank_k8s_scripts.so [pod_setup=FILE] [pod_cleanup=FILE] [job_setup=FILE] [job_cleanup=FILE]
//                                 [timeout=SECONDS]
//
// Separate from spank_k8s.so: with a plugin that has a prolog slurmd starts a process for each job, and only with
// PrEpPlugins=prep/script. When a script fails the plugin drains the node, with the script's last line as the reason:
// Slurm's own reason would be "Prolog error". Slurm requeues the job.
#include <cstddef>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include <unistd.h>

#include "base/export.hpp"
#include "base/guarded.hpp"
#include "spank/scripts/command.hpp"
#include "spank/scripts/once.hpp"
#include "spank/pod_env.hpp"
#include "spank/scripts/script_env.hpp"
#include "spank/scripts/script_settings.hpp"

extern "C" {  // the header declares the hooks without it
#include <slurm/spank.h>
}

using namespace slurmk8s;

namespace {

constexpr int kFailed = -1;  // Slurm takes nothing else for a failure everywhere
/** In the container's file system: a new pod has no such file. */
constexpr const char* kPodIsSetUp = "/run/slurm-k8s/pod-setup.done";
constexpr const char* kScontrol = "/usr/bin/scontrol";
constexpr std::chrono::seconds kDrainLimit{10};

Result<ScriptSettings> settings_of(int count, char** arguments) {
  auto settings = parse_script_settings(std::vector<std::string_view>(arguments, arguments + count));
  if (!settings) return settings.error().wrap("plugstack.conf");
  return settings;
}

Result<std::vector<std::string>> environment_of_scripts() {
  std::vector<std::string> host;
  for (char** variable = environ; variable && *variable; ++variable) host.emplace_back(*variable);
  return script_environment(host, SLURMK8S_TRY(read_pod_env(kPodEnvFile)));
}

Status run_script(const char* what, const std::string& path, const ScriptSettings& settings) {
  if (path.empty()) return {};
  const std::string name = std::string(what) + " " + path;
  if (const Status good = check_script(path); !good) return good.error().wrap(what);
  const auto environment = environment_of_scripts();
  if (!environment) return environment.error();
  if (const Status done = run_command({path}, *environment, settings.timeout); !done) return done.error().wrap(name);
  slurm_info("spank_k8s: %s: done", name.c_str());
  return {};
}

/** Sets a reason that names the script: Slurm drains the node too, but keeps an existing reason. */
void drain_node(const std::string& reason) {
  const char* node = std::getenv("SLURMD_NODENAME");
  const auto environment = environment_of_scripts();
  if (!node || !environment) return;
  const std::vector<std::string> update{kScontrol, "update", std::string("NodeName=") + node, "State=DRAIN",
                                        "Reason=" + reason};
  const Status done = run_command(update, *environment, kDrainLimit);
  if (!done) slurm_error("spank_k8s: node %s: drain: %s", node, done.error().message().c_str());
}

int judge(const Status& done) {
  if (done) return ESPANK_SUCCESS;
  slurm_error("spank_k8s: %s", done.error().message().c_str());
  drain_node(done.error().message());
  return kFailed;
}

Status set_up(const ScriptSettings& settings) {
  if (!settings.pod_setup.empty()) {
    const auto work = [&] { return run_script("pod set-up", settings.pod_setup, settings); };
    SLURMK8S_CHECK(once(kPodIsSetUp, settings.timeout, work));
  }
  return run_script("job set-up", settings.job_setup, settings);
}

/** Cleans up only after a set-up; the next slurmd in this container sets up again. */
Status clean_pod_up(const ScriptSettings& settings) {
  if (!settings.pod_setup.empty() && ::unlink(kPodIsSetUp) != 0) return {};
  return run_script("pod clean-up", settings.pod_cleanup, settings);
}

template <typename Fn>
int with_settings(const char* where, int count, char** arguments, Fn&& fn) {
  return guarded(where, kFailed, [&] {
    const auto settings = settings_of(count, arguments);
    return settings ? fn(*settings) : judge(settings.error());
  });
}

}  // namespace

extern "C" {

SLURMK8S_EXPORT extern const char plugin_name[] = "k8s_scripts";
SLURMK8S_EXPORT extern const char plugin_type[] = "spank";
SLURMK8S_EXPORT extern const unsigned int plugin_version = SLURM_VERSION_NUMBER;
SLURMK8S_EXPORT extern const unsigned int spank_plugin_version = 1;

/** Everywhere but in a job's prolog and epilog: checks the arguments. */
SLURMK8S_EXPORT int slurm_spank_init(spank_t, int count, char** arguments) {
  return guarded("slurm_spank_init", kFailed, [&] {
    const auto settings = settings_of(count, arguments);
    if (!settings) slurm_error("spank_k8s: %s", settings.error().message().c_str());
    return settings ? static_cast<int>(ESPANK_SUCCESS) : kFailed;
  });
}

/** In a separate process, on each node, before the job's first step there. */
SLURMK8S_EXPORT int slurm_spank_job_prolog(spank_t, int count, char** arguments) {
  return with_settings("slurm_spank_job_prolog", count, arguments,
                       [](const ScriptSettings& settings) { return judge(set_up(settings)); });
}

/** The same after its last one. */
SLURMK8S_EXPORT int slurm_spank_job_epilog(spank_t, int count, char** arguments) {
  return with_settings("slurm_spank_job_epilog", count, arguments, [](const ScriptSettings& settings) {
    return judge(run_script("job clean-up", settings.job_cleanup, settings));
  });
}

/** In slurmd, when it ends: a failure is only logged. */
SLURMK8S_EXPORT int slurm_spank_slurmd_exit(spank_t, int count, char** arguments) {
  return guarded("slurm_spank_slurmd_exit", static_cast<int>(ESPANK_SUCCESS), [&] {
    const auto settings = settings_of(count, arguments);
    const Status done = settings ? clean_pod_up(*settings) : Status(settings.error());
    if (!done) slurm_error("spank_k8s: %s", done.error().message().c_str());
    return static_cast<int>(ESPANK_SUCCESS);
  });
}

}  // extern "C"
