// SPDX-License-Identifier: GPL-2.0-or-later
// What the emulator uses of Slurm's own library (libslurmfull, which Debian packages without its headers).
//
// Source: src/common/{slurm_protocol_defs,slurm_protocol_api,msg_type}.h of Slurm 24.11.5. Members that the emulator
// never touches are there for the layout; of long messages only the beginning is declared. The library is
// loaded at run time, and refused when it is of another release: a wrong layout never meets a message.
#pragma once

#include <sys/socket.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <string>

namespace emulator::slurm {

inline constexpr std::uint32_t kNoVal = 0xfffffffe;
inline constexpr std::uint32_t kBatchStep = 0xfffffffb;
inline constexpr int kAlreadyComplete = 4002;       ///< ESLURMD_KILL_JOB_ALREADY_COMPLETE
inline constexpr std::uint16_t kWantsResponse = 2;  ///< SLURMD_REG_FLAG_RESP
inline constexpr std::uint8_t kDynamicNormal = 2;   ///< DYN_NODE_NORM, slurmd -Z

enum MessageType : std::uint16_t {
  kRequestRegistration = 1001,
  kRegistration = 1002,
  kRequestReconfigure = 1003,
  kRequestReconfigureWithConfig = 1004,
  kRequestPing = 1008,
  kRequestHealthCheck = 1011,
  kResponsePing = 1016,
  kRequestBatchJob = 4005,
  kRequestCompleteBatchScript = 5018,
  kRequestSignalTasks = 6004,
  kRequestKillTimelimit = 6009,
  kRequestTerminateJob = 6011,
  kRequestAbortJob = 6013,
  kRequestKillPreempted = 6016,
  kResponseReturnCode = 8001,
};

struct AliasAddresses {
  time_t expiration;
  char* net_cred;
  sockaddr_storage* node_addrs;
  std::uint32_t node_count;
  char* node_list;
};

struct Forward {
  AliasAddresses alias_addrs;
  std::uint16_t count;
  std::uint16_t init;
  char* nodelist;
  std::uint32_t timeout;
  std::uint16_t tree_width;
  std::uint16_t tree_depth;
};

struct Message {  // slurm_msg_t
  sockaddr_storage address;
  void* auth_cred;
  int auth_index;
  uid_t auth_uid;
  gid_t auth_gid;
  bool auth_ids_set;
  uid_t restrict_uid;
  bool restrict_uid_set;
  std::uint32_t body_offset;
  void* buffer;
  void* conn;
  int conn_fd;
  void* conmgr_fd;
  void* data;
  std::uint16_t flags;
  std::uint8_t hash_index;
  std::uint16_t msg_type;
  std::uint16_t protocol_version;
  Forward forward;
  void* forward_struct;
  sockaddr_storage orig_addr;
  void* ret_list;
};

struct StepId {  // slurm_step_id_t
  std::uint64_t sluid;
  std::uint32_t job_id;
  std::uint32_t step_het_comp;
  std::uint32_t step_id;
};

struct Registration {  // slurm_node_registration_status_msg_t
  const char* arch;
  std::uint16_t cores;
  std::uint16_t cpus;
  std::uint32_t cpu_load;
  std::uint8_t dynamic_type;
  const char* dynamic_conf;
  const char* dynamic_feature;
  std::uint16_t flags;
  std::uint64_t free_mem;
  const char* cpu_spec_list;
  void* energy;
  const char* extra;
  const char* features_active;
  const char* features_avail;
  void* gres_info;
  std::uint32_t hash_val;
  const char* hostname;
  const char* instance_id;
  const char* instance_type;
  std::uint32_t job_count;
  const char* node_name;
  std::uint16_t boards;
  const char* os;
  std::uint64_t real_memory;
  time_t slurmd_start_time;
  std::uint32_t status;
  StepId* step_id;
  std::uint16_t sockets;
  std::uint16_t threads;
  time_t timestamp;
  std::uint32_t tmp_disk;
  std::uint32_t up_time;
  const char* version;
};

struct PingAnswer {  // ping_slurmd_resp_msg_t
  std::uint32_t cpu_load;
  std::uint64_t free_mem;
};

struct ReturnCode {  // return_code_msg_t
  std::uint32_t return_code;
};

struct BatchComplete {  // complete_batch_script_msg_t
  void* jobacct;
  std::uint32_t job_id;
  std::uint32_t job_rc;
  std::uint32_t slurm_rc;
  const char* node_name;
  std::uint32_t user_id;
};

struct BatchLaunch {  // the beginning of batch_job_launch_msg_t
  char* account;
  char* acctg_freq;
  char* alias_list;
  std::uint32_t array_job_id;
  std::uint32_t array_task_id;
  char* container;
  std::uint32_t cpu_freq_min;
  std::uint32_t cpu_freq_max;
  std::uint32_t cpu_freq_gov;
  std::uint32_t het_job_id;
  std::uint32_t job_id;
};

struct KillJob {  // the beginning of kill_job_msg_t
  void* cred;
  char* details;
  std::uint32_t derived_ec;
  std::uint32_t exit_code;
  std::uint32_t het_job_id;
  void* job_gres_prep;
  std::uint32_t job_state;
  std::uint32_t job_uid;
  std::uint32_t job_gid;
  char* nodes;
  char** spank_job_env;
  std::uint32_t spank_job_env_size;
  time_t start_time;
  StepId step_id;
};

// Measured with Slurm's own headers.
static_assert(sizeof(Message) == 424 && offsetof(Message, conn_fd) == 184 && offsetof(Message, data) == 200 &&
              offsetof(Message, msg_type) == 212 && offsetof(Message, ret_list) == 416);
static_assert(sizeof(Forward) == 64 && sizeof(StepId) == 24);
static_assert(sizeof(Registration) == 232 && offsetof(Registration, gres_info) == 96 &&
              offsetof(Registration, node_name) == 144 && offsetof(Registration, step_id) == 192 &&
              offsetof(Registration, version) == 224);
static_assert(sizeof(BatchComplete) == 40 && sizeof(PingAnswer) == 16);
static_assert(offsetof(BatchLaunch, job_id) == 56 && offsetof(KillJob, step_id) == 88);

/**
 * Starts this program again with the library before libc, as a program that is linked with it has it: both have a
 * function `error`. Call it first in main(); returns when that is done.
 */
void preload_library(const std::string& path, char** argv);

/** The library's functions; safe to call from any thread. */
struct Library {
  void (*init_message)(Message*);
  void (*set_recipient)(Message*, uid_t);
  int (*receive)(int fd, Message*, int timeout_ms);
  int (*receive_and_forward)(int fd, sockaddr_storage* from, Message*);
  int (*send)(int fd, Message*);
  int (*answer)(Message* request, std::uint16_t type, void* data);
  int (*answer_code)(Message* request, int code);
  void (*free_members)(Message*);
  /** A registration's list of generic resources: none, packed. */
  void* no_gres;

  /**
   * Initializes the library as slurmd does: with slurm.conf and the key of auth/slurm. Prints what is wrong and exits
   * on an error: there is nothing to fall back to.
   */
  static Library init();
};

}  // namespace emulator::slurm
