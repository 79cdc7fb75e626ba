// SPDX-License-Identifier: GPL-2.0-or-later
// Slurm over its RPCs: libslurm's public functions behind slurm/slurm.hpp. The only file that includes slurm/slurm.h
// for programs; in a shared object its functions are those of the process (slurmctld).
//
// libslurm reports an error by errno, which holds one of Slurm's codes. The sentence that slurmctld sends beside the
// code isn't handed out by libslurm.
#include "slurm/rpc/rpc_slurm.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <iterator>
#include <memory>

#include "base/strings.hpp"
#include "base/words.hpp"
#include "slurm/reasons.hpp"
#include "slurm/slurm.hpp"
#include "slurm/rpc/compat.hpp"
#include "slurm/rpc/partition_fields.hpp"

namespace slurmk8s {
namespace {

struct NodeInfoDeleter {
  void operator()(node_info_msg_t* message) const { slurm_free_node_info_msg(message); }
};
using NodeInfo = std::unique_ptr<node_info_msg_t, NodeInfoDeleter>;

struct PartitionInfoDeleter {
  void operator()(partition_info_msg_t* message) const { slurm_free_partition_info_msg(message); }
};
using PartitionInfo = std::unique_ptr<partition_info_msg_t, PartitionInfoDeleter>;

struct JobInfoDeleter {
  void operator()(job_info_msg_t* message) const { slurm_free_job_info_msg(message); }
};
using JobInfo = std::unique_ptr<job_info_msg_t, JobInfoDeleter>;

struct ConfDeleter {
  void operator()(slurm_conf_t* conf) const { compat::free_conf(conf); }
};
using Conf = std::unique_ptr<slurm_conf_t, ConfDeleter>;

// Mixed nodes are told from allocated ones on the client's side, and only on request.
constexpr std::uint16_t kShow = SHOW_ALL | SHOW_FUTURE | SHOW_MIXED;

/** SIG_OOM of src/common/slurm_protocol_defs.h: _job_complete() makes JOB_OOM of it, in 22.05.8, 24.11.5 and 26.05. */
constexpr std::uint32_t kOutOfMemory = 253;

constexpr std::int64_t kMaxNodes = 65536;  // what slurmctld stops at without a MaxNodeCount

template <std::size_t N>
bool is_one_of(int code, const int (&codes)[N]) {
  return std::find(std::begin(codes), std::end(codes), code) != std::end(codes);
}

Errc errc_of(int code) {
  constexpr int kBusy[] = {ESLURM_NODES_BUSY, ESLURM_INVALID_NODE_STATE, ESLURM_RESERVATION_BUSY,
                           ESLURM_PARTITION_IN_USE};
  constexpr int kForbidden[] = {ESLURM_ACCESS_DENIED, ESLURM_USER_ID_MISSING, compat::kNodeTableFull};
  constexpr int kUnauthorized[] = {SLURM_PROTOCOL_AUTHENTICATION_ERROR, ESLURM_AUTH_CRED_INVALID};
  constexpr int kTimeout[] = {SLURM_PROTOCOL_SOCKET_IMPL_TIMEOUT, ETIMEDOUT};
  constexpr int kUnavailable[] = {ESLURM_IN_STANDBY_MODE,
                                  ECONNREFUSED,
                                  EHOSTUNREACH,
                                  ENETUNREACH,
                                  EAGAIN,
                                  ENOENT};  // ENOENT: slurmctld's socket for credentials isn't there yet
  // slurmctld had the request, or could have had it.
  constexpr int kInterrupted[] = {SLURM_PROTOCOL_SOCKET_ZERO_BYTES_SENT, SLURM_COMMUNICATIONS_RECEIVE_ERROR,
                                  SLURMCTLD_COMMUNICATIONS_RECEIVE_ERROR, ECONNRESET, EPIPE};
  if (code == ESLURM_INVALID_NODE_NAME) return Errc::not_found;
  if (code == compat::kNodeAlreadyExists) return Errc::already_exists;
  if (is_one_of(code, kBusy)) return Errc::conflict;
  if (is_one_of(code, kForbidden)) return Errc::forbidden;
  if (is_one_of(code, kUnauthorized)) return Errc::unauthorized;
  if (is_one_of(code, kTimeout)) return Errc::timeout;
  if (is_one_of(code, kInterrupted)) return Errc::interrupted;
  if (is_one_of(code, kUnavailable)) return Errc::unavailable;
  // Two blocks of codes for connections, which grow with every release.
  const bool connection = (code >= SLURM_COMMUNICATIONS_CONNECTION_ERROR && code < SLURM_PROTOCOL_VERSION_ERROR) ||
                          (code >= SLURM_COMMUNICATIONS_MISSING_SOCKET_ERROR && code < 1100) ||
                          (code >= SLURMCTLD_COMMUNICATIONS_CONNECTION_ERROR && code < SLURM_NO_CHANGE_IN_DATA);
  return connection ? Errc::unavailable : Errc::invalid;
}

// The error that the libslurm call just made has left in errno.
Error last_error() {
  const int code = errno;
  return Error(errc_of(code), std::string("slurm: ") + slurm_strerror(code));
}

std::string text(const char* value) { return value == nullptr ? std::string() : std::string(value); }

SlurmNode::Base decode_base(std::uint32_t state) {
  switch (state & NODE_STATE_BASE) {
    case NODE_STATE_DOWN: return SlurmNode::Base::down;
    case NODE_STATE_IDLE: return SlurmNode::Base::idle;
    case NODE_STATE_ALLOCATED: return SlurmNode::Base::allocated;
    case NODE_STATE_MIXED: return SlurmNode::Base::mixed;
    case NODE_STATE_ERROR: return SlurmNode::Base::error;
    case NODE_STATE_FUTURE: return SlurmNode::Base::future;
    default: return SlurmNode::Base::unknown;
  }
}

SlurmNode decode_node(const node_info_t& info) {
  const std::uint32_t state = info.node_state;
  const auto has = [state](std::uint32_t flags) { return (state & flags) != 0; };
  SlurmNode node;
  node.name = text(info.name);
  node.base = decode_base(state);
  node.cloud = has(NODE_STATE_CLOUD);
  node.dynamic = has(NODE_STATE_DYNAMIC_NORM);
  node.powering_up = has(NODE_STATE_POWERING_UP);
  node.powered_down = has(NODE_STATE_POWERED_DOWN);
  node.powering_down = has(NODE_STATE_POWERING_DOWN);
  node.power_down_asked = has(NODE_STATE_POWER_DOWN | NODE_STATE_POWER_DRAIN);
  node.power_up_asked = has(NODE_STATE_POWER_UP);
  node.draining = has(NODE_STATE_DRAIN | NODE_STATE_FAIL);
  node.completing = has(NODE_STATE_COMPLETING);
  node.not_responding = has(NODE_STATE_NO_RESPOND);
  node.reserved = has(NODE_STATE_RES);
  node.maintenance = has(NODE_STATE_MAINT);
  node.cpus = info.cpus;
  node.real_memory_mib = info.real_memory;
  node.core_spec_count = info.core_spec_cnt;
  node.mem_spec_limit_mib = info.mem_spec_limit;
  node.cores_per_socket = info.cores;
  node.threads_per_core = info.threads;
  node.weight = info.weight;
  node.features = text(info.features);
  node.active_features = text(info.features_act);
  node.topology = compat::topology_of(info);
  node.reason = text(info.reason);
  node.comment = text(info.comment);
  node.address = text(info.node_addr);
  node.boot_time = std::chrono::system_clock::from_time_t(info.boot_time);
  return node;
}

std::uint32_t encode_state(SlurmNodeUpdate::State state) {
  using State = SlurmNodeUpdate::State;
  switch (state) {
    case State::down: return NODE_STATE_DOWN;
    case State::drain: return NODE_STATE_DRAIN;
    case State::undrain: return NODE_STATE_UNDRAIN;
    case State::resume: return NODE_RESUME;
    case State::power_up: return NODE_STATE_POWER_UP;
    case State::power_down: return NODE_STATE_POWER_DOWN;
    case State::power_down_asap: return NODE_STATE_POWER_DOWN | NODE_STATE_POWER_DRAIN;
    case State::power_down_force: return NODE_STATE_POWER_DOWN | NODE_STATE_POWERED_DOWN;
    case State::keep: break;
  }
  return NO_VAL;
}

/** The value of a key in "cpu=2,mem=4000M,node=1,gres/gpu=2"; with a key that ends in '/', all of these, joined. */
std::string find_tres(const std::string& tres, std::string_view key) {
  std::string found;
  for (const std::string_view word : split(tres, ',')) {
    if (!word.starts_with(key)) continue;
    const std::string_view rest = word.substr(key.size());
    if (key.ends_with('/')) {
      found += (found.empty() ? "" : ",") + std::string(rest);
    } else if (rest.starts_with('=')) {
      return std::string(rest.substr(1));
    }
  }
  return found;
}

/** Waits for nodes or its turn. Other reasons, a limit or a dependency for example, no node would take away. */
bool waits_for_nodes(const job_info_t& job) {
  if (job.job_state != JOB_PENDING || job.priority == 0) return false;
  switch (job.state_reason) {
    case WAIT_NO_REASON:
    case WAIT_PRIORITY:
    case WAIT_RESOURCES:
    case WAIT_NODE_NOT_AVAIL: return true;
    default: return false;
  }
}

bool is_suspended(const job_info_t& job) { return (job.job_state & JOB_STATE_BASE) == JOB_SUSPENDED; }

SlurmJob decode_job(const job_info_t& info) {
  SlurmJob job;
  job.id = info.job_id;
  job.name = text(info.name);
  job.user = info.user_name && info.user_name[0] ? text(info.user_name) : std::to_string(info.user_id);
  job.account = text(info.account);
  job.partitions = text(info.partition);
  job.qos = text(info.qos);
  job.reservation = text(info.resv_name);
  job.extra = compat::extra_of(info);
  job.features = text(info.features);
  const std::string tres = text(info.tres_req_str);
  job.memory = find_tres(tres, "mem");
  job.gres = find_tres(tres, "gres/");
  job.cpus = info.num_cpus;
  job.nodes = info.num_nodes;
  job.waits = waits_for_nodes(info);
  job.admin_comment = text(info.admin_comment);
  job.pending = (info.job_state & JOB_STATE_BASE) == JOB_PENDING;
  job.completing = (info.job_state & JOB_COMPLETING) != 0;
  job.held = info.priority == 0;
  job.cron = (info.bitflags & CRON_JOB) != 0;
  job.restarts = info.restart_cnt;
  job.submitted = info.submit_time;
  job.begin = info.eligible_time;  // as slurmctld sends a pending job's time to begin
  job.suspended = is_suspended(info);
  if (job.suspended) job.held_nodes = text(info.nodes);
  return job;
}

bool holds_nodes(const job_info_t& job) {
  const std::uint32_t base = job.job_state & JOB_STATE_BASE;
  return base == JOB_RUNNING || base == JOB_SUSPENDED || (job.job_state & JOB_COMPLETING) != 0;
}

bool runs(const job_info_t& job) {
  const std::uint32_t base = job.job_state & JOB_STATE_BASE;
  return (base == JOB_RUNNING || base == JOB_SUSPENDED) && (job.job_state & JOB_COMPLETING) == 0;
}

/** A number of seconds behind `key` in a list of options of slurm.conf. */
std::optional<std::int64_t> find_seconds(const std::string& options, std::string_view key) {
  for (const std::string_view word : split(options, ',')) {
    if (word.starts_with(key)) return parse_int(word.substr(key.size()));
  }
  return std::nullopt;
}

/** As cred_expire of slurmctld (src/interfaces/cred.c), and _requeue_delay() of 26.05. */
std::chrono::seconds requeue_delay(const slurm_conf_t& conf) {
  constexpr std::int64_t kLeast = 5;
  constexpr std::int64_t kDefault = 120;
  const auto own = compat::kHasRequeueDelay ? find_seconds(text(conf.sched_params), "requeue_delay=") : std::nullopt;
  const std::int64_t expire = find_seconds(text(conf.authinfo), "cred_expire=").value_or(kDefault);
  return std::chrono::seconds(own.value_or(expire < kLeast ? kDefault : expire));
}

// libslurm's structs have `char *` for texts that it only reads.
char* unconst(const std::string& value) { return const_cast<char*>(value.c_str()); }

/**
 * slurmctld compares it with the times of its changes: one that lies ahead, since the clock was set back, would hide
 * them all until then.
 */
std::time_t not_ahead(std::time_t since) { return since > std::time(nullptr) + 1 ? 0 : since; }

class RpcSlurm final : public Slurm {
 public:
  Result<std::optional<std::vector<SlurmNode>>> load_nodes_since(std::time_t& since) override {
    node_info_msg_t* raw = nullptr;
    errno = 0;
    if (slurm_load_node(not_ahead(since), &raw, kShow) != SLURM_SUCCESS) {
      if (errno == SLURM_NO_CHANGE_IN_DATA) return std::optional<std::vector<SlurmNode>>();
      return last_error();
    }
    const NodeInfo message(raw);
    if (!message) return Error(Errc::protocol, "slurm: an empty list of nodes");
    std::vector<SlurmNode> nodes;
    for (std::uint32_t i = 0; i < message->record_count; i++) {
      // A slot without a node, or a node that isn't shown, has no name.
      const node_info_t& info = message->node_array[i];
      if (info.name != nullptr && info.name[0] != '\0') nodes.push_back(decode_node(info));
    }
    since = message->last_update;
    return std::optional(std::move(nodes));
  }

  Result<SlurmConfig> load_config() override {
    const Conf conf = SLURMK8S_TRY(load_conf());
    SlurmConfig config;
    config.max_nodes = conf->max_node_cnt == NO_VAL ? kMaxNodes : std::int64_t{conf->max_node_cnt};
    const std::string features = text(conf->node_features_plugins), submit = text(conf->job_submit_plugins);
    config.has_node_features = compat::kKnowsVariants &&
                               (has_word(features, "node_features/k8s") || has_word(features, "k8s")) &&
                               (has_word(submit, "job_submit/k8s") || has_word(submit, "k8s"));
    config.requeue_delay = requeue_delay(*conf);
    config.gres_types = text(conf->gres_plugins);
    config.booted = conf->boot_time;
    if (compat::kCanExempt) config.suspend_exc_nodes = text(conf->suspend_exc_nodes);
    return config;
  }

  void end() override { ended_ = true; }

  Status exempt_from_suspend(const std::string& hostlist, bool exempt) override {
    SLURMK8S_CHECK(refuse_after_end());
    errno = 0;
    if (compat::exempt_from_suspend(unconst(hostlist), exempt) != SLURM_SUCCESS) return last_error();
    return {};
  }

  Result<SlurmNode> load_node(const std::string& name) override {
    node_info_msg_t* raw = nullptr;
    errno = 0;
    if (slurm_load_node_single(&raw, unconst(name), kShow) != SLURM_SUCCESS) return last_error().wrap("node " + name);
    const NodeInfo message(raw);
    if (!message || message->record_count == 0 || message->node_array[0].name == nullptr) {
      return Error(Errc::not_found, "node " + name + ": slurm has no such node");
    }
    return decode_node(message->node_array[0]);
  }

  Status create_nodes(const std::string& line) override {
    update_node_msg_t message;
    slurm_init_update_node_msg(&message);
    message.extra = unconst(line);  // where slurmctld looks for the definition
    return call(slurm_create_node, message);
  }

  Result<SlurmJob> load_job(std::uint32_t id) override {
    job_info_msg_t* raw = nullptr;
    errno = 0;
    if (compat::load_job(&raw, id) != SLURM_SUCCESS) {
      const bool unknown = errno == ESLURM_INVALID_JOB_ID;
      return unknown ? Error(Errc::not_found, format("job %u: slurm has no such job", id)) : last_error();
    }
    const JobInfo message(raw);
    for (std::uint32_t i = 0; i < message->record_count; i++) {
      if (message->job_array[i].job_id == id) return decode_job(message->job_array[i]);
    }
    return Error(Errc::not_found, format("job %u: slurm has no such job", id));
  }

  Result<std::optional<std::vector<SlurmJob>>> load_open_jobs_since(std::time_t& since) override {
    job_info_msg_t* raw = nullptr;
    errno = 0;
    if (slurm_load_jobs(not_ahead(since), &raw, SHOW_ALL) != SLURM_SUCCESS) {
      if (errno == SLURM_NO_CHANGE_IN_DATA) return std::optional<std::vector<SlurmJob>>();
      return last_error();
    }
    const JobInfo message(raw);
    std::vector<SlurmJob> jobs;
    for (std::uint32_t i = 0; i < message->record_count; i++) {
      const job_info_t& info = message->job_array[i];
      const bool waits = info.features && info.features[0] && waits_for_nodes(info);
      if (waits || (is_suspended(info) && info.nodes)) jobs.push_back(decode_job(info));
    }
    const bool any_waits = std::any_of(jobs.begin(), jobs.end(), [](const SlurmJob& job) { return job.waits; });
    if (any_waits) SLURMK8S_CHECK(add_partition_nodes(jobs));
    since = message->last_update;
    return std::optional(std::move(jobs));
  }

  Result<std::vector<std::string>> load_nodes_of_jobs() override {
    job_info_msg_t* raw = nullptr;
    errno = 0;
    if (slurm_load_jobs(0, &raw, SHOW_ALL) != SLURM_SUCCESS) return last_error();
    const JobInfo message(raw);
    std::vector<std::string> hostlists;
    for (std::uint32_t i = 0; i < message->record_count; i++) {
      const job_info_t& job = message->job_array[i];
      if (holds_nodes(job) && job.nodes) hostlists.emplace_back(job.nodes);
    }
    return hostlists;
  }

  Result<std::vector<SlurmRun>> load_runs() override {
    job_info_msg_t* raw = nullptr;
    errno = 0;
    if (slurm_load_jobs(0, &raw, SHOW_ALL) != SLURM_SUCCESS) return last_error();
    const JobInfo message(raw);
    std::vector<SlurmRun> running;
    for (std::uint32_t i = 0; i < message->record_count; i++) {
      const job_info_t& job = message->job_array[i];
      if (!runs(job)) continue;
      running.push_back(
          {job.job_id, job.het_job_id, job.restart_cnt, job.submit_time, text(job.nodes), job.start_time});
    }
    return running;
  }

  Result<std::vector<std::uint32_t>> load_jobs_to_begin(std::chrono::seconds within) override {
    job_info_msg_t* raw = nullptr;
    errno = 0;
    if (slurm_load_jobs(0, &raw, SHOW_ALL) != SLURM_SUCCESS) return last_error();
    const JobInfo message(raw);
    const std::time_t now = std::time(nullptr);
    std::vector<std::uint32_t> jobs;
    for (std::uint32_t i = 0; i < message->record_count; i++) {
      const job_info_t& job = message->job_array[i];
      const bool pending = (job.job_state & JOB_STATE_BASE) == JOB_PENDING;
      // The time to begin: slurmctld sends it as this, and sets it when a job becomes eligible.
      const std::time_t begin = job.eligible_time;
      if (pending && begin > now && begin - now <= within.count()) jobs.push_back(job.job_id);
    }
    return jobs;
  }

  Status delete_nodes(const std::string& hostlist) override {
    update_node_msg_t message;
    slurm_init_update_node_msg(&message);
    message.node_names = unconst(hostlist);
    return call(slurm_delete_node, message);
  }

  Status update_nodes(const std::string& hostlist, const SlurmNodeUpdate& update) override {
    update_node_msg_t message;
    slurm_init_update_node_msg(&message);
    message.node_names = unconst(hostlist);
    message.node_state = encode_state(update.state);
    // Set first, and cleared by slurmctld when the drain ends, in those versions that do that.
    const bool takes_back = update.state == SlurmNodeUpdate::State::undrain;
    const std::string reason = update.reason.empty() && takes_back ? kReasonReleased : update.reason;
    if (!reason.empty()) {
      message.reason = unconst(reason);
      compat::set_reason_uid(message, getuid());
    }
    if (!update.comment.empty() || update.clear_comment) message.comment = unconst(update.comment);
    if (update.features) message.features = unconst(*update.features);
    if (update.active_features) message.features_act = unconst(*update.active_features);
    if (update.weight) message.weight = static_cast<std::uint32_t>(*update.weight);
    if (update.topology) compat::set_topology(message, unconst(*update.topology));
    return call(slurm_update_node, message);
  }

  Status schedule_jobs(const std::string& node) override { return update_nodes(node, {}); }

  Status check_partitions_persist() override {
    if (!compat::kKeepsPartitions) {
      return Error(Errc::invalid,
                   "before 24.05 slurmctld forgets partitions made at run time when it restarts, and "
                   "ends their jobs");
    }
    const Conf conf = SLURMK8S_TRY(load_conf());
    if ((conf->reconfig_flags & RECONFIG_KEEP_PART_INFO) != 0) return {};
    return Error(Errc::invalid,
                 "slurm.conf has no ReconfigFlags=KeepPartInfo: without it slurmctld forgets partitions "
                 "made at run time when it restarts or reconfigures, and ends their jobs");
  }

  Result<std::optional<std::vector<SlurmPartition>>> load_partitions_since(std::time_t& since) override {
    partition_info_msg_t* raw = nullptr;
    errno = 0;
    if (slurm_load_partitions(not_ahead(since), &raw, SHOW_ALL) != SLURM_SUCCESS) {
      if (errno == SLURM_NO_CHANGE_IN_DATA) return std::optional<std::vector<SlurmPartition>>();
      return last_error();
    }
    const PartitionInfo message(raw);
    if (!message) return Error(Errc::protocol, "slurm: an empty list of partitions");
    std::vector<SlurmPartition> partitions;
    partitions.reserve(message->record_count);
    for (std::uint32_t i = 0; i < message->record_count; i++) {
      partitions.push_back(decode_partition(message->partition_array[i]));
    }
    since = message->last_update;
    return std::optional(std::move(partitions));
  }

  Status create_partition(const SlurmPartition& partition) override { return set(slurm_create_partition, partition); }
  Status update_partition(const SlurmPartition& change) override { return set(slurm_update_partition, change); }

  Status delete_partition(const std::string& name) override {
    SLURMK8S_CHECK(refuse_after_end());
    delete_part_msg_t message{.name = unconst(name)};
    errno = 0;
    if (slurm_delete_partition(&message) != SLURM_SUCCESS) return last_error();
    return {};
  }

  Status comment_job(std::uint32_t job, const std::string& text) override {
    job_desc_msg_t message;
    slurm_init_job_desc_msg(&message);
    compat::set_job(message, job);
    message.admin_comment = unconst(text);
    return call(slurm_update_job, message);
  }

  Status clear_begin_time(std::uint32_t job) override {
    job_desc_msg_t message;
    slurm_init_job_desc_msg(&message);
    compat::set_job(message, job);
    message.begin_time = std::time(nullptr);
    return call(slurm_update_job, message);
  }

  Status hold_job(std::uint32_t job) override {
    job_desc_msg_t message;
    slurm_init_job_desc_msg(&message);
    compat::set_job(message, job);
    message.priority = 0;
    message.alloc_sid = ALLOC_SID_USER_HOLD;  // otherwise its user could not release it
    return call(slurm_update_job, message);
  }

  Status end_out_of_memory(std::uint32_t job) override {
    SLURMK8S_CHECK(refuse_after_end());
    errno = 0;
    if (compat::complete_job(job, kOutOfMemory) != SLURM_SUCCESS) return last_error();
    return {};
  }

  Status make_created_nodes_schedulable() override { return compat::kReusedSlotIsUnseen ? reconfigure() : Status(); }

  Status drop_lost_nodes() override { return reconfigure(); }

  Status restart_slurmctld() override {
    if (!compat::kReconfigureStartsAnew) return Error(Errc::invalid, "slurm: before 23.11 only a restart does that");
    return reconfigure();
  }

 private:
  Status refuse_after_end() const {
    return ended_ ? Status(Error(Errc::cancelled, "slurm: the engine has ended")) : Status();
  }

  // A node's record doesn't say in which partitions it is.
  Status add_partition_nodes(std::vector<SlurmJob>& jobs) {
    std::time_t since = 0;
    const std::optional<std::vector<SlurmPartition>> partitions = SLURMK8S_TRY(load_partitions_since(since));
    for (SlurmJob& job : jobs) {
      for (const std::string_view name : split(job.partitions, ',')) {
        const auto found = std::find_if(partitions->begin(), partitions->end(),
                                        [&](const SlurmPartition& partition) { return partition.name == name; });
        if (found == partitions->end() || found->nodes.empty()) continue;
        job.partition_nodes += (job.partition_nodes.empty() ? "" : ",") + found->nodes;
      }
    }
    return {};
  }

  static Result<Conf> load_conf() {
    slurm_conf_t* raw = nullptr;
    errno = 0;
    if (slurm_load_ctl_conf(0, &raw) != SLURM_SUCCESS || raw == nullptr) return last_error();
    return Conf(raw);
  }

  Status set(int (*function)(update_part_msg_t*), const SlurmPartition& partition) {
    SLURMK8S_CHECK(refuse_after_end());
    update_part_msg_t message;
    slurm_init_part_desc_msg(&message);
    encode_partition(partition, message);
    errno = 0;
    if (function(&message) != SLURM_SUCCESS) return last_error();
    return {};
  }

  Status reconfigure() {
    SLURMK8S_CHECK(refuse_after_end());
    errno = 0;
    if (slurm_reconfigure() != SLURM_SUCCESS) return last_error();
    return {};
  }

  template <typename Message>
  Status call(int (*function)(Message*), Message& message) {
    SLURMK8S_CHECK(refuse_after_end());
    errno = 0;
    if (function(&message) != SLURM_SUCCESS) return last_error();
    return {};
  }

  std::atomic<bool> ended_{false};
};

}  // namespace

std::unique_ptr<Slurm> make_rpc_slurm() { return std::make_unique<RpcSlurm>(); }

void start_slurm_client() { slurm_init(nullptr); }

}  // namespace slurmk8s
