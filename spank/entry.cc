// SPDX-License-Identifier: GPL-2.0-or-later
// SPANK plugin: sets each step of a job up inside its pod. In plugstack.conf (docs/admin/spank.md):
//
//   optional spank_k8s.so [env=FILE|off] [login_env=SECONDS|off] [hosts=on|off] [service_env=keep|remove]
//                         [threads=auto|N|off] [gpus=ids|off] [oom_score_adj=N] [memory_limit=on|off]
//                         [cpu_bind=on|off] [hide=PATH,PATH…]
//
// With `hide` the line must be `required`: Slurm ignores failures of an optional plugin.
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <netdb.h>
#include <pwd.h>
#include <unistd.h>

#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>

#include "base/export.hpp"
#include "base/file.hpp"
#include "base/guarded.hpp"
#include "base/job_hosts.hpp"
#include "base/oci_conf.hpp"
#include "base/strings.hpp"
#include "base/undestroyed.hpp"
#include "spank/compat.hpp"
#include "spank/confinement.hpp"
#include "spank/cpu_bind.hpp"
#include "spank/gpu_ids.hpp"
#include "spank/login_env.hpp"
#include "spank/memory_watch.hpp"
#include "spank/oom_score.hpp"
#include "spank/pod_env.hpp"
#include "spank/secrets.hpp"
#include "spank/service_env.hpp"
#include "spank/settings.hpp"
#include "spank/thread_count.hpp"

extern "C" {  // the header declares the hooks without it
#include <slurm/spank.h>
}

using namespace slurmk8s;

namespace {

constexpr const char* kConfinementFile = "/run/slurm-k8s/confinement";  // by slurmd's entrypoint
constexpr int kFailed = -1;  // the only value that all callers in Slurm treat as a failure

// Slurm's struct has pointers to non-const char.
char service_env_name[] = "k8s-service-env";
char service_env_info[] = "keep|remove";
char service_env_usage[] = "keep or remove the variables of Kubernetes' services (KUBERNETES_SERVICE_HOST and so on)";
char threads_name[] = "k8s-threads";
char threads_info[] = "auto|N|off";
char threads_usage[] = "OMP_NUM_THREADS of tasks: the CPUs of a task, a number, or unchanged";

template <typename T>
int check_option(const char* name, const char* text, Result<T> (*parse)(std::string_view)) {
  const auto value = parse(text ? text : "");
  if (value) return ESPANK_SUCCESS;
  slurm_error("--%s", invalid_value(name, text ? text : "", value.error().message()).message().c_str());
  return kFailed;
}

int check_service_env(int, const char* text, int) {
  return guarded("--k8s-service-env", kFailed, [&] { return check_option(service_env_name, text, parse_service_env); });
}

int check_threads(int, const char* text, int) {
  return guarded("--k8s-threads", kFailed, [&] { return check_option(threads_name, text, parse_threads); });
}

spank_option service_env_option = {service_env_name, service_env_info, service_env_usage, 1, 0, check_service_env};
spank_option threads_option = {threads_name, threads_info, threads_usage, 1, 0, check_threads};

/** The value of a user's option, already checked. */
std::optional<std::string> option_text(spank_t spank, spank_option& option) {
  char* text = nullptr;
  if (spank_option_getopt(spank, &option, &text) != ESPANK_SUCCESS || !text) return std::nullopt;
  return text;
}

Result<Settings> settings_of(int count, char** arguments) {
  return parse_settings(std::vector<std::string_view>(arguments, arguments + count));
}

std::vector<std::string_view> job_variables(spank_t spank) {
  std::vector<std::string_view> names;
  char** environment = nullptr;
  if (spank_get_item(spank, S_JOB_ENV, &environment) != ESPANK_SUCCESS || !environment) return names;
  for (; *environment; ++environment) {
    const char* equals = std::strchr(*environment, '=');
    if (equals) names.emplace_back(*environment, static_cast<std::size_t>(equals - *environment));
  }
  return names;
}

std::optional<std::string> job_variable(spank_t spank, const char* name) {
  char buffer[4096];
  if (spank_getenv(spank, name, buffer, sizeof buffer) != ESPANK_SUCCESS) return std::nullopt;
  return buffer;
}

void change_environment(spank_t spank, const EnvChanges& changes) {
  for (const auto& [name, value] : changes) {
    const auto result =
        value ? spank_setenv(spank, name.c_str(), value->c_str(), 1) : spank_unsetenv(spank, name.c_str());
    if (result != ESPANK_SUCCESS) slurm_error("spank_k8s: %s: not %s", name.c_str(), value ? "set" : "removed");
  }
}

Result<EnvChanges> pod_environment(const std::string& path) {
  if (path.empty()) return EnvChanges{};
  const auto text = read_pod_env(path);
  if (!text) return text.error();
  auto changes = parse_pod_env(*text);
  if (!changes) return changes.error().wrap(path);
  return changes;
}

std::optional<std::string> address_of(const char* node) {
  slurm_addr_t address{};
  char text[NI_MAXHOST];
  if (!slurm_conf_get_addr || slurm_conf_get_addr(node, &address, 0) != SLURM_SUCCESS) return std::nullopt;
  const auto* any = reinterpret_cast<const sockaddr*>(&address);
  if (::getnameinfo(any, sizeof address, text, sizeof text, nullptr, 0, NI_NUMERICHOST) != 0) return std::nullopt;
  return text;
}

/** The nodes of the job whose addresses slurmstepd has. */
std::vector<Host> hosts_of(spank_t spank) {
  std::vector<Host> hosts;
  std::vector<char> names(65536);
  if (spank_getenv(spank, "SLURM_JOB_NODELIST", names.data(), static_cast<int>(names.size())) != ESPANK_SUCCESS) {
    return hosts;
  }
  const auto list = slurm_hostlist_create(names.data());
  while (char* name = slurm_hostlist_shift(list)) {
    const std::unique_ptr<char, decltype(&std::free)> owner(name, &std::free);
    if (auto address = address_of(name)) hosts.push_back({name, *address});
  }
  slurm_hostlist_destroy(list);
  return hosts;
}

/** In a pod, before the first task of the step: DNS may not know the other pods yet. */
int write_host_names(spank_t spank, const Settings& settings) {
  std::uint32_t job = 0;
  if (!settings.host_names || ::access(kPodEnvFile, F_OK) != 0) return ESPANK_SUCCESS;
  if (spank_get_item(spank, S_JOB_ID, &job) != ESPANK_SUCCESS) return ESPANK_SUCCESS;
  const std::vector<Host> hosts = hosts_of(spank);
  if (hosts.size() < 2) return ESPANK_SUCCESS;
  const Status written =
      change_hosts(kHostsFile, kHostsLock, [&](std::string_view text) { return with_job_hosts(text, job, hosts); });
  if (!written) slurm_error("spank_k8s: names of the job's nodes: %s", written.error().message().c_str());
  return ESPANK_SUCCESS;
}

StepFacts facts_of(spank_t spank) {
  StepFacts step;
  std::uint32_t id = 0;
  std::uint16_t cpus = 0;
  spank_get_item(spank, S_JOB_STEPID, &id);
  spank_get_item(spank, S_JOB_NCPUS, &cpus);
  spank_get_item(spank, S_JOB_LOCAL_TASK_COUNT, &step.tasks);
  step.batch = id == SLURM_BATCH_SCRIPT;
  step.cpus = cpus;
  step.cpus_per_task = job_variable(spank, "SLURM_CPUS_PER_TASK");
  step.omp = job_variable(spank, "OMP_NUM_THREADS");
  step.ours = job_variable(spank, "SLURM_K8S_OMP_NUM_THREADS");
  return step;
}

/** The effective user's account. For an unknown user: the name from Slurm, and no home. */
Account account_of_user(spank_t spank) {
  passwd entry{};
  passwd* found = nullptr;
  std::vector<char> buffer(65536);
  const int failed = ::getpwuid_r(::geteuid(), &entry, buffer.data(), buffer.size(), &found);
  constexpr const char* kShell = "/bin/sh";
  if (failed != 0 || !found) return {job_variable(spank, "SLURM_JOB_USER").value_or(""), "/", kShell};
  return {found->pw_name, found->pw_dir, found->pw_shell[0] ? found->pw_shell : kShell};
}

/** The environment after the user's profile; the basic variables alone when the profile fails or is too slow. */
EnvChanges login_environment(const Account& account, std::chrono::seconds limit) {
  EnvChanges basics = basic_environment(account);
  EnvChanges begin = basics;
  for (const char* name : {"LANG", "TZ"}) {  // the image's
    if (const char* value = std::getenv(name)) begin.push_back({name, value});
  }
  begin.push_back({"ENVIRONMENT", "BATCH"});  // tells profiles not to prompt
  const std::string mark = new_mark();
  const auto output = login_output(account, login_arguments(account.shell, mark), begin, mark, limit);
  auto login = output ? parse_login_output(*output, mark) : Result<EnvChanges>(output.error());
  if (login) return *login;
  slurm_error("spank_k8s: user %s: no login environment: %s; the job gets HOME, LOGNAME, PATH, SHELL and USER",
              account.name.c_str(), login.error().message().c_str());
  return basics;
}

/** For a batch script only, as in Slurm: srun passes it to the steps. */
void add_login_environment(spank_t spank, const Settings& settings, bool batch) {
  const bool asked_us = job_variable(spank, kLoginEnv) == "1";
  if (!batch || (!asked_us && job_variable(spank, kGetUserEnv) != "1")) return;
  // So that a job submitted from this one requests it too.
  if (asked_us) change_environment(spank, {{kGetUserEnv, "1"}, {kLoginEnv, std::nullopt}});
  if (settings.login_env == std::chrono::seconds(0)) return;
  const Account account = account_of_user(spank);
  // The profile runs before there is a task whose process could hide them.
  const auto secret = first_readable(settings.hidden);
  if (secret) {
    slurm_error("spank_k8s: %s: listed in hide= but readable by the job's user; the job gets no login environment",
                secret->c_str());
  }
  const EnvChanges login = secret ? basic_environment(account) : login_environment(account, settings.login_env);
  change_environment(spank, without_names(login, job_variables(spank)));
}

void set_gpu_ids(spank_t spank) {
  const auto ids = job_variable(spank, "SLURM_K8S_GPUS");
  const auto changes = gpu_changes(ids.value_or(""), job_variable(spank, "CUDA_VISIBLE_DEVICES"));
  if (changes)
    change_environment(spank, *changes);
  else
    slurm_error("spank_k8s: %s", changes.error().message().c_str());
}

// A job can run without any of this: failures are logged.
int set_environment(spank_t spank, const Settings& settings) {
  add_login_environment(spank, settings, facts_of(spank).batch);

  bool keep_services = settings.keep_service_env;
  if (const auto text = option_text(spank, service_env_option)) {
    keep_services = parse_service_env(*text).value_or(keep_services);
  }
  if (!keep_services) change_environment(spank, without_services(job_variables(spank)));

  if (const auto changes = pod_environment(settings.pod_env); changes) {
    change_environment(spank, without_other_pod(job_variables(spank)));
    change_environment(spank, *changes);
  } else {
    slurm_error("spank_k8s: %s", changes.error().message().c_str());
  }

  const auto wish = option_text(spank, threads_option);
  const Threads threads = wish ? parse_threads(*wish).value_or(settings.threads) : settings.threads;
  change_environment(spank, thread_changes(threads, wish.has_value(), facts_of(spank)));

  if (settings.pod_gpus) set_gpu_ids(spank);
  return ESPANK_SUCCESS;
}

int protect_pod(const Settings& settings) {
  if (settings.oom_score_adj) {
    const Status raised = raise_oom_score("/proc/self/oom_score_adj", *settings.oom_score_adj);
    if (!raised) slurm_error("spank_k8s: %s", raised.error().message().c_str());
  }
  if (settings.hidden.empty()) return ESPANK_SUCCESS;
  const auto hidden = hide_paths(settings.hidden);
  if (hidden) return ESPANK_SUCCESS;  // not permitted: task_init checks whether the task can read them
  slurm_error("spank_k8s: %s", hidden.error().message().c_str());
  return kFailed;
}

/** A task, which is the calling process, runs on the CPUs of its step. It can run on others: failures are logged. */
void bind_task(spank_t spank) {
  StepCpus step;
  char* cores = nullptr;
  std::uint16_t cpus = 0;
  if (spank_get_item(spank, S_STEP_ALLOC_CORES, &cores) == ESPANK_SUCCESS && cores) step.cores = cores;
  spank_get_item(spank, S_JOB_NCPUS, &cpus);
  step.cpus = cpus;
  const auto pod_cpus = parse_int(job_variable(spank, "SLURM_K8S_CPU_LIMIT").value_or(""));
  if (pod_cpus && *pod_cpus > 0 && *pod_cpus <= UINT16_MAX) step.pod_cpus = static_cast<unsigned>(*pod_cpus);
  step.bind_type = job_variable(spank, "SLURM_CPU_BIND_TYPE").value_or("");
  step.confined = ::access(kConfinementFile, F_OK) == 0;
  const auto allowed = allowed_cpus();
  std::string why = allowed ? "" : allowed.error().message();
  const auto chosen = allowed ? choose_cpus(step, *allowed, why) : std::nullopt;
  if (!chosen) return slurm_debug("spank_k8s: CPUs are not bound: %s", why.c_str());
  const Status bound = bind_to(*chosen);
  if (!bound) slurm_error("spank_k8s: CPUs are not bound: %s", bound.error().message().c_str());
}

/**
 * In a task's process, which ends here: slurmstepd would go on after a failure of an optional plugin (spank.c:750 of
 * 24.11). A batch script goes on: Slurm gives an exclusive job all GPUs of its nodes, wanted or not.
 */
void refuse_gpus_of_bridge(spank_t spank) {
  if (!has_gpus_of_bridge(job_variable(spank, "SLURM_K8S_BRIDGE_DEVICES").value_or(""),
                          job_variable(spank, "SLURM_GPUS_ON_NODE").value_or(""))) {
    return;
  }
  slurm_error("spank_k8s: GPUs of this node are for Kubernetes pods: this job has none of them");
  if (!facts_of(spank).batch) ::_exit(1);
}

/** In a task's process, which ends here (see above). job_submit/k8s refuses jobs; this is for their steps. */
void refuse_missing_container(spank_t spank) {
  const std::string bundle = job_variable(spank, "SLURM_CONTAINER").value_or("");
  if (bundle.empty() || !lacks_oci_conf(job_variable(spank, "SLURM_CONF").value_or(""))) return;
  slurm_error("spank_k8s: --container=%s: no job containers are configured (oci.conf)", bundle.c_str());
  ::_exit(1);
}

int refuse_readable_secrets(const Settings& settings) {
  const auto file = first_readable(settings.hidden);
  if (!file) return ESPANK_SUCCESS;
  slurm_error("spank_k8s: %s: listed in hide= but readable by the job's user; task refused", file->c_str());
  return kFailed;
}

/** Gives the step's control groups their CPUs. Nothing in a pod without confinement. */
Result<bool> confine_step(spank_t spank) {
  constexpr std::size_t kMaxBytes = 8192;
  const std::string root = "/sys/fs/cgroup";
  const auto pod = SLURMK8S_TRY(read_pod_confinement(kConfinementFile));
  if (!pod) return false;
  JobCores cores;
  const auto cores_of = [spank](spank_item_t item) {
    char* text = nullptr;
    return std::string(spank_get_item(spank, item, &text) == ESPANK_SUCCESS && text ? text : "");
  };
  cores.job = cores_of(S_JOB_ALLOC_CORES);
  cores.step = cores_of(S_STEP_ALLOC_CORES);
  const std::string own_group = SLURMK8S_TRY(read_file("/proc/self/cgroup", kMaxBytes));
  const std::string pod_cpus = SLURMK8S_TRY(read_file(root + "/cpuset.cpus.effective", kMaxBytes));
  const CpuList cpus = SLURMK8S_TRY(parse_cpu_list(trim(pod_cpus)));
  SLURMK8S_CHECK(write_cgroups(root, SLURMK8S_TRY(plan_cgroups(*pod, own_group, cores, cpus))));
  return true;
}

/**
 * Whether control groups keep the job to its CPUs and memory. Once in a slurmstepd, before its tasks run. Where they do
 * not, the job goes on as in a pod without confinement.
 */
bool is_confined(spank_t spank) {
  static std::optional<bool> confined;
  if (confined) return *confined;
  const auto result = confine_step(spank);
  if (!result) slurm_error("spank_k8s: not confined: %s", result.error().message().c_str());
  confined = result && *result;
  return *confined;
}

/** Notifies the user, in the step's standard error, and slurmctld, which does not requeue the job. */
void end_job(const MemoryLimit& limit, std::uint64_t used) {
  constexpr std::uint64_t kMiB = 1 << 20;
  const unsigned long long uses = used / kMiB;
  const unsigned long long has = limit.bytes / kMiB;
  slurm_error("spank_k8s: job %u uses %llu MiB of memory on this node and has %llu (--mem): it ends as OUT_OF_MEMORY",
              limit.job, uses, has);
  if (compat::complete_job(limit.job, compat::kOutOfMemory) == SLURM_SUCCESS || errno == ESLURM_ALREADY_DONE) return;
  slurm_error("spank_k8s: job %u: OUT_OF_MEMORY not reported to slurmctld: %s", limit.job, slurm_strerror(errno));
}

/** The watch of this slurmstepd. */
std::unique_ptr<MemoryWatch>& memory_watch() {
  static Undestroyed<std::unique_ptr<MemoryWatch>> watch;
  return *watch;
}

/** Once in a slurmstepd, after its first task: before that slurmstepd switches users repeatedly. */
int watch_memory(spank_t spank, const Settings& settings) {
  if (!settings.memory_limit || memory_watch()) return ESPANK_SUCCESS;
  MemoryLimit limit;
  std::uint64_t mebibytes = 0;
  if (spank_get_item(spank, S_JOB_ID, &limit.job) != ESPANK_SUCCESS) return ESPANK_SUCCESS;
  if (spank_get_item(spank, S_JOB_ALLOC_MEM, &mebibytes) != ESPANK_SUCCESS || mebibytes == 0) return ESPANK_SUCCESS;
  limit.bytes = mebibytes << 20;
  memory_watch() = std::make_unique<MemoryWatch>(limit, [limit](std::uint64_t used) { end_job(limit, used); });
  return ESPANK_SUCCESS;
}

/** A hook that needs the settings. Fails on invalid ones, which slurm_spank_init() has reported. */
template <typename Fn>
int with_settings(const char* where, int count, char** arguments, Fn&& fn) {
  return guarded(where, kFailed, [&] {
    const auto settings = settings_of(count, arguments);
    return settings ? fn(*settings) : kFailed;
  });
}

}  // namespace

extern "C" {

SLURMK8S_EXPORT extern const char plugin_name[] = "k8s";
SLURMK8S_EXPORT extern const char plugin_type[] = "spank";
SLURMK8S_EXPORT extern const unsigned int plugin_version = SLURM_VERSION_NUMBER;
SLURMK8S_EXPORT extern const unsigned int spank_plugin_version = 1;

/** In all contexts: checks the arguments; registers the users' options except in slurmd. */
SLURMK8S_EXPORT int slurm_spank_init(spank_t spank, int count, char** arguments) {
  return guarded("slurm_spank_init", kFailed, [&] {
    const auto settings = settings_of(count, arguments);
    if (!settings) {
      slurm_error("spank_k8s: plugstack.conf: %s", settings.error().message().c_str());
      return kFailed;
    }
    if (spank_context() == S_CTX_SLURMD) return static_cast<int>(ESPANK_SUCCESS);
    for (spank_option* option : {&service_env_option, &threads_option}) {
      if (spank_option_register(spank, option) == ESPANK_SUCCESS) continue;
      slurm_error("spank_k8s: --%s: not registered", option->name);
    }
    return static_cast<int>(ESPANK_SUCCESS);
  });
}

/** In slurmstepd, for each step, still as root. */
SLURMK8S_EXPORT int slurm_spank_init_post_opt(spank_t spank, int count, char** arguments) {
  if (spank_remote(spank) != 1) return ESPANK_SUCCESS;
  return with_settings("slurm_spank_init_post_opt", count, arguments,
                       [&](const Settings& settings) { return write_host_names(spank, settings); });
}

/** In slurmstepd, for each step, before the user's tasks: changes the job's environment. */
SLURMK8S_EXPORT int slurm_spank_user_init(spank_t spank, int count, char** arguments) {
  if (spank_remote(spank) != 1) return ESPANK_SUCCESS;
  return with_settings("slurm_spank_user_init", count, arguments,
                       [&](const Settings& settings) { return set_environment(spank, settings); });
}

/** In each task's process, still as root. */
SLURMK8S_EXPORT int slurm_spank_task_init_privileged(spank_t, int count, char** arguments) {
  return with_settings("slurm_spank_task_init_privileged", count, arguments, protect_pod);
}

/** In slurmstepd, for each task. */
SLURMK8S_EXPORT int slurm_spank_task_post_fork(spank_t spank, int count, char** arguments) {
  return with_settings("slurm_spank_task_post_fork", count, arguments, [&](const Settings& settings) {
    return is_confined(spank) ? ESPANK_SUCCESS : watch_memory(spank, settings);
  });
}

/** In all contexts, at the end: Slurm unloads the plugin after this. */
SLURMK8S_EXPORT int slurm_spank_exit(spank_t, int, char**) {
  guarded_void("slurm_spank_exit", [] { memory_watch().reset(); });
  return ESPANK_SUCCESS;
}

/** In each task's process, as the user. */
SLURMK8S_EXPORT int slurm_spank_task_init(spank_t spank, int count, char** arguments) {
  return with_settings("slurm_spank_task_init", count, arguments, [&](const Settings& settings) {
    if (settings.cpu_bind) bind_task(spank);
    if (settings.pod_gpus) set_gpu_ids(spank);  // Slurm has set the task's own, of --gpus-per-task and --gpu-bind
    refuse_gpus_of_bridge(spank);
    refuse_missing_container(spank);
    return refuse_readable_secrets(settings);
  });
}

/**
 * Does nothing. With a SPANK plugin that has this hook, slurmd calls the epilogs of PrEp plugins at the end of every
 * job, not only if a step of the job still exists: prep/k8s then kills processes that outlived the job. slurmd starts a
 * process for this hook only with PrEpPlugins=prep/script.
 */
SLURMK8S_EXPORT int slurm_spank_job_epilog(spank_t, int, char**) { return ESPANK_SUCCESS; }

}  // extern "C"
