// SPDX-License-Identifier: GPL-2.0-or-later
// Slurm over its RPCs: libslurm's public functions behind slurm/slurm.hpp. In a shared object its functions are those
// of the process (slurmctld).
#include "slurm/rpc/rpc_slurm.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <memory>

#include "base/strings.hpp"
#include "slurm/reasons.hpp"
#include "slurm/slurm.hpp"
#include "slurm/rpc/call.hpp"
#include "slurm/rpc/compat.hpp"
#include "slurm/rpc/config_fields.hpp"
#include "slurm/rpc/job_fields.hpp"
#include "slurm/rpc/node_fields.hpp"
#include "slurm/rpc/partition_fields.hpp"

namespace slurmk8s {
namespace {

// Mixed nodes are told from allocated ones on the client's side, and only on request.
constexpr std::uint16_t kShow = SHOW_ALL | SHOW_FUTURE | SHOW_MIXED;

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
    return decode_config(*conf);
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
    const JobInfo message = SLURMK8S_TRY(load_all_jobs());
    std::vector<std::string> hostlists;
    for (std::uint32_t i = 0; i < message->record_count; i++) {
      const job_info_t& job = message->job_array[i];
      if (holds_nodes(job) && job.nodes) hostlists.emplace_back(job.nodes);
    }
    return hostlists;
  }

  Result<std::vector<SlurmRun>> load_runs() override {
    const JobInfo message = SLURMK8S_TRY(load_all_jobs());
    std::vector<SlurmRun> running;
    for (std::uint32_t i = 0; i < message->record_count; i++) {
      const job_info_t& job = message->job_array[i];
      if (holds_nodes(job)) running.push_back(decode_run(job));
    }
    return running;
  }

  Result<std::vector<SlurmJobNeeds>> load_job_needs() override {
    const JobInfo message = SLURMK8S_TRY(load_all_jobs());
    std::vector<SlurmJobNeeds> jobs;
    for (std::uint32_t i = 0; i < message->record_count; i++) {
      const job_info_t& job = message->job_array[i];
      if (is_unended(job)) jobs.push_back(decode_job_needs(job));
    }
    return jobs;
  }

  Result<std::vector<std::uint32_t>> load_jobs_to_begin(std::chrono::seconds within) override {
    const JobInfo message = SLURMK8S_TRY(load_all_jobs());
    const std::time_t now = std::time(nullptr);
    std::vector<std::uint32_t> jobs;
    for (std::uint32_t i = 0; i < message->record_count; i++) {
      const job_info_t& job = message->job_array[i];
      const bool pending = (job.job_state & JOB_STATE_BASE) == JOB_PENDING;
      const std::time_t begin = begin_time(job);
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
    if (compat::complete_job(job, compat::kOutOfMemory) != SLURM_SUCCESS) return last_error();
    return {};
  }

  Status make_created_nodes_schedulable() override { return compat::kReusedSlotIsUnseen ? reconfigure() : Status(); }

  Status drop_lost_nodes() override { return reconfigure(); }

  Status restart_slurmctld() override {
    if (!compat::kReconfigureRestarts) return Error(Errc::invalid, "slurm: before 23.11 only a restart does that");
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

  /** Of all users and partitions. */
  static Result<JobInfo> load_all_jobs() {
    job_info_msg_t* raw = nullptr;
    errno = 0;
    if (slurm_load_jobs(0, &raw, SHOW_ALL) != SLURM_SUCCESS) return last_error();
    return JobInfo(raw);
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
