// SPDX-License-Identifier: GPL-2.0-or-later
// FakeAllocations: jobs without a script in memory. One thread. It answers as slurmctld does, as far as
// tests/contract/allocation_tests.cc says.
//
// Jobs wait until a test starts or ends them. Slurm's time is a counter of changes here.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "slurm/allocations.hpp"

namespace slurmk8s {

class FakeAllocations final : public Allocations {
 public:
  using State = Allocation::State;

  /** By their ids, from 1 on. After a change by hand: touch(). */
  std::map<std::uint32_t, Allocation> jobs;
  std::map<std::uint32_t, AllocationRequest> requests;
  /** What was asked for, in order: "submit NAME", "complete 1 256", "end_out_of_memory 1", "cancel 1". */
  std::vector<std::string> calls;
  /** The next calls that change something fail with these, one each, without effect; loads too when `fail_loads`. */
  std::vector<Error> failures;
  bool fail_loads = false;
  /** The next submission is done, but its answer is lost: it returns this. */
  std::optional<Error> lost_answer;
  /** Each job runs on these from its submission on; none: it waits. */
  std::vector<AllocatedNode> starts_at_once;
  int submits = 0;                ///< calls, also those that failed
  int ends = 0;                   ///< calls of complete(), end_out_of_memory() and cancel(), also those that failed
  int loads = 0;                  ///< lists handed out, "nothing has changed" not counted
  int lists = 0;                  ///< calls of load_since(), also those without news
  int single_loads = 0;           ///< calls of load() that were answered
  bool keeps_completing = false;  ///< an end leaves `completing` set until end_completing()

  /** Makes a test's own changes visible. */
  void touch() { time_++; }

  void configure(std::uint32_t id, std::vector<AllocatedNode> nodes) {
    place(id, State::configuring, std::move(nodes));
  }
  void start(std::uint32_t id, std::vector<AllocatedNode> nodes) { place(id, State::running, std::move(nodes)); }

  /** Slurm ends it: "TIMEOUT", "PREEMPTED", "NODE_FAIL", "CANCELLED". */
  void end(std::uint32_t id, const std::string& state_name, const std::string& reason = "None") {
    Allocation& job = jobs.at(id);
    job.completing = keeps_completing && job.state != State::pending;
    job.state = State::ended;
    job.state_name = state_name;
    job.reason = reason;
    touch();
  }
  void end_completing(std::uint32_t id) {
    jobs.at(id).completing = false;
    touch();
  }
  /** Why it waits, and when it is expected to start (0: unknown). */
  void wait_for(std::uint32_t id, const std::string& reason, std::time_t started = 0) {
    jobs.at(id).reason = reason;
    jobs.at(id).started = started;
    touch();
  }
  /** slurmctld was killed before it saved the job: the next one gets its id. */
  void lose(std::uint32_t id) {
    forget(id);
    next_id_ = id;
  }
  /** slurmctld knows it no longer. */
  void forget(std::uint32_t id) {
    jobs.erase(id);
    touch();
  }

  Result<std::uint32_t> submit(const AllocationRequest& request) override {
    calls.push_back("submit " + request.name);
    submits++;
    if (auto error = next_failure()) return *error;
    if (request.user == 0 || request.group == 0)
      return Error(Errc::invalid, "job: uid and gid must be 1 to 2147483647");
    const std::uint32_t id = next_id_++;
    requests[id] = request;
    Allocation& job = jobs[id];
    job.id = id;
    job.submitted = 1'000'000'000 + time_;
    job.state_name = "PENDING";
    job.reason = request.held ? "JobHeldUser" : "None";
    job.name = request.name;
    job.comment = request.comment;
    job.extra = request.extra;
    job.uid = request.user;
    job.user = std::to_string(request.user);
    job.priority = request.held ? 0 : request.priority.value_or(1);
    touch();
    if (!starts_at_once.empty()) start(id, starts_at_once);
    if (lost_answer) return *std::exchange(lost_answer, std::nullopt);
    return id;
  }

  Result<std::optional<std::vector<Allocation>>> load_since(std::time_t& since, const std::string& comment_prefix,
                                                            const std::set<std::uint32_t>& ids) override {
    lists++;
    if (fail_loads) {
      if (auto error = next_failure()) return *error;
    }
    if (since == time_) return std::optional<std::vector<Allocation>>();
    since = time_;
    loads++;
    std::vector<Allocation> found;
    for (const auto& [id, job] : jobs) {
      if (job.comment.starts_with(comment_prefix) || ids.contains(id)) found.push_back(job);
    }
    std::uint32_t position = 0;  // of equal priorities in one partition
    for (Allocation& job : found) {
      if (job.state == State::pending && job.priority != 0 && job.position == 0) job.position = ++position;
    }
    return std::optional(std::move(found));
  }

  Result<std::optional<Allocation>> load(std::uint32_t id) override {
    if (fail_loads) {
      if (auto error = next_failure()) return *error;
    }
    single_loads++;
    const auto found = jobs.find(id);
    return found == jobs.end() ? std::optional<Allocation>() : std::optional(found->second);
  }

  Status complete(std::uint32_t job, std::uint32_t wait_status) override {
    return end_by_call("complete " + std::to_string(job) + " " + std::to_string(wait_status), job,
                       wait_status == 0 ? "COMPLETED" : "FAILED", wait_status == 0 ? "None" : "NonZeroExitCode");
  }
  Status end_out_of_memory(std::uint32_t job) override {
    return end_by_call("end_out_of_memory " + std::to_string(job), job, "OUT_OF_MEMORY", "OutOfMemory");
  }
  Status cancel(std::uint32_t job) override {
    return end_by_call("cancel " + std::to_string(job), job, "CANCELLED", "None");
  }

 private:
  void place(std::uint32_t id, State state, std::vector<AllocatedNode> nodes) {
    Allocation& job = jobs.at(id);
    job.state = state;
    job.state_name = "RUNNING";
    job.reason = "None";
    job.nodes = std::move(nodes);
    if (job.started == 0) job.started = 1'000'000'000 + time_;
    touch();
  }

  Status end_by_call(const std::string& call, std::uint32_t id, const char* state_name, const char* reason) {
    calls.push_back(call);
    ends++;
    if (auto error = next_failure()) return *error;
    const auto found = jobs.find(id);
    if (found == jobs.end() || found->second.state == State::ended) return {};
    const bool waits = found->second.state == State::pending;
    end(id, waits ? "CANCELLED" : state_name, waits ? found->second.reason : reason);
    return {};
  }

  std::optional<Error> next_failure() {
    if (failures.empty()) return std::nullopt;
    Error error = failures.front();
    failures.erase(failures.begin());
    return error;
  }

  std::uint32_t next_id_ = 1;
  std::time_t time_ = 1;
};

}  // namespace slurmk8s
