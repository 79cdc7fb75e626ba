// SPDX-License-Identifier: GPL-2.0-or-later
// What our plugins use of slurmctld beyond Slurm's public headers, per version. Nothing else in plugins/slurmctld and
// plugins/prep_k8s tests versions.
//
// Source: src/interfaces/prep.h, src/common/{assoc_mgr.h,bitstring.h,read_config.h,
// slurm_protocol_defs.h,xmalloc.h},
// src/common/identity.h, src/interfaces/cred.h, src/slurmctld/{agent.h,heartbeat.h,locks.h,ping_nodes.h,slurmctld.h},
// src/slurmd/slurmd/slurmd.h of Slurm 22.05.8, 24.11.5 and 26.05.3.
// slurmctld refuses a plugin of another micro release, so these declarations only ever meet the version they were
// compiled for.
// The functions are weak: slurmd loads the plugin too (it reads the controller's slurm.conf) and has none of them.
#pragma once

#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <slurm/slurm_version.h>
#include <slurm/slurmdb.h>
#include <slurm/spank.h>  // slurm_info() and its siblings

#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstring>
#include <ctime>

#include <pthread.h>

#include "slurmctld/identity_compat.hpp"

extern "C" {

struct job_record_t;
struct node_record_t;

enum lock_level_t { NO_LOCK, READ_LOCK, WRITE_LOCK };

struct slurmctld_lock_t {
  lock_level_t conf;
  lock_level_t job;
  lock_level_t node;
  lock_level_t part;
  lock_level_t fed;
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(26, 5, 0)
  lock_level_t select_node;
#endif
};

/** Of Slurm's lists of users, accounts and limits. */
struct assoc_mgr_lock_t {
  lock_level_t assoc;
  lock_level_t file;
  lock_level_t qos;
  lock_level_t res;
  lock_level_t tres;
  lock_level_t user;
  lock_level_t wckey;
};

struct prep_callbacks_t {
  void (*prolog_slurmctld)(int rc, uint32_t job_id, bool timed_out);
  void (*epilog_slurmctld)(int rc, uint32_t job_id, bool timed_out);
};

enum prep_call_type_t {
  PREP_REGISTER_CALLBACKS,
  PREP_PROLOG,
  PREP_EPILOG,
  PREP_PROLOG_SLURMCTLD,
  PREP_EPILOG_SLURMCTLD,
};

/** What slurmd hands to a prolog and an epilog (job_env_t). */
struct job_env_t {
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(25, 11, 0)
  slurm_step_id_t step_id;
#elif SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(24, 5, 0)
  int (*container_join)(uint32_t job_id, uid_t uid);
#endif
  uint32_t derived_ec;
  uint32_t exit_code;
  char** gres_job_env;
  uint32_t het_job_id;
#if SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(25, 11, 0)
  uint32_t jobid;
  uint32_t step_id;
#endif
  char* node_aliases;
  char* node_list;
  char* partition;
  char** spank_job_env;
  uint32_t spank_job_env_size;
  uid_t uid;
  gid_t gid;
#if SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(24, 5, 0)
  char* user_name;
#endif
  char* work_dir;
};

#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(24, 5, 0)
struct slurm_cred_t;
/** A job's credential: its first members; more follow. */
struct slurm_cred_arg_t {
  slurm_step_id_t step_id;
  uid_t uid;
  gid_t gid;
  identity_t* id;
};
#endif

/** Its first members; more follow. */
struct slurmctld_config_t {
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 2, 0)
  void* acct_update_list;
  pthread_cond_t acct_update_cond;
  pthread_mutex_t acct_update_lock;
#endif
  pthread_cond_t backup_finish_cond;
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 11, 2)
  pthread_mutex_t backup_finish_lock;
#endif
  time_t boot_time;
#if SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(23, 11, 0)
  int daemonize;
#endif
  char node_name_long[HOST_NAME_MAX];
  char node_name_short[HOST_NAME_MAX];
  bool resume_backup;
  bool scheduling_disabled;
  int server_thread_count;
  time_t shutdown_time;
};

/** Its first value; more follow. */
enum slurm_msg_type_t { REQUEST_NODE_REGISTRATION_STATUS = 1001 };

/** A message for slurmds: all of its members, since we make them. */
struct agent_arg_t {
  uint32_t node_count;
  uint16_t retry;
  uid_t r_uid;
  bool r_uid_set;
  slurm_addr_t* addr;
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 11, 0)
  hostlist_t* hostlist;
#else
  hostlist_t hostlist;
#endif
  uint16_t protocol_version;
  slurm_msg_type_t msg_type;
  void* msg_args;
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 11, 0)
  uint16_t msg_flags;
#endif
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(25, 5, 0)
  char* tls_cert;
#endif
};

/** A line NodeName=… of slurm.conf: its first members; more follow. */
struct slurm_conf_node_t {
  char* nodenames;
  char* hostnames;
  char* addresses;
};

#define SLURMK8S_WEAK __attribute__((weak))
/** After slurmctld's own locks, where both are held. */
void assoc_mgr_lock(assoc_mgr_lock_t* locks) SLURMK8S_WEAK;
void assoc_mgr_unlock(assoc_mgr_lock_t* locks) SLURMK8S_WEAK;
/** Of slurmdb_user_rec_t; null: slurmctld has not got it, or there is no accounting. Lock `user`. */
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(24, 5, 0)
extern list_t* assoc_mgr_user_list SLURMK8S_WEAK;
#else
extern List assoc_mgr_user_list SLURMK8S_WEAK;
#endif
void lock_slurmctld(slurmctld_lock_t levels) SLURMK8S_WEAK;
void unlock_slurmctld(slurmctld_lock_t levels) SLURMK8S_WEAK;
job_record_t* find_job_record(uint32_t job_id) SLURMK8S_WEAK;
bool test_job_nodes_ready(job_record_t* job) SLURMK8S_WEAK;
/** Reads the settings of power saving again, as each reconfigure does, and wakes the power-save thread. */
void config_power_mgr(void) SLURMK8S_WEAK;
#if SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(23, 11, 0)
/** Rebuilds SLURM_NODE_ALIASES of a job from its nodes. Job write and node read locks. */
void set_job_alias_list(job_record_t* job) SLURMK8S_WEAK;
#endif
/** Whether a job that runs or is being configured has a node of the map, or a licence of the list (may be null). */
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 2, 0)
bool job_overlap_and_running(bitstr_t* node_map, list_t* license_list, job_record_t* job) SLURMK8S_WEAK;
#else
bool job_overlap_and_running(bitstr_t* node_map, job_record_t* job) SLURMK8S_WEAK;
#endif
/** The nodes of a hostlist; the caller frees the bitmap. Node read lock. */
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(24, 11, 0)
int node_name2bitmap(char* names, bool test_alias, bitstr_t** bits, hostlist_t** invalid_hostlist) SLURMK8S_WEAK;
#else
int node_name2bitmap(char* names, bool best_effort, bitstr_t** bits) SLURMK8S_WEAK;
#endif
/** Null, and nothing is logged, when there is no such node. Node read lock. */
node_record_t* find_node_record_no_alias(char* name) SLURMK8S_WEAK;
/**
 * Queues a message, which a thread of slurmctld's sends soon, and frees. Without slurmctld's locks: it takes mutexes of
 * its own for a moment.
 */
void agent_queue_request(agent_arg_t* agent_arg_ptr) SLURMK8S_WEAK;
/** Whom the message is for: required. */
void set_agent_arg_r_uid(agent_arg_t* agent_arg_ptr, uid_t r_uid) SLURMK8S_WEAK;
/** Before each message that counts as a ping: slurmctld counts its end. */
void ping_begin(void) SLURMK8S_WEAK;
/** Memory that slurmctld frees; zeroed when `clear`. */
void* slurm_xcalloc(size_t count, size_t item_size, bool clear, bool may_fail, const char* file, int line,
                    const char* function) SLURMK8S_WEAK;
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 11, 0)
hostlist_t* slurm_hostlist_create(const char* hostlist) SLURMK8S_WEAK;
#else
hostlist_t slurm_hostlist_create(const char* hostlist) SLURMK8S_WEAK;
#endif
/** Makes the scheduler thread run now. Takes none of slurmctld's locks. */
void schedule(bool full_queue) SLURMK8S_WEAK;
extern slurm_conf_t slurm_conf SLURMK8S_WEAK;
/** The number of these lines, and the lines. Takes no lock: only while slurmctld is starting. */
int slurm_conf_nodename_array(slurm_conf_node_t** lines[]) SLURMK8S_WEAK;
extern slurmctld_config_t slurmctld_config SLURMK8S_WEAK;
/** Nodes by what they are; null until slurmctld has made its records. Slurm's node lock. */
extern bitstr_t* idle_node_bitmap SLURMK8S_WEAK;
extern bitstr_t* up_node_bitmap SLURMK8S_WEAK;  // not DOWN
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(24, 5, 0)
extern bitstr_t* power_down_node_bitmap SLURMK8S_WEAK;
#else
extern bitstr_t* power_node_bitmap SLURMK8S_WEAK;
#endif
bitstr_t* bit_copy(bitstr_t* bits) SLURMK8S_WEAK;
void bit_and(bitstr_t* bits, bitstr_t* others) SLURMK8S_WEAK;
void bit_and_not(bitstr_t* bits, bitstr_t* others) SLURMK8S_WEAK;
int32_t bit_set_count(bitstr_t* bits) SLURMK8S_WEAK;
void slurm_bit_free(bitstr_t** bits) SLURMK8S_WEAK;
/**
 * When the slurmctld in control last said so in StateSaveLocation, and its place in SlurmctldHost; 0: can't be read.
 */
time_t get_last_heartbeat(int* server_inx) SLURMK8S_WEAK;
/** Our own place in SlurmctldHost; set before plugins are loaded. */
extern int backup_inx SLURMK8S_WEAK;
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(25, 11, 0)
int job_node_ready(slurm_step_id_t* step_id, int* ready) SLURMK8S_WEAK;
#else
int job_node_ready(uint32_t job_id, int* ready) SLURMK8S_WEAK;
#endif
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(24, 5, 0)
/** Takes the credential's lock, until the other one is called. */
slurm_cred_arg_t* slurm_cred_get_args(slurm_cred_t* cred) SLURMK8S_WEAK;
void slurm_cred_unlock_args(slurm_cred_t* cred) SLURMK8S_WEAK;
#endif
/** Slurm's own printf, which knows "%pJ" (JobId=5, JobId=5_1(6), JobId=5+1(6)): the only public way to a job's id. */
char* vxstrfmt(const char* format, va_list arguments);
void slurm_xfree(void** text);

}  // extern "C"

namespace slurmk8s::compat {

/** job_node_ready() with a job id in every version. Slurm's job and node read locks held. */
inline int job_node_ready(uint32_t job_id, int* ready) {
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(25, 11, 0)
  slurm_step_id_t id = SLURM_STEP_ID_INITIALIZER;
  id.job_id = job_id;
  return ::job_node_ready(&id, ready);
#else
  return ::job_node_ready(job_id, ready);
#endif
}

/** Whether this slurmctld has what the two functions below call. */
inline bool knows_jobs_nodes() {
  return job_overlap_and_running && node_name2bitmap && find_node_record_no_alias && slurm_bit_free;
}

/** The nodes of a hostlist, all of which exist; the caller frees it. Null: it can't be read. Node read lock. */
inline bitstr_t* bitmap_of(char* hostlist) {
  bitstr_t* bits = nullptr;
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(24, 11, 0)
  const int rc = node_name2bitmap(hostlist, false, &bits, nullptr);
#else
  const int rc = node_name2bitmap(hostlist, false, &bits);
#endif
  if (rc != SLURM_SUCCESS && bits) slurm_bit_free(&bits);
  return rc == SLURM_SUCCESS ? bits : nullptr;
}

/** Whether a job that runs or is being configured has one of the nodes. Job and node read locks. */
inline bool has_node_of(job_record_t* job, bitstr_t* nodes) {
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 2, 0)
  return job_overlap_and_running(nodes, nullptr, job);
#else
  return job_overlap_and_running(nodes, job);
#endif
}

/** The job of a prolog or an epilog; it is in another member from 25.11 on. */
inline uint32_t job_id_of(const job_env_t& job) {
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(25, 11, 0)
  return job.step_id.job_id;
#else
  return job.jobid;
#endif
}

/** Whether the step is a batch script, whose output goes to a file. */
inline bool is_batch(const job_env_t& job) {
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(25, 11, 0)
  return job.step_id.step_id == SLURM_BATCH_SCRIPT;
#else
  return job.step_id == SLURM_BATCH_SCRIPT;
#endif
}

#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(24, 5, 0)
using Identity = identity_t;
#else
/** Slurm has none. */
struct Identity {
  uid_t uid;
  gid_t gid;
  const char* pw_name;
  const char* pw_gecos;
  const char* pw_dir;
  const char* pw_shell;
  int ngids;
  const gid_t* gids;
  const char* const* gr_names;
};
#endif

/** Calls `read` with the credential's Identity, if there is one. Slurm 22.05 has none. */
template <typename Fn>
void with_identity([[maybe_unused]] slurm_cred_t* cred, [[maybe_unused]] Fn&& read) {
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(24, 5, 0)
  if (!cred || !slurm_cred_get_args || !slurm_cred_unlock_args) return;
  struct Unlock {
    slurm_cred_t* cred;
    ~Unlock() { slurm_cred_unlock_args(cred); }
  } const unlock{cred};
  const slurm_cred_arg_t* arguments = slurm_cred_get_args(cred);
  if (arguments && arguments->id && !arguments->id->fake) read(*arguments->id);
#endif
}

/**
 * Whether slurmctld may wait for itself when it has no list of users: job_mgr_signal_jobs() came with 23.11.6. Its
 * source in 26.05.3 is the same.
 */
inline constexpr bool kWaitsForUserList = SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 11, 0);

/** Whether this slurmctld has what user_list.cc uses. */
inline bool knows_user_list() { return &assoc_mgr_user_list && assoc_mgr_lock && assoc_mgr_unlock; }

/** Whether slurmctld gets its users from somewhere. While slurmctld starts; it does not change later. */
inline bool has_accounting(const slurm_conf_t& conf) {
  return conf.accounting_storage_type && !strcasestr(conf.accounting_storage_type, "none");
}

/** For the list of users. */
inline assoc_mgr_lock_t user_write_lock() {
  assoc_mgr_lock_t levels{};
  levels.user = WRITE_LOCK;
  return levels;
}

inline slurmctld_lock_t job_and_node_read_locks() {
  slurmctld_lock_t levels{};
  levels.job = READ_LOCK;
  levels.node = READ_LOCK;
  return levels;
}

/**
 * Whether a slurmctld that restarts forgets where the nodes of its jobs are: before 23.11 their addresses are a part of
 * the job that isn't saved (alias_list), and is made when the job gets its nodes. A step finds none of its nodes then.
 */
inline constexpr bool kForgetsAddresses = SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(23, 11, 0);

inline slurmctld_lock_t job_write_and_node_read_locks() {
  slurmctld_lock_t levels{};
  levels.job = WRITE_LOCK;
  levels.node = READ_LOCK;
  return levels;
}

/** Job write and node read locks; a job whose nodes are up. */
inline void remember_addresses([[maybe_unused]] job_record_t* job) {
#if SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(23, 11, 0)
  if (set_job_alias_list) set_job_alias_list(job);
#endif
}

/** For slurm_conf. */
inline slurmctld_lock_t conf_read_lock() {
  slurmctld_lock_t levels{};
  levels.conf = READ_LOCK;
  return levels;
}

inline slurmctld_lock_t node_read_lock() {
  slurmctld_lock_t levels{};
  levels.node = READ_LOCK;
  return levels;
}

/** Number of this release's protocol: SLURM_26_05_PROTOCOL_VERSION is 45 << 8. */
inline constexpr uint16_t kProtocolRelease = SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(26, 5, 0)    ? 45
                                             : SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(25, 11, 0) ? 44
                                             : SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(25, 5, 0)  ? 43
                                             : SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(24, 11, 0) ? 42
                                             : SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(24, 5, 0)  ? 41
                                             : SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 11, 0) ? 40
                                             : SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 2, 0)  ? 39
                                                                                                    : 38;

/** Each slurmd that may register with this slurmctld knows it: of three former releases, before 24.11 of two. */
inline constexpr uint16_t kOldestProtocol = (kProtocolRelease - (kProtocolRelease >= 42 ? 3 : 2)) << 8;

/** Whether this slurmctld has what ask_registration() calls. */
inline bool can_ask_registration() {
  return agent_queue_request && set_agent_arg_r_uid && ping_begin && slurm_xcalloc && slurm_hostlist_create;
}

/**
 * Has slurmctld ask the slurmd of a node to register, as ping_nodes() does for some nodes at each ping. A message for
 * one node is never forwarded by another slurmd, which may not know the node's address.
 */
inline void ask_registration(const char* node) {
  constexpr uid_t kAnyUser = static_cast<uid_t>(-1);  // SLURM_AUTH_UID_ANY
  auto* message =
      static_cast<agent_arg_t*>(slurm_xcalloc(1, sizeof(agent_arg_t), true, false, __FILE__, __LINE__, __func__));
  message->node_count = 1;
  message->hostlist = slurm_hostlist_create(node);
  message->protocol_version = kOldestProtocol;
  message->msg_type = REQUEST_NODE_REGISTRATION_STATUS;
  set_agent_arg_r_uid(message, kAnyUser);
  ping_begin();
  agent_queue_request(message);
}

/** Whether config_power_mgr() wakes the power-save thread: before 23.11 that sleeps for a second, whatever happens. */
inline constexpr bool kWakesPowerSave = SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 11, 0);

/** Whether ResumeRate or SuspendRate is set: config_power_mgr() empties their token buckets. */
inline bool has_power_rate(const slurm_conf_t& conf) { return conf.resume_rate != 0 || conf.suspend_rate != 0; }

/** Whether this slurmctld has what nodes_wait_for_power() reads. */
inline bool knows_powered_down() {
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(24, 5, 0)
  const bool powered_down = &power_down_node_bitmap;
#else
  const bool powered_down = &power_node_bitmap;
#endif
  return powered_down && &idle_node_bitmap && &up_node_bitmap && bit_copy && bit_and && bit_and_not && bit_set_count &&
         slurm_bit_free;
}

/**
 * Whether a job has been given a node that is still powered down, so that the power-save thread has work. Node read
 * lock.
 */
inline bool nodes_wait_for_power() {
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(24, 5, 0)
  bitstr_t* const powered_down = power_down_node_bitmap;
#else
  bitstr_t* const powered_down = power_node_bitmap;
#endif
  if (!powered_down || !idle_node_bitmap || !up_node_bitmap) return false;
  bitstr_t* bits = bit_copy(powered_down);
  bit_and(bits, up_node_bitmap);
  bit_and_not(bits, idle_node_bitmap);
  const bool wait = bit_set_count(bits) > 0;
  slurm_bit_free(&bits);
  return wait;
}

/** What config_power_mgr() is called under: the power-save thread's own work needs the node write lock, too. */
inline slurmctld_lock_t power_save_locks() {
  slurmctld_lock_t levels{};
  levels.conf = READ_LOCK;
  levels.node = WRITE_LOCK;
  levels.part = READ_LOCK;
  return levels;
}

}  // namespace slurmk8s::compat
