// SPDX-License-Identifier: GPL-2.0-or-later
// What sbcast_requests.cc uses of slurmctld, per version. Nothing else there tests versions.
//
// Source: src/slurmctld/{proc_req.h,slurmctld.h}, src/stepmgr/stepmgr.h, src/interfaces/auth.h,
// src/common/{identity.h,msg_type.h,slurm_protocol_api.h,slurm_protocol_defs.h} of Slurm 24.11.5.
#pragma once

#include "slurmctld/compat.hpp"

#include "nss/control.h"

struct slurm_msg_t;

namespace slurmk8s::compat {

using RequestHandler = void (*)(slurm_msg_t*);

}  // namespace slurmk8s::compat

#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(24, 11, 0) && SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(25, 5, 0)

extern "C" {

struct buf_t;
struct persist_conn_t;
struct conmgr_fd_t;

/** A request: its first members; more follow. */
struct slurm_msg_t {
  slurm_addr_t address;
  void* auth_cred;
  int auth_index;
  uid_t auth_uid;
  gid_t auth_gid;
  bool auth_ids_set;
  uid_t restrict_uid;
  bool restrict_uid_set;
  uint32_t body_offset;
  buf_t* buffer;
  persist_conn_t* conn;
  int conn_fd;
  conmgr_fd_t* conmgr_fd;
  void* data;
  uint16_t flags;
  uint8_t hash_index;
  uint16_t msg_type;
  uint16_t protocol_version;
};

/** How slurmctld answers a kind of requests: its first members; more follow. */
struct slurmctld_rpc_t {
  uint16_t msg_type;
  void (*func)(slurm_msg_t* msg);
};

/** Null: slurmctld does not know the kind. */
slurmctld_rpc_t* find_rpc(uint16_t msg_type) SLURMK8S_WEAK;
/** Whether the user may ask, and the job runs. Of a job that is there. Configuration, job and node read locks. */
int job_alloc_info_ptr(uint32_t uid, job_record_t* job_ptr) SLURMK8S_WEAK;
job_record_t* find_het_job_record(uint32_t job_id, uint32_t het_job_id) SLURMK8S_WEAK;
int stepmgr_get_job_sbcast_cred_msg(job_record_t* job_ptr, slurm_step_id_t* step_id, char* hetjob_nodelist,
                                    uint16_t protocol_version,
                                    job_sbcast_cred_msg_t** out_sbcast_cred_msg) SLURMK8S_WEAK;
int slurm_send_rc_msg(slurm_msg_t* request_msg, int rc) SLURMK8S_WEAK;
/** The user as the client has said, an identity_t; null where clients do not. The caller destroys it. */
void* auth_g_get_identity(void* cred) SLURMK8S_WEAK;
void destroy_identity(identity_t* id) SLURMK8S_WEAK;

}  // extern "C"

namespace slurmk8s::compat {

/** msg_type.h. */
inline constexpr uint16_t kRequestJobSbcastCred = 4023;

/** Where slurmctld has its function for sbcast's requests. Null: not in this slurmctld, or not in this version. */
inline RequestHandler* sbcast_handler() {
  if (!find_rpc || !job_alloc_info_ptr || !find_het_job_record || !stepmgr_get_job_sbcast_cred_msg ||
      !slurm_send_rc_msg || !auth_g_get_identity || !destroy_identity) {
    return nullptr;
  }
  slurmctld_rpc_t* const entry = find_rpc(kRequestJobSbcastCred);
  return entry ? &entry->func : nullptr;
}

inline step_alloc_info_msg_t& sbcast_request(slurm_msg_t* message) {
  return *static_cast<step_alloc_info_msg_t*>(message->data);
}

/**
 * Makes a credential for the request, and drops it: SLURM_SUCCESS, or Slurm's error. Success, too, where Slurm's own
 * function refuses the request before it makes one. Takes Slurm's locks.
 */
inline int try_sbcast_credential(slurm_msg_t* message) {
  step_alloc_info_msg_t& request = sbcast_request(message);
  slurmctld_lock_t levels{};
  levels.conf = levels.job = levels.node = READ_LOCK;
  int error = SLURM_SUCCESS;
  job_sbcast_cred_msg_t* answer = nullptr;
  lock_slurmctld(levels);
  job_record_t* const job = request.het_job_offset == NO_VAL
                                ? find_job_record(request.step_id.job_id)
                                : find_het_job_record(request.step_id.job_id, request.het_job_offset);
  if (job && job_alloc_info_ptr(message->auth_uid, job) == SLURM_SUCCESS) {
    error = stepmgr_get_job_sbcast_cred_msg(job, &request.step_id, nullptr, message->protocol_version, &answer);
  }
  unlock_slurmctld(levels);
  if (answer) slurm_free_sbcast_cred_msg(answer);
  return error;
}

/** The request is for the whole job from now on, not for a step of it. */
inline void ask_for_whole_job(slurm_msg_t* message) { sbcast_request(message).step_id.step_id = NO_VAL; }

inline uint32_t sbcast_job(slurm_msg_t* message) { return sbcast_request(message).step_id.job_id; }

inline void refuse(slurm_msg_t* message, int error) { slurm_send_rc_msg(message, error); }

/** Calls `read` with the user whom the request is of, or with null where the client does not say. */
template <typename Fn>
void with_client(slurm_msg_t* message, Fn&& read) {
  struct Client {
    identity_t* id;
    ~Client() {
      if (id) destroy_identity(id);
    }
  } const client{static_cast<identity_t*>(auth_g_get_identity(message->auth_cred))};
  if (!client.id || client.id->fake || client.id->uid != message->auth_uid) {
    read(static_cast<const slurm_k8s_user*>(nullptr));
    return;
  }
  const slurm_k8s_user user{client.id->uid,    client.id->gid,      client.id->pw_name, client.id->pw_gecos,
                            client.id->pw_dir, client.id->pw_shell, client.id->ngids,   client.id->gids};
  read(&user);
}

}  // namespace slurmk8s::compat

#else

namespace slurmk8s::compat {

inline RequestHandler* sbcast_handler() { return nullptr; }
inline int try_sbcast_credential(slurm_msg_t*) { return SLURM_SUCCESS; }
inline void ask_for_whole_job(slurm_msg_t*) {}
inline uint32_t sbcast_job(slurm_msg_t*) { return 0; }
inline void refuse(slurm_msg_t*, int) {}
template <typename Fn>
void with_client(slurm_msg_t*, Fn&& read) {
  read(static_cast<const slurm_k8s_user*>(nullptr));
}

}  // namespace slurmk8s::compat

#endif
