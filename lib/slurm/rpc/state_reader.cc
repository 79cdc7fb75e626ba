// SPDX-License-Identifier: GPL-2.0-or-later
// A SlurmStateReader over Slurm's RPCs. Apart from rpc_slurm.cc: slurmctld's plugins have no use for it.
#include <pwd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "slurm/rpc/call.hpp"
#include "slurm/rpc/compat.hpp"
#include "slurm/rpc/state_fields.hpp"
#include "slurm/slurm_state.hpp"

// libslurm exports it for sdiag, and has it in no public header.
extern "C" void slurm_free_stats_response_msg(stats_info_response_msg_t* message);

namespace slurmk8s {
namespace {

using Statistics = OwnedMessage<stats_info_response_msg_t, slurm_free_stats_response_msg>;

/** What slurm_load_…() has answered: empty when nothing has changed. */
template <typename Answer, typename Load>
Result<Answer> load(std::time_t since, Load load_message) {
  typename Answer::pointer raw = nullptr;
  errno = 0;
  const int code = load_message(not_ahead(since), &raw);
  if (code == SLURM_SUCCESS) return Answer(raw);
  if (errno == SLURM_NO_CHANGE_IN_DATA) return Answer();
  return last_error();
}

/** The user's name, or the number where this machine knows none. May wait for a name service. */
std::string name_of_user(uid_t uid) {
  std::vector<char> buffer(1 << 14);
  passwd entry{};
  passwd* found = nullptr;
  getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found);
  return found == nullptr ? std::to_string(uid) : std::string(found->pw_name);
}

class RpcStateReader final : public SlurmStateReader {
 public:
  Status refresh(SlurmState& state) override {
    SLURMK8S_CHECK(refresh_jobs(state));
    // Partitions name nodes by their places.
    const bool changed = SLURMK8S_TRY(refresh_nodes(state));
    if (changed) state.partitions_since = 0;
    SLURMK8S_CHECK(refresh_partitions(state));
    return refresh_statistics(state);
  }

 private:
  static Status refresh_jobs(SlurmState& state) {
    const auto answer = SLURMK8S_TRY((load<JobInfo>(state.jobs_since, [](std::time_t since, job_info_msg_t** message) {
      return slurm_load_jobs(since, message, SHOW_ALL);
    })));
    if (!answer) return {};
    state.jobs.clear();
    std::map<uid_t, std::string> names;
    for (std::uint32_t i = 0; i < answer->record_count; i++) {
      const job_info_t& info = answer->job_array[i];
      StateJob& job = state.jobs.emplace_back(decode_state_job(info));
      if (!job.user.empty()) continue;
      std::string& name = names[info.user_id];
      if (name.empty()) name = name_of_user(info.user_id);
      job.user = name;
    }
    state.jobs_since = answer->last_update;
    return {};
  }

  /** Whether places of nodes have changed: a new node may get that of a deleted one. */
  static Result<bool> refresh_nodes(SlurmState& state) {
    const auto answer =
        SLURMK8S_TRY((load<NodeInfo>(state.nodes_since, [](std::time_t since, node_info_msg_t** message) {
          return slurm_load_node(since, message, SHOW_ALL | SHOW_FUTURE | SHOW_MIXED);
        })));
    if (!answer) return false;
    const std::vector<StateNode> before = std::exchange(state.nodes, {});
    for (std::uint32_t i = 0; i < answer->record_count; i++) {
      const node_info_t& info = answer->node_array[i];
      StateNode node = decode_state_node(info);
      std::uint16_t cpus = 0;
      std::uint64_t memory = 0;
      compat::allocation_of(info, cpus, memory);
      node.cpus_alloc = cpus;
      node.memory_alloc = memory;
      state.nodes.push_back(std::move(node));
    }
    state.nodes_since = answer->last_update;
    return !std::equal(before.begin(), before.end(), state.nodes.begin(), state.nodes.end(),
                       [](const StateNode& a, const StateNode& b) { return a.name == b.name; });
  }

  static Status refresh_partitions(SlurmState& state) {
    const auto answer = SLURMK8S_TRY(
        (load<PartitionInfo>(state.partitions_since, [](std::time_t since, partition_info_msg_t** message) {
          return slurm_load_partitions(since, message, SHOW_ALL);
        })));
    if (!answer) return {};
    state.partitions.clear();
    for (std::uint32_t i = 0; i < answer->record_count; i++) {
      state.partitions.push_back(decode_state_partition(answer->partition_array[i], state.nodes.size()));
    }
    state.partitions_since = answer->last_update;
    return {};
  }

  static Status refresh_statistics(SlurmState& state) {
    const auto answer = SLURMK8S_TRY((load<Statistics>(0, [](std::time_t, stats_info_response_msg_t** message) {
      stats_info_request_msg_t request{.command_id = STAT_COMMAND_GET};
      return slurm_get_statistics(message, &request);
    })));
    if (answer) state.statistics = decode_statistics(*answer);
    return {};
  }
};

}  // namespace

std::unique_ptr<SlurmStateReader> make_rpc_state_reader() { return std::make_unique<RpcStateReader>(); }

}  // namespace slurmk8s
