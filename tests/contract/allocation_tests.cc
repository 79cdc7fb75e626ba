// SPDX-License-Identifier: GPL-2.0-or-later
// What we assume of slurmctld's answers about allocations.
#include <algorithm>
#include <optional>
#include <string>

#include "contract/allocation_tests.hpp"

namespace slurmk8s::contract {

AllocationsUnderTest allocations_under_test;

namespace {

using State = Allocation::State;

constexpr std::uint32_t kNoJob = 4000000;
constexpr std::uint32_t kWord = 256;  // an exit code in a status as wait() has it

Allocations& allocations() { return *allocations_under_test.allocations; }

AllocationRequest request(const char* name) {
  AllocationRequest wanted;
  wanted.name = name;
  wanted.comment = std::string("contract/") + name;
  wanted.user = 1000;
  wanted.group = 1000;
  return wanted;
}

std::uint32_t submitted(const AllocationRequest& wanted) {
  const auto job = allocations().submit(wanted);
  assert_ok(job);
  assert_true(*job > 0);
  return *job;
}

std::uint32_t held(const char* name) {
  AllocationRequest wanted = request(name);
  wanted.held = true;
  return submitted(wanted);
}

std::uint32_t started(const char* name) {
  const std::uint32_t job = submitted(request(name));
  allocations_under_test.start(job);
  return job;
}

std::vector<Allocation> all(const std::string& prefix) {
  std::time_t since = 0;
  const auto jobs = allocations().load_since(since, prefix, {});
  assert_ok(jobs);
  assert_true(jobs->has_value());
  return **jobs;
}

Allocation found(std::uint32_t id) {
  const std::vector<Allocation> jobs = all("contract/");
  const auto job = std::find_if(jobs.begin(), jobs.end(), [&](const Allocation& one) { return one.id == id; });
  if (job == jobs.end()) fail_msg("job %u: slurm has no such job", id);
  return *job;
}

template <typename Fits>
void await(const char* what, Fits fits) {
  for (int i = 0; i < 100 && !fits(); ++i) allocations_under_test.wait();
  if (!fits()) fail_msg("%s: not in time", what);
}

void a_job_that_is_held_waits(void**) {
  const std::uint32_t id = held("waits");
  const Allocation job = found(id);
  assert_true(job.state == State::pending && !job.completing);
  assert_text(job.state_name, "PENDING");
  assert_text(job.reason, "JobHeldUser");
  assert_text(job.name, "waits");
  assert_text(job.comment, "contract/waits");
  assert_int_equal(job.priority, 0);
  assert_true(job.submitted > 0 && job.nodes.empty());
  assert_int_equal(job.preempted, 0);
  assert_ok(allocations().cancel(id));
}

void only_jobs_with_the_prefix(void**) {
  const std::uint32_t id = held("prefix");
  for (const Allocation& job : all("contract/p")) assert_text(job.comment, "contract/prefix");
  assert_false(all("contract/p").empty());
  assert_true(all("nobody/").empty());
  assert_ok(allocations().cancel(id));
}

void requests_that_are_refused(void**) {
  AllocationRequest of_root = request("refused");
  of_root.user = 0;
  assert_error(allocations().submit(of_root), Errc::invalid, "");
  if (!allocations_under_test.knows_partitions) return;
  AllocationRequest nowhere = request("refused");
  nowhere.partition = "nowhere";
  assert_error(allocations().submit(nowhere), Errc::invalid, "partition");
}

void a_job_that_waits_is_cancelled_however_it_ends(void**) {
  const std::uint32_t cancelled = held("cancelled"), completed = held("completed");
  assert_ok(allocations().cancel(cancelled));
  assert_ok(allocations().complete(completed, 0));
  for (const std::uint32_t id : {cancelled, completed}) {
    assert_true(found(id).state == State::ended && !found(id).completing);
    assert_text(found(id).state_name, "CANCELLED");
  }
}

void an_end_that_was_is_not_changed(void**) {
  const std::uint32_t id = held("ended");
  assert_ok(allocations().cancel(id));
  assert_ok(allocations().cancel(id));
  assert_ok(allocations().complete(id, 0));
  assert_ok(allocations().end_out_of_memory(id));
  assert_text(found(id).state_name, "CANCELLED");
}

void one_job_is_read_alone(void**) {
  const std::uint32_t id = held("alone");
  const auto job = allocations().load(id);
  assert_ok(job);
  assert_true(job->has_value());
  const Allocation listed = found(id);
  assert_int_equal((*job)->id, id);
  assert_text((*job)->reason, listed.reason);
  assert_text((*job)->comment, listed.comment);
  assert_true((*job)->submitted == listed.submitted && (*job)->uid == listed.uid && (*job)->state == listed.state);
  assert_ok(allocations().cancel(id));
  const auto ended = allocations().load(id);
  assert_ok(ended);
  assert_true(ended->has_value() && (*ended)->state == State::ended);
}

void a_job_that_is_not_there(void**) {
  const auto job = allocations().load(kNoJob);
  assert_ok(job);
  assert_false(job->has_value());
  assert_ok(allocations().cancel(kNoJob));
  assert_ok(allocations().complete(kNoJob, 0));
  assert_ok(allocations().end_out_of_memory(kNoJob));
}

void reads_say_whether_anything_has_changed(void**) {
  std::time_t since = 0;
  const auto is_quiet = [&] {
    const auto read = allocations().load_since(since, "contract/", {});
    assert_ok(read);
    return !read->has_value();
  };
  await("nothing changes", is_quiet);
  allocations_under_test.wait();  // Slurm's time has whole seconds
  const std::uint32_t id = held("change");
  assert_false(is_quiet());
  assert_ok(allocations().cancel(id));
}

void a_job_has_nodes_and_a_result(void**) {
  const struct {
    const char* name;
    Status (*end)(std::uint32_t);
    const char* state_name;
  } cases[] = {
      {"good", [](std::uint32_t id) { return allocations().complete(id, 0); }, "COMPLETED"},
      {"bad", [](std::uint32_t id) { return allocations().complete(id, 3 * kWord); }, "FAILED"},
      {"memory", [](std::uint32_t id) { return allocations().end_out_of_memory(id); }, "OUT_OF_MEMORY"},
      {"gone", [](std::uint32_t id) { return allocations().cancel(id); }, "CANCELLED"},
  };
  allocations_under_test.make_nodes();
  for (const auto& c : cases) {
    const std::uint32_t id = started(c.name);
    const Allocation job = found(id);
    assert_true(job.state == State::configuring || job.state == State::running);
    assert_text(job.state_name, "RUNNING");
    assert_false(job.user.empty() || job.user == "root");
    assert_int_equal(job.nodes.size(), 1);
    assert_int_equal(job.nodes[0].cpus, 1);
    assert_true(job.started > 0);
    assert_ok(c.end(id));
    assert_true(found(id).state == State::ended);
    assert_text(found(id).state_name, c.state_name);
    assert_ok(allocations().complete(id, 7 * kWord));
    assert_text(found(id).state_name, c.state_name);
  }
}

/** The nodes are those of the test before. */
void a_job_runs_on_its_nodes_alone(void**) {
  AllocationRequest wanted = request("only");
  for (const char* node : {"n-2", "n-1", "n-3"}) {
    wanted.only_nodes = {node};
    const std::uint32_t id = submitted(wanted);
    allocations_under_test.start(id);
    const Allocation job = found(id);
    assert_int_equal(job.nodes.size(), 1);
    assert_text(job.nodes[0].name, node);
    assert_ok(allocations().cancel(id));
  }
}

void a_job_runs_on_no_excluded_node(void**) {
  AllocationRequest wanted = request("not");
  wanted.not_nodes = {"n-0", "n-1", "n-3"};
  const std::uint32_t id = submitted(wanted);
  allocations_under_test.start(id);
  const Allocation job = found(id);
  assert_int_equal(job.nodes.size(), 1);
  assert_text(job.nodes[0].name, "n-2");
  assert_ok(allocations().cancel(id));
}

}  // namespace

std::vector<CMUnitTest> allocation_tests() {
  return {
      SLURMK8S_TEST(a_job_that_is_held_waits),       SLURMK8S_TEST(only_jobs_with_the_prefix),
      SLURMK8S_TEST(requests_that_are_refused),      SLURMK8S_TEST(a_job_that_waits_is_cancelled_however_it_ends),
      SLURMK8S_TEST(an_end_that_was_is_not_changed), SLURMK8S_TEST(one_job_is_read_alone),
      SLURMK8S_TEST(a_job_that_is_not_there),        SLURMK8S_TEST(reads_say_whether_anything_has_changed),
      SLURMK8S_TEST(a_job_has_nodes_and_a_result),   SLURMK8S_TEST(a_job_runs_on_its_nodes_alone),
      SLURMK8S_TEST(a_job_runs_on_no_excluded_node),
  };
}

}  // namespace slurmk8s::contract
