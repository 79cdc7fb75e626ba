// SPDX-License-Identifier: GPL-2.0-or-later
// prep/k8s: PrEp plugin of slurmctld. It holds each job's PrologSlurmctld until all of its nodes have registered, so
// that slurmctld launches the job at that moment and not at its next check, up to 30 s later (PERIODIC_TIMEOUT).
//
// In slurmd in a pod it names the job's user there, gives the job the device files of its GPUs, kills processes that
// outlive their job, and removes the job's lines from /etc/hosts, which spank_k8s has written. slurmd calls an epilog
// at the end of every job only where a SPANK plugin has one too: spank_k8s does.
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/guarded.hpp"
#include "base/job_hosts.hpp"
#include "base/locked.hpp"
#include "base/undestroyed.hpp"
#include "slurm/reasons.hpp"
#include "slurm/rpc/compat.hpp"
#include "slurmctld/host.hpp"
#include "slurmctld/names.hpp"
#include "slurmctld/compat.hpp"
#include "slurmctld/held_jobs.hpp"
#include "slurmctld/sbcast_requests.hpp"
#include "slurmctld/user_list.hpp"
#include "prep_k8s/gpu_owners.hpp"
#include "prep_k8s/job_notes.hpp"
#include "prep_k8s/leftovers.hpp"
#include "prep_k8s/user_accounts.hpp"

using namespace slurmk8s;

extern "C" {
SLURMK8S_EXPORT extern const char plugin_name[] = "PrEp plugin that launches jobs when their pods are up";
SLURMK8S_EXPORT extern const char plugin_type[] = "prep/k8s";
SLURMK8S_EXPORT extern const uint32_t plugin_version = SLURM_VERSION_NUMBER;
}

namespace {

Undestroyed<std::unique_ptr<HeldJobs>> held_jobs;  // in slurmctld only
Undestroyed<std::unique_ptr<UserList>> user_list;  // in slurmctld without accounting

bool needs_user_list() {
  return compat::kWaitsForUserList && compat::knows_user_list() && !compat::has_accounting(slurm_conf);
}

void start(const prep_callbacks_t& callbacks) {
  if (*held_jobs || !in_slurmctld()) return;
  if (needs_user_list()) *user_list = std::make_unique<UserList>(ensure_user_list);
  serve_names();
  mend_sbcast();
  *held_jobs = std::make_unique<HeldJobs>([callback = callbacks.prolog_slurmctld](uint32_t job, bool ok) {
    callback(ok ? 0 : 1 << 8, job, false);  // a wait status: after exit code 1 slurmctld requeues the job
  });
}

/**
 * Written by the image's entrypoint. Without it a user's processes may not be Slurm's: a host outside of Kubernetes.
 */
constexpr const char* kPodFile = "/run/slurm-k8s/pod.env";
constexpr const char* kJobsFolder = "/run/slurm-k8s/jobs";
constexpr std::chrono::seconds kKillLimit{2};

bool in_pod() { return ::access(kPodFile, F_OK) == 0; }

/** PrEpParameters of slurm.conf has the word. */
bool has_parameter(const char* word) {
  return &slurm_conf && slurm_conf.prep_params && std::strstr(slurm_conf.prep_params, word);
}

bool kills_leftovers() { return !has_parameter("keep_leftovers") && in_pod(); }

void remove_host_names(uint32_t job) {
  if (!in_pod()) return;
  const Status removed =
      change_hosts(kHostsFile, kHostsLock, [job](std::string_view text) { return without_job_hosts(text, job); });
  if (!removed) slurm_error("slurm-k8s: job %u: %s", job, removed.error().message().c_str());
}

std::string text_of(const char* text) { return text ? text : ""; }

UserAccount account_of(const compat::Identity& identity) {
  UserAccount account{identity.uid,
                      identity.gid,
                      text_of(identity.pw_name),
                      text_of(identity.pw_gecos),
                      text_of(identity.pw_dir),
                      text_of(identity.pw_shell),
                      {}};
  for (int i = 0; identity.gids && identity.gr_names && i < identity.ngids; ++i) {
    account.groups.push_back({identity.gids[i], text_of(identity.gr_names[i])});
  }
  return account;
}

/** A job can run without the names: failures are logged. */
void name_user(uint32_t job, void* cred) {
  if (!in_pod()) return;
  compat::with_identity(static_cast<slurm_cred_t*>(cred), [job](const compat::Identity& identity) {
    const Status added = add_account(AccountPaths(), job, account_of(identity));
    if (!added) slurm_error("slurm-k8s: job %u: %s", job, added.error().message().c_str());
  });
}

void forget_user(uint32_t job) {
  if (!in_pod()) return;
  const Status removed = remove_account(AccountPaths(), job);
  if (!removed) slurm_error("slurm-k8s: job %u: %s", job, removed.error().message().c_str());
}

/** SLURM_JOB_GPUS, which Slurm's gres plugins (gpu, shard, mps) give prologs: "0,2", or empty. */
std::string_view gpus_of(const job_env_t& job) {
  constexpr std::string_view kName = "SLURM_JOB_GPUS=";
  for (char** variable = job.gres_job_env; variable && *variable; ++variable) {
    if (std::string_view(*variable).starts_with(kName)) return std::string_view(*variable).substr(kName.size());
  }
  return "";
}

/** A job can run all the same. The same failure is logged once: where files cannot be given, each job has it. */
void report_gpus(uint32_t job, const Status& changed) {
  static Undestroyed<Locked<std::string>> logged;
  if (changed) return;
  const std::string& message = changed.error().message();
  const bool is_new = std::exchange(*logged->lock(), message) != message;
  if (is_new) slurm_error("slurm-k8s: job %u: device files of GPUs: %s", job, message.c_str());
}

void give_gpu_files(const job_env_t& job) {
  if (!in_pod()) return;
  const uint32_t id = compat::job_id_of(job);
  report_gpus(id,
              has_parameter("open_gpus") ? open_gpus(GpuPaths()) : give_gpus(GpuPaths(), id, job.uid, gpus_of(job)));
}

void return_gpu_files(uint32_t job, uid_t user) {
  if (in_pod() && !has_parameter("open_gpus")) report_gpus(job, return_gpus(GpuPaths(), job, user));
}

/** An administrator's, or another plugin's; the engine's told why the job waited. True when that can't be told. */
bool has_foreign_comment(uint32_t job) {
  job_info_msg_t* found = nullptr;
  if (compat::load_job(&found, job) != SLURM_SUCCESS) return true;
  const std::string comment = found->record_count > 0 ? text_of(found->job_array[0].admin_comment) : "?";
  slurm_free_job_info_msg(found);
  return !comment.empty() && !std::string_view(comment).starts_with(kReason);
}

/**
 * Says in the job's AdminComment that its folder is not in the pod: slurmstepd can only end a batch job that has no
 * place for its output with RaisedSignal:53.
 */
void report_missing_folder(const job_env_t& job) {
  struct stat folder {};
  if (!in_pod() || !compat::is_batch(job) || !job.work_dir) return;
  if (::stat(job.work_dir, &folder) == 0 || (errno != ENOENT && errno != ENOTDIR)) return;
  const char* node = std::getenv("SLURMD_NODENAME");
  std::string comment = std::string(node ? node : "pod") + ": " + job.work_dir +
                        ": no such folder in the pod: the job has no output file there. Mount a shared volume.";
  slurm_error("slurm-k8s: job %u: %s", compat::job_id_of(job), comment.c_str());
  if (has_foreign_comment(compat::job_id_of(job))) return;
  job_desc_msg_t change;
  slurm_init_job_desc_msg(&change);
  compat::set_job(change, compat::job_id_of(job));
  change.admin_comment = comment.data();
  if (slurm_update_job(&change) == SLURM_SUCCESS) return;
  slurm_error("slurm-k8s: job %u: AdminComment: %s", compat::job_id_of(job), slurm_strerror(errno));
}

void begin_job(const job_env_t& job, void* cred) {
  const uint32_t id = compat::job_id_of(job);
  name_user(id, cred);
  give_gpu_files(job);
  report_missing_folder(job);
  if (!kills_leftovers()) return;
  const Status noted = note_job(kJobsFolder, id, job.uid);
  if (!noted) slurm_error("slurm-k8s: job %u: %s", id, noted.error().message().c_str());
}

void kill_leftovers_of(uint32_t job, uid_t user) {
  if (!kills_leftovers()) return;
  forget_job(kJobsFolder, job, user);
  const Result<JobUsers> jobs = noted_jobs(kJobsFolder);
  if (!jobs) {  // another job of the user may have these processes
    slurm_error("slurm-k8s: job %u: leftovers: %s", job, jobs.error().message().c_str());
    return;
  }
  const unsigned killed = kill_leftovers(job, user, *jobs, kKillLimit);
  if (killed) slurm_info("slurm-k8s: job %u: killed %u processes of user %u that outlived the job", job, killed, user);
}

void end_job(uint32_t job, uid_t user) {
  remove_host_names(job);
  kill_leftovers_of(job, user);
  return_gpu_files(job, user);
  forget_user(job);
}

}  // namespace

extern "C" {

SLURMK8S_EXPORT int init(void) { return SLURM_SUCCESS; }

SLURMK8S_EXPORT int fini(void) {
  guarded_void("prep/k8s fini", [] {
    if (is_reloaded()) return;
    held_jobs->reset();
    user_list->reset();
    restore_sbcast();
  });
  return SLURM_SUCCESS;
}

SLURMK8S_EXPORT void prep_p_register_callbacks(prep_callbacks_t* callbacks) {
  guarded_void("prep_p_register_callbacks", [&] { start(*callbacks); });
}

SLURMK8S_EXPORT int prep_p_prolog(job_env_t* job, void* cred) {
  guarded_void("prep_p_prolog", [&] { begin_job(*job, cred); });
  return SLURM_SUCCESS;
}

SLURMK8S_EXPORT int prep_p_epilog(job_env_t* job, void*) {
  guarded_void("prep_p_epilog", [&] { end_job(compat::job_id_of(*job), job->uid); });
  return SLURM_SUCCESS;
}

SLURMK8S_EXPORT int prep_p_prolog_slurmctld(job_record_t* job, bool* async) {
  *async = guarded("prep_p_prolog_slurmctld", false, [&] { return *held_jobs && (*held_jobs)->hold(job); });
  return SLURM_SUCCESS;
}

SLURMK8S_EXPORT int prep_p_epilog_slurmctld(job_record_t*, bool* async) {
  *async = false;
  return SLURM_SUCCESS;
}

SLURMK8S_EXPORT void prep_p_required(prep_call_type_t type, bool* required) {
  *required = type == PREP_PROLOG_SLURMCTLD && in_slurmctld();
}

}  // extern "C"
