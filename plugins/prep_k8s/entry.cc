// SPDX-License-Identifier: GPL-2.0-or-later
// prep/k8s: PrEp plugin of slurmctld. It holds each job's PrologSlurmctld until all of its nodes have registered, so
// that slurmctld launches the job at that moment and not at its next look, up to 30 s later (PERIODIC_TIMEOUT).
//
// In slurmd, which loads the plugins that slurm.conf names, it does nothing.
#include <atomic>
#include <cstdarg>
#include <memory>
#include <string>

#include "base/guarded.hpp"
#include "base/locked.hpp"
#include "base/log.hpp"
#include "common/host.hpp"
#include "core/lock_times.hpp"
#include "prep_k8s/compat.hpp"
#include "prep_k8s/job_id.hpp"
#include "prep_k8s/launches.hpp"

#include <slurm/spank.h>  // slurm_info() and its siblings

using namespace slurmk8s;

extern "C" {
SLURMK8S_EXPORT extern const char plugin_name[] = "PrEp plugin that launches jobs when their pods are up";
SLURMK8S_EXPORT extern const char plugin_type[] = "prep/k8s";
SLURMK8S_EXPORT extern const uint32_t plugin_version = SLURM_VERSION_NUMBER;
}

namespace {

/** What lives from register_callbacks to fini, in slurmctld only. */
struct Plugin {
  SystemClock clock;
  std::unique_ptr<Launches> launches;
  EngineHandle engine;  // last: its thread calls in_control(), which uses the launches
};

std::unique_ptr<Plugin> plugin;
std::atomic<Launches*> launches_of_plugin{nullptr};  // for calls from threads of ours, also while `plugin` is going
Locked<LockTimes> lock_times;

void observe(LockedCall call, TimePoint begin) {
  (*lock_times.lock())[static_cast<std::size_t>(call)].observe(std::chrono::steady_clock::now() - begin);
}

/** Slurm's locks while it lives, and for how long. */
class SlurmLocks {
 public:
  SlurmLocks(const slurmctld_lock_t& levels, LockedCall call) : levels_(levels), call_(call) {
    lock_slurmctld(levels_);
    begin_ = std::chrono::steady_clock::now();
  }
  ~SlurmLocks() {
    unlock_slurmctld(levels_);
    observe(call_, begin_);
  }
  SlurmLocks(const SlurmLocks&) = delete;
  SlurmLocks& operator=(const SlurmLocks&) = delete;

 private:
  const slurmctld_lock_t levels_;
  const LockedCall call_;
  TimePoint begin_;
};

void to_slurm(int level, const char* line) {
  switch (level) {
    case 0: slurm_error("slurm-k8s: %s", line); break;
    case 1: slurm_info("slurm-k8s: warning: %s", line); break;
    case 2: slurm_info("slurm-k8s: %s", line); break;
    default: slurm_debug("slurm-k8s: %s", line); break;
  }
}

void to_slurm_log(LogLevel level, const char* line) { to_slurm(static_cast<int>(level), line); }

std::string slurm_format(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  char* text = vxstrfmt(format, arguments);
  va_end(arguments);
  std::string copy(text ? text : "");
  slurm_xfree(reinterpret_cast<void**>(&text));
  return copy;
}

/** 0 when the text is not understood or names another job: the record's own address has the last word. */
uint32_t id_of(job_record_t* job) {
  const uint32_t id = parse_job_id(slurm_format("%pJ", job));
  return id && find_job_record(id) == job ? id : 0;
}

/** Under the job and node read locks. */
JobState state_of(uint32_t id) {
  job_record_t* job = find_job_record(id);
  if (!job) return JobState::gone;
  if (test_job_nodes_ready(job)) return JobState::ready;
  int ready = 0;
  const int rc = compat::job_node_ready(id, &ready);
  if (rc == EAGAIN) return JobState::waiting;
  // 22.05 doesn't say EAGAIN for a job that is being configured; it is one that runs.
  return rc == SLURM_SUCCESS && (ready & READY_JOB_STATE) ? JobState::waiting : JobState::gone;
}

/**
 * Whether slurmctld is ending or about to start itself anew (reconfigure). The message that launches a job would be
 * dropped then, while the job is saved as one that runs: slurmctld would find out at the node's next full registration,
 * half an hour later (agent() in agent.c; MAX_REG_FREQUENCY in ping_nodes.c). A job that is still being configured is
 * handed to us again instead.
 */
bool is_ending() { return slurmctld_config.shutdown_time != 0; }

std::vector<JobState> look(const std::vector<uint32_t>& jobs) {
  if (is_ending()) return std::vector<JobState>(jobs.size(), JobState::waiting);
  std::vector<JobState> states;
  states.reserve(jobs.size());
  const SlurmLocks locks(compat::job_and_node_read_locks(), LockedCall::look);
  for (const uint32_t job : jobs) states.push_back(state_of(job));
  return states;
}

/** False when the job that was held has nodes that are asked for already: those of another job, or meanwhile. */
bool is_of_use(Wake wake) {
  if (wake != Wake::jobs || !compat::knows_powered_down()) return true;
  const SlurmLocks locks(compat::node_read_lock(), LockedCall::ask);
  return compat::nodes_wait_for_power();
}

/**
 * The power-save thread looks for nodes to resume once a second; after this it does at once. With a ResumeRate or a
 * SuspendRate nothing is done, since config_power_mgr() empties their token buckets.
 */
void wake_power_save(Wake wake) {
  if (is_ending() || !is_of_use(wake)) return;
  const SlurmLocks locks(compat::power_save_locks(), LockedCall::wake);
  if (slurm_conf.resume_rate == 0 && slurm_conf.suspend_rate == 0) config_power_mgr();
}

/**
 * Whether this slurmctld, of several, is in control. Its heartbeat is a lease: no other one takes over before it is
 * SlurmctldTimeout old. One that can't be read now (slurmctld is writing it) doesn't change the answer until then.
 */
int in_control() {
  static time_t at = 0;
  static int holder = -1;
  static bool had = false;
  int index = -1;
  if (const time_t now = get_last_heartbeat(&index)) {
    at = now;
    holder = index;
  }
  const bool has = holder == backup_inx && time(nullptr) - at <= slurm_conf.slurmctld_timeout;
  Launches* launches = launches_of_plugin;
  if (had && !has && launches) launches->forget();
  had = has;
  return has;
}

void start(const prep_callbacks_t& callbacks) {
  if (plugin || !in_slurmctld()) return;
  log_init(to_slurm_log, LogLevel::info);
  auto fresh = std::make_unique<Plugin>();
  const bool one_of_several = slurm_conf.control_cnt > 1 && get_last_heartbeat && &backup_inx;
  fresh->engine.acquire({.log = to_slurm,
                         .in_control = one_of_several ? in_control : nullptr,
                         .lock_times = [](void* times) { *static_cast<LockTimes*>(times) = *lock_times.lock(); }});
  const auto complete = [callback = callbacks.prolog_slurmctld](uint32_t job, bool ok) {
    if (is_ending()) return launches_of_plugin.load()->hold(job);
    callback(ok ? 0 : 1 << 8, job, false);  // a wait status: exit code 1 has the job requeued
  };
  Launches::Host host{look, complete, {}};
  if (config_power_mgr && fresh->engine.wakes_power_save()) host.wake_power_save = wake_power_save;
  fresh->launches = std::make_unique<Launches>(std::move(host), fresh->clock,
                                               std::chrono::seconds(fresh->engine.launch_timeout()));
  launches_of_plugin = fresh->launches.get();
  plugin = std::move(fresh);
}

/** Under slurmctld's job and node write locks: true when the job's launch is held. */
bool hold(job_record_t* job) {
  if (!plugin || test_job_nodes_ready(job)) return false;
  const uint32_t id = id_of(job);
  if (id == 0) {
    slurm_error("slurm-k8s: job id not found: the launch is left to slurmctld's own check every 30 s");
    return false;
  }
  plugin->launches->hold(id);
  return true;
}

}  // namespace

extern "C" {

SLURMK8S_EXPORT int init(void) { return SLURM_SUCCESS; }

SLURMK8S_EXPORT int fini(void) {
  guarded_void("prep/k8s fini", [] {
    plugin.reset();
    launches_of_plugin = nullptr;
  });
  return SLURM_SUCCESS;
}

SLURMK8S_EXPORT void prep_p_register_callbacks(prep_callbacks_t* callbacks) {
  guarded_void("prep_p_register_callbacks", [&] { start(*callbacks); });
}

SLURMK8S_EXPORT int prep_p_prolog(void*, void*) { return SLURM_SUCCESS; }
SLURMK8S_EXPORT int prep_p_epilog(void*, void*) { return SLURM_SUCCESS; }

SLURMK8S_EXPORT int prep_p_prolog_slurmctld(job_record_t* job, bool* async) {
  const TimePoint begin = std::chrono::steady_clock::now();
  *async = guarded("prep_p_prolog_slurmctld", false, [&] {
    const bool held = hold(job);
    observe(LockedCall::hold, begin);
    return held;
  });
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
