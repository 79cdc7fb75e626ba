// SPDX-License-Identifier: GPL-2.0-or-later
// Allocations over Slurm's RPCs: libslurm's public functions behind slurm/allocations.hpp.
//
// A job is what salloc --no-shell makes: REQUEST_RESOURCE_ALLOCATION without a port, which slurmctld tries to schedule
// before it answers. It is an ordinary allocation unless it may have external nodes (26.05): nodes of an external job
// are free at once when it ends, without an epilog, while pods of the job may still be there.
//
// What such a job doesn't end by (line numbers of 24.11.5, src/slurmctld):
// - InactiveLimit: _job_time_limit() asks for other_port first (job_mgr.c:9218; 22.05.8: 9346; 26.05: 9492).
//   srun_ping() pings no job without one.
// - BatchStartTimeout: for jobs with a script alone (job_mgr.c:15650).
// - the session of the submitter: alloc_sid is only told to others (job_mgr.c:8487).
// What it does end by: its time limit, preemption (never requeued: job_mgr.c:17454), a lost node, and an answer to its
// submission that slurmctld could not send (_kill_job_on_msg_fail(), proc_req.c:708).
//
// Its user: slurmctld takes user_id and group_id of the request up to 23.02.4, later those of the credential alone
// (proc_req.c:1233). There job_submit/k8s puts the request's in again (base/allocation_user.hpp). With AuthInfo=
// use_client_ids a job has the identity of who submitted it (_set_identity(), proc_req.c:617), which the plugin
// removes.
#include <algorithm>
#include <csignal>
#include <string>
#include <utility>

#include "base/strings.hpp"
#include "slurm/allocations.hpp"
#include "slurm/rpc/allocation_fields.hpp"
#include "slurm/rpc/call.hpp"
#include "slurm/rpc/compat.hpp"

namespace slurmk8s {
namespace {

using Answer = OwnedMessage<resource_allocation_response_msg_t, slurm_free_resource_allocation_response_msg>;

/** Of a call that ends a job. */
Status ended(int result) {
  if (result == SLURM_SUCCESS || errno == ESLURM_ALREADY_DONE || errno == ESLURM_INVALID_JOB_ID) return {};
  return last_error();
}

class RpcAllocations final : public Allocations {
 public:
  Result<std::uint32_t> submit(const AllocationRequest& request) override {
    SLURMK8S_CHECK(check_request(request));
    std::string excluded;
    if (!(request.only_nodes.empty() && request.not_nodes.empty()) && !requires_node(request)) {
      const std::vector<std::string> names = SLURMK8S_TRY(load_node_names());
      excluded = SLURMK8S_TRY(excluded_nodes(request, names));
    }
    AllocationMessage message(request, std::move(excluded));
    resource_allocation_response_msg_t* raw = nullptr;
    errno = 0;
    if (slurm_allocate_resources(&message.get(), &raw) != SLURM_SUCCESS) {
      const int code = errno;
      const char* const hint = code == EAGAIN ? "; it may have MaxJobCount jobs" : "";
      return Error(errc_of_submission(code), words_of(code) + hint);
    }
    const Answer answer(raw);
    if (!answer) return Error(Errc::unavailable, "slurm: an empty answer to a job's submission");
    const std::uint32_t job = compat::job_of(*answer);
    const std::uint32_t user = compat::user_of(*answer).value_or(request.user);
    if (user != request.user) return refuse_user(job, user, request.user);
    return job;
  }

  Result<std::optional<std::vector<Allocation>>> load_since(std::time_t& since, const std::string& comment_prefix,
                                                            const std::set<std::uint32_t>& ids) override {
    job_info_msg_t* raw = nullptr;
    errno = 0;
    if (slurm_load_jobs(not_ahead(since), &raw, SHOW_ALL | SHOW_DETAIL) != SLURM_SUCCESS) {
      if (errno == SLURM_NO_CHANGE_IN_DATA) return std::optional<std::vector<Allocation>>();
      return last_error();
    }
    const JobInfo message(raw);
    if (!message) return Error(Errc::protocol, "slurm: an empty list of jobs");
    std::vector<const job_info_t*> all;
    std::vector<const job_info_t*> ours;
    for (std::uint32_t i = 0; i < message->record_count; i++) {
      const job_info_t& info = message->job_array[i];
      all.push_back(&info);
      if (has_comment(info, comment_prefix) || ids.contains(info.job_id)) ours.push_back(&info);
    }
    auto jobs = SLURMK8S_TRY(decode(ours));
    const std::map<std::uint32_t, std::uint32_t> positions = queue_positions(all);
    for (Allocation& job : jobs) {
      const auto found = positions.find(job.id);
      if (found != positions.end()) job.position = found->second;
    }
    since = message->last_update;
    return std::optional(std::move(jobs));
  }

  Result<std::optional<Allocation>> load(std::uint32_t job) override {
    job_info_msg_t* raw = nullptr;
    errno = 0;
    if (compat::load_job(&raw, job, SHOW_ALL | SHOW_DETAIL) != SLURM_SUCCESS) {
      if (errno == ESLURM_INVALID_JOB_ID) return std::optional<Allocation>();
      return last_error();
    }
    const JobInfo message(raw);
    if (!message || message->record_count == 0) return std::optional<Allocation>();
    auto jobs = SLURMK8S_TRY(decode({message->job_array}));
    return std::optional(std::move(jobs.front()));
  }

  Status complete(std::uint32_t job, std::uint32_t wait_status) override {
    errno = 0;
    return ended(compat::complete_job(job, wait_status));
  }

  Status end_out_of_memory(std::uint32_t job) override { return complete(job, compat::kOutOfMemory); }

  Status cancel(std::uint32_t job) override {
    errno = 0;
    return ended(slurm_kill_job2(std::to_string(job).c_str(), SIGKILL, 0, nullptr));
  }

 private:
  /** slurmctld took another user than the one asked for: the job ends at once. */
  Error refuse_user(std::uint32_t job, std::uint32_t user, std::uint32_t wanted) {
    const Status end = cancel(job);
    return Error(Errc::forbidden, format("job %u is of uid %u, not of %u: JobSubmitPlugins in slurm.conf must have k8s",
                                         job, user, wanted) +
                                      (end.ok() ? "" : "; not cancelled: " + end.error().message()));
  }

  static Result<std::vector<Allocation>> decode(const std::vector<const job_info_t*>& infos) {
    const bool unequal = std::ranges::any_of(infos, [](const job_info_t* info) { return has_unequal_nodes(*info); });
    const std::vector<std::string> names = unequal ? SLURMK8S_TRY(load_node_names()) : std::vector<std::string>();
    std::vector<Allocation> jobs;
    jobs.reserve(infos.size());
    for (const job_info_t* info : infos) jobs.push_back(decode_allocation(*info, names));
    return jobs;
  }

  /** By their index in slurmctld's table, where a slot without a node has no name. */
  static Result<std::vector<std::string>> load_node_names() {
    node_info_msg_t* raw = nullptr;
    errno = 0;
    if (slurm_load_node(0, &raw, SHOW_ALL | SHOW_FUTURE) != SLURM_SUCCESS) return last_error();
    const NodeInfo message(raw);
    if (!message) return Error(Errc::protocol, "slurm: an empty list of nodes");
    std::vector<std::string> names;
    names.reserve(message->record_count);
    for (std::uint32_t i = 0; i < message->record_count; i++) {
      const char* name = message->node_array[i].name;
      names.emplace_back(name ? name : "");
    }
    return names;
  }
};

}  // namespace

std::unique_ptr<Allocations> make_rpc_allocations() { return std::make_unique<RpcAllocations>(); }

}  // namespace slurmk8s
