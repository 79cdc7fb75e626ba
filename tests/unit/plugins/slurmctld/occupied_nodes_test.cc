// SPDX-License-Identifier: GPL-2.0-or-later
// slurmctld/occupied_nodes, in what it takes for a slurmctld: this program has its symbols.
#include "slurmctld/occupied_nodes.hpp"

#include <map>
#include <string>
#include <vector>

#include "slurm/hostlist.hpp"

#include "support/cmocka.hpp"

using namespace slurmk8s;

#define SLURMCTLD_S __attribute__((visibility("default")))

struct job_record_t {
  std::vector<int> nodes;  ///< 0: c-0
};

namespace {

constexpr int kNodes = 3;  // c-0, c-1, c-2
constexpr int kConfiguring = -1, kPending = 0, kRuns = READY_JOB_STATE | READY_PROLOG_STATE;
std::map<std::uint32_t, int> jobs;  // what job_node_ready() says
int bitmaps = 0;
int unknown = 0;  // names that slurmctld would log

int index_of(const std::string& name) {
  const int index = name.starts_with("c-") ? name.back() - '0' : kNodes;
  return index < kNodes ? index : -1;
}

}  // namespace

extern "C" {

#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(25, 11, 0)
SLURMCTLD_S int job_node_ready(slurm_step_id_t* step, int* ready) {
  const uint32_t id = step->job_id;
#else
SLURMCTLD_S int job_node_ready(uint32_t id, int* ready) {
#endif
  if (!jobs.contains(id)) return ESLURM_INVALID_JOB_ID;
  if (jobs[id] == kConfiguring) return EAGAIN;
  *ready = jobs[id];
  return SLURM_SUCCESS;
}

SLURMCTLD_S node_record_t* find_node_record_no_alias(char* name) {
  return index_of(name) < 0 ? nullptr : reinterpret_cast<node_record_t*>(name);
}

#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(24, 11, 0)
SLURMCTLD_S int node_name2bitmap(char* names, bool, bitstr_t** bits, hostlist_t**) {
#else
SLURMCTLD_S int node_name2bitmap(char* names, bool, bitstr_t** bits) {
#endif
  ++bitmaps;
  *bits = new bitstr_t[kNodes]();
  const auto expanded = expand_hostlist(names);
  for (const std::string& name : *expanded) {
    if (index_of(name) < 0) ++unknown;
    if (index_of(name) >= 0) (*bits)[index_of(name)] = 1;
  }
  return SLURM_SUCCESS;
}

#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 2, 0)
SLURMCTLD_S bool job_overlap_and_running(bitstr_t* map, list_t*, job_record_t* job) {
#else
SLURMCTLD_S bool job_overlap_and_running(bitstr_t* map, job_record_t* job) {
#endif
  for (const int node : job->nodes) {
    if (map[node]) return true;
  }
  return false;
}

SLURMCTLD_S void slurm_bit_free(bitstr_t** bits) {
  --bitmaps;
  delete[] * bits;
  *bits = nullptr;
}

}  // extern "C"

namespace {

/** Whether a job on c-0 and c-1 meets pods of these jobs. */
bool meets(const PodJobs::Nodes& nodes) {
  job_record_t next{{0, 1}};
  const bool meets = OccupiedNodes(nodes).has_node_of(&next);
  assert_int_equal(bitmaps, 0);
  return meets;
}

void only_jobs_that_are_over_are_in_the_way(void**) {
  jobs = {{1, kRuns}, {2, kConfiguring}, {3, kPending}, {4, READY_JOB_STATE}};
  assert_false(meets({}));
  assert_false(meets({{1, {"c-[0-1]"}}}));
  assert_false(meets({{2, {"c-[0-1]"}}}));
  assert_true(meets({{3, {"c-[0-1]"}}}));
  assert_false(meets({{4, {"c-[0-1]"}}}));
  assert_true(meets({{9, {"c-1"}}}));  // slurmctld has forgotten it
}

void only_their_nodes_are_occupied(void**) {
  jobs = {{3, kPending}};
  assert_false(meets({{3, {"c-2"}}}));
  assert_false(meets({{3, {}}}));
  assert_true(meets({{3, {"c-[1-2]"}}}));
  assert_true(meets({{3, {}}, {9, {"c-2"}}, {10, {"c-0"}}}));
}

// Another job has its id by now, in a slurmctld that has lost its state.
void nodes_of_a_job_that_is_over_are_occupied_whoever_has_its_id(void**) {
  jobs = {{1, kRuns}};
  assert_true(meets({{1, {"", "c-0"}}}));
  assert_true(meets({{1, {"c-2", "c-0"}}}));
  assert_false(meets({{1, {"c-0", "c-2"}}}));
}

// slurmctld would log an error for each, 50 times a second.
void deleted_nodes_are_not_asked_for(void**) {
  jobs = {};
  assert_true(meets({{3, {"c-[0,7-9]"}}}));
  assert_false(meets({{3, {"c-[7-9]"}}}));
  assert_false(meets({{3, {"c-["}}}));
  assert_int_equal(unknown, 0);
}

void a_launched_job(void**) {
  jobs = {{1, kRuns}, {2, kConfiguring}, {3, kPending}, {4, READY_JOB_STATE}};
  assert_true(is_launched(1));
  for (const std::uint32_t job : {2u, 3u, 4u, 9u}) assert_false(is_launched(job));
}

}  // namespace

int main() {
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(only_jobs_that_are_over_are_in_the_way),
      SLURMK8S_TEST(only_their_nodes_are_occupied),
      SLURMK8S_TEST(nodes_of_a_job_that_is_over_are_occupied_whoever_has_its_id),
      SLURMK8S_TEST(deleted_nodes_are_not_asked_for),
      SLURMK8S_TEST(a_launched_job),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
