// SPDX-License-Identifier: GPL-2.0-or-later
// What HeldJobs asks of slurmctld, and under which of its locks.
#include "slurmctld/held_jobs.hpp"

#include <atomic>
#include <cstdarg>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/locked.hpp"
#include "base/log.hpp"
#include "base/undestroyed.hpp"
#include "engine/c_api/lock_times_struct.hpp"
#include "slurmctld/compat.hpp"
#include "slurmctld/heartbeat.hpp"
#include "slurmctld/job_id.hpp"
#include "slurmctld/occupied_nodes.hpp"
#include "slurmctld/power_programs.hpp"

namespace slurmk8s {
namespace {

/**
 * The hook, under slurmctld's write locks, asks about no more jobs with pods, and looks up no more of their nodes. With
 * more, the launch thread asks.
 */
constexpr std::size_t kMaxAskedByHook = 200;
constexpr std::size_t kMaxNamesInHook = 1000;

// For the engine's thread and the launch thread, while HeldJobs is there.
std::atomic<Launches*> launches_here{nullptr};
std::atomic<PodJobs*> pod_jobs_here{nullptr};
/** Its heartbeat is late, and no other slurmctld has taken over: nothing is launched. */
std::atomic<bool> is_silent{false};
Undestroyed<Locked<LockTimes>> lock_times;

void observe(LockedCall call, TimePoint begin) {
  (*lock_times->lock())[static_cast<std::size_t>(call)].observe(std::chrono::steady_clock::now() - begin);
}

/** Holds Slurm's locks, and measures for how long. */
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

/** 0 for an unknown text, or one of another job: the record's address decides. */
uint32_t id_of(job_record_t* job) {
  const uint32_t id = parse_job_id(slurm_format("%pJ", job));
  return id && find_job_record(id) == job ? id : 0;
}

/**
 * Whether pods of jobs that are over may be on nodes of a job. Under the job and node read locks, as long as it is
 * there.
 */
class PodGate {
 public:
  explicit PodGate(PodJobs* pods) : is_unknown_(pods && pods->is_unknown()) {
    if (pods) occupied_.emplace(*pods->on_nodes());
  }
  bool blocks(job_record_t* job) const { return is_unknown_ || (occupied_ && occupied_->has_node_of(job)); }

 private:
  const bool is_unknown_;
  std::optional<OccupiedNodes> occupied_;
};

/** Under the job and node read locks. */
JobState state_of(uint32_t id, const PodGate& gate) {
  job_record_t* job = find_job_record(id);
  if (!job) return JobState::gone;
  if (test_job_nodes_ready(job)) return gate.blocks(job) ? JobState::waiting : JobState::ready;
  int ready = 0;
  const int rc = compat::job_node_ready(id, &ready);
  if (rc == EAGAIN) return JobState::waiting;
  // 22.05 returns no EAGAIN for a job that is being configured, but says that it runs.
  return rc == SLURM_SUCCESS && (ready & READY_JOB_STATE) ? JobState::waiting : JobState::gone;
}

std::vector<JobState> poll_jobs(const std::vector<uint32_t>& jobs) {
  if (is_ending() || is_silent) return std::vector<JobState>(jobs.size(), JobState::waiting);
  std::vector<JobState> states;
  states.reserve(jobs.size());
  const SlurmLocks locks(compat::job_and_node_read_locks(), LockedCall::poll);
  const PodGate gate(pod_jobs_here);
  for (const uint32_t job : jobs) states.push_back(state_of(job, gate));
  return states;
}

/** Of the bridge's jobs; none when slurmctld is ending. */
std::vector<bool> poll_pod_jobs(const std::vector<uint32_t>& jobs) {
  std::vector<bool> running;
  if (is_ending()) return running;
  const SlurmLocks locks(compat::job_and_node_read_locks(), LockedCall::poll);
  for (const uint32_t job : jobs) running.push_back(is_launched(job));
  return running;
}

/** For the engine, while HeldJobs is there. */
uint64_t set_pod_jobs(const slurm_k8s_pod_job* jobs, size_t count, int is_all) {
  PodJobs::Change change;
  change.is_all = is_all != 0;
  for (size_t i = 0; i < count; ++i) {
    if (jobs[i].nodes) {
      change.nodes[jobs[i].id] = {jobs[i].nodes, jobs[i].over};
    } else {
      change.gone.insert(jobs[i].id);
    }
  }
  PodJobs* pod_jobs = pod_jobs_here;
  return pod_jobs ? pod_jobs->set(change) : 0;
}

/** For versions of slurmctld that lose them in a restart, after which the job is held again. */
void remember_addresses(uint32_t id) {
  const SlurmLocks locks(compat::job_write_and_node_read_locks(), LockedCall::poll);
  job_record_t* job = find_job_record(id);
  if (job && test_job_nodes_ready(job)) compat::remember_addresses(job);
}

/** False when the nodes of the held jobs are already being resumed. */
bool is_wake_needed(Wake wake) {
  if (wake != Wake::jobs || !compat::knows_powered_down()) return true;
  const SlurmLocks locks(compat::node_read_lock(), LockedCall::check_power_save);
  return compat::nodes_wait_for_power();
}

/** ResumeProgram, SuspendProgram, ResumeFailProgram. */
std::vector<std::string> power_programs() {
  const SlurmLocks locks(compat::conf_read_lock(), LockedCall::check_power_save);
  std::vector<std::string> programs;
  for (const char* program : {slurm_conf.resume_program, slurm_conf.suspend_program, slurm_conf.resume_fail_program}) {
    if (program) programs.emplace_back(program);
  }
  return programs;
}

/**
 * The power-save thread looks for nodes to resume once a second; this wakes it at once. With a ResumeRate or a
 * SuspendRate it does nothing, since config_power_mgr() empties their token buckets. config_power_mgr() also checks the
 * programs under these locks; PowerPrograms ensures that this does not block.
 */
void wake_power_save(Wake wake) {
  if (is_ending() || !is_wake_needed(wake)) return;
  static Undestroyed<PowerPrograms> programs;  // the launch thread's
  const std::string problem = programs->find_problem(power_programs());
  static LogLimiter limiter{std::chrono::minutes(1)};
  unsigned suppressed = 0;
  if (!problem.empty()) {
    if (limiter.allow(std::chrono::steady_clock::now(), suppressed)) {
      log_warning("power-save thread not woken: %s", problem.c_str());
    }
    return;
  }
  const SlurmLocks locks(compat::power_save_locks(), LockedCall::wake_power_save);
  if (!compat::has_power_rate(slurm_conf)) config_power_mgr();
}

/** Whether this slurmctld, of several, is in control. */
int in_control() {
  static Heartbeat heartbeat;
  static bool had = false;
  Heartbeat::Beat beat;
  beat.written = get_last_heartbeat(&beat.holder);
  const bool has =
      heartbeat.is_held_by(backup_inx, beat, std::chrono::seconds(slurm_conf.slurmctld_timeout), SystemClock());
  // A full disk makes it silent. Then this one keeps its jobs: nothing else calls the hook for them again.
  const bool is_lost = had && heartbeat.is_held_by_other(backup_inx);
  is_silent = had && !has && !is_lost;
  Launches* launches = launches_here;
  if (is_lost && launches) launches->forget();
  PodJobs* pod_jobs = pod_jobs_here;
  if (is_lost && pod_jobs) pod_jobs->forget();
  had = has || is_silent;
  return has;
}

/** For the engine, while HeldJobs is there. */
void wake_power_save_soon() {
  if (Launches* launches = launches_here) launches->wake_power_save();
}

int copy_lock_times(slurm_k8s_lock_times* times) { return export_lock_times(*lock_times->lock(), times); }

void wake_scheduler() {
  if (!is_ending() && schedule) schedule(false);
}

void ask_registration(const char* node) {
  if (!is_ending()) compat::ask_registration(node);
}

/** From 23.11 on a reconfiguration is a new process, which has the sockets of the former one (reconfigure_slurm()). */
int was_away() { return std::getenv("SLURMCTLD_RECONF") ? 0 : 1; }

void check_launch_timeout(long timeout) {
  if (timeout == 0 || timeout > slurm_conf.resume_timeout) return;
  slurm_error(
      "slurm-k8s: LaunchTimeout=%ld must be longer than ResumeTimeout=%d: jobs are requeued while their "
      "nodes still power up",
      timeout, static_cast<int>(slurm_conf.resume_timeout));
}

}  // namespace

bool is_ending() { return slurmctld_config.shutdown_time != 0; }
bool is_reloaded() { return in_slurmctld() && !is_ending(); }

HeldJobs::HeldJobs(Complete complete, std::function<void()> polled) {
  log_init(to_slurm_log, LogLevel::info);
  const bool one_of_several = slurm_conf.control_cnt > 1 && get_last_heartbeat && &backup_inx;
  engine_.acquire({.size = sizeof(slurm_k8s_host),
                   .log = to_slurm,
                   .in_control = one_of_several ? in_control : nullptr,
                   .lock_times = copy_lock_times,
                   .wake_power_save = wake_power_save_soon,
                   .wake_scheduler = wake_scheduler,
                   .set_pod_jobs = set_pod_jobs,
                   .pod_job_size = sizeof(slurm_k8s_pod_job),
                   .ask_registration = compat::can_ask_registration() ? ask_registration : nullptr,
                   .was_away = was_away});
  start_pod_jobs();
  Launches::Host host;
  host.poll = [polled = std::move(polled)](const std::vector<uint32_t>& jobs) {
    std::vector<JobState> states = poll_jobs(jobs);
    if (polled) polled();
    return states;
  };
  host.complete = [this, complete = std::move(complete)](uint32_t job, bool ok) {
    if (is_ending() || is_silent) return launches_->hold(job);
    if (compat::kForgetsAddresses && ok) remember_addresses(job);
    complete(job, ok);
    pod_jobs_->look(job);
  };
  if (compat::kWakesPowerSave && config_power_mgr && engine_.wakes_power_save()) host.wake_power_save = wake_power_save;
  const long timeout = engine_.launch_timeout();
  check_launch_timeout(timeout);
  launches_.emplace(std::move(host), clock_, std::chrono::seconds(timeout));
  launches_here = &*launches_;
}

void HeldJobs::start_pod_jobs() {
  PodJobs::Host host;
  host.poll = poll_pod_jobs;
  host.report = [this](uint64_t number, const PodJobs::Running& changed) {
    std::vector<slurm_k8s_pod_job_state> states;
    for (const auto& [job, runs] : changed) states.push_back({job, runs ? 1 : 0});
    engine_.report_pod_jobs(number, states);
  };
  pod_jobs_.emplace(std::move(host), clock_, engine_.has_bridge());
  pod_jobs_here = &*pod_jobs_;
}

HeldJobs::~HeldJobs() {
  pod_jobs_->stop();  // it calls the engine
  engine_.release();
  launches_here = nullptr;
  launches_.reset();
  pod_jobs_here = nullptr;
}

bool HeldJobs::hold(job_record_t* job) {
  const TimePoint begin = std::chrono::steady_clock::now();
  const bool may_ask = pod_jobs_->on_nodes()->size() <= kMaxAskedByHook && pod_jobs_->name_count() <= kMaxNamesInHook;
  if (may_ask && test_job_nodes_ready(job) && !PodGate(pod_jobs_here).blocks(job)) {
    if (pod_jobs_->has_jobs()) pod_jobs_->look(id_of(job));
    return false;
  }
  const uint32_t id = id_of(job);
  if (id == 0) {
    slurm_error("slurm-k8s: job id not found; slurmctld launches the job at its own check, within 30 s");
    return false;
  }
  launches_->hold(id);
  observe(LockedCall::hold_launch, begin);
  return true;
}

}  // namespace slurmk8s
