// SPDX-License-Identifier: GPL-2.0-or-later
// bridge/pod_jobs: where pods of each job may be, by the state of job and pods.
#include "bridge/pod_jobs.hpp"

#include "support/cmocka.hpp"

namespace slurmk8s {
namespace {

using State = Allocation::State;

const KubeNodes kKubeNodes = {{"c-0", "m0"}, {"c-1", "m1"}, {"c-2", "m1"}, {"c-3", "m3"}};

/** A gang of pods p0 and p1 with job 12 on c-0 and c-1: `b` bound, `o` over, `w` waits, `g` gone. */
struct Case {
  const char* pods;
  bool is_known;
  State state;
  bool is_placed;     ///< by this process
  const char* nodes;  ///< null: the job isn't listed
  const char* over = "";
};

void where_pods_are(void**) {
  const Case cases[] = {
      {"ww", true, State::pending, false, ""},
      {"ww", true, State::configuring, false, "c-[0-1]"},
      {"ww", true, State::running, false, "c-[0-1]"},
      {"bb", true, State::running, true, "c-[0-1]"},
      {"oo", true, State::running, true, "c-[0-1]"},
      {"bb", true, State::suspended, true, "", "c-[0-1]"},
      {"bb", true, State::ended, true, "", "c-[0-1]"},
      {"bo", true, State::ended, true, "", "c-0"},
      {"ob", true, State::ended, true, "", "c-1"},
      {"og", true, State::ended, true, nullptr},
      {"ww", true, State::ended, false, nullptr},
      {"ww", true, State::ended, true, "", "c-[0-1]"},  // their bindings may be under way
      {"wg", true, State::ended, true, "", "c-0"},
      {"ob", true, State::ended, false, "", "c-1"},       // bound by a former process: c-2 isn't the job's
      {"ob", false, State::ended, false, "", "c-[1-2]"},  // slurmctld has forgotten the job: all Slurm nodes there
      {"oo", false, State::ended, false, nullptr},
  };
  for (const Case& c : cases) {
    Gang gang;
    gang.number = 1;
    gang.job = 12;
    gang.user = 2001;
    gang.job_submitted = 50;
    gang.asked = TimePoint{} + std::chrono::seconds(1);
    WorkloadPods pods;
    for (int i = 0; i < 2; ++i) {
      const std::string uid = std::string("p") + std::to_string(i);
      gang.uids.push_back(uid);
      if (c.is_placed) gang.places[uid] = {static_cast<std::uint32_t>(i), "c-" + std::to_string(i)};
      if (c.pods[i] == 'g') continue;
      WorkloadPod& pod = pods[uid];
      pod.uid = uid;
      if (c.pods[i] != 'w') pod.kube_node = "m" + std::to_string(i);
      if (c.pods[i] == 'o') pod.end.kind = PodEnd::Kind::succeeded;
    }
    KnownJobs known;
    known.asked = TimePoint{} + std::chrono::seconds(2);
    Allocation job;
    job.id = 12;
    job.uid = 2001;
    job.submitted = 50;
    job.state = c.state;
    if (c.state != State::pending) job.nodes = {{"c-0", 1}, {"c-1", 1}};
    if (c.is_known) known.jobs[12] = job;
    const PodJobs listed = list_pod_jobs({&gang}, pods, known, kKubeNodes, true);
    const PodJobs expected = c.nodes == nullptr ? PodJobs() : PodJobs{{12, {c.nodes, c.over}}};
    if (listed != expected) fail_msg("%s: %s", c.pods, encode_pod_jobs({true, listed}).dump().c_str());
  }
}

/** A gang of one pod on c-0 with job 12, submitted at second 50. */
struct OnePod {
  Gang gang;
  WorkloadPods pods;
  KnownJobs known;

  OnePod() {
    gang.job = 12;
    gang.user = 2001;
    gang.job_submitted = 50;
    gang.uids = {"p"};
    gang.places["p"] = {0, "c-0"};
    pods["p"].uid = "p";
    pods["p"].kube_node = "m0";
    known.asked = TimePoint{} + std::chrono::seconds(2);
  }
  /** Job 12, as slurmctld knows it. */
  void know(std::time_t submitted, const char* node) {
    Allocation& job = known.jobs[12];
    job.id = 12;
    job.uid = 2001;
    job.submitted = submitted;
    job.state = State::running;
    job.nodes = {{node, 1}};
  }
  PodJobs list(bool is_current) const { return list_pod_jobs({&gang}, pods, known, kKubeNodes, is_current); }
};

// A slurmctld that has lost its state: the new job would be launched where the pod of the former one is.
void an_id_that_is_given_again(void**) {
  OnePod f;
  f.know(70, "c-3");
  assert_true(f.list(true) == (PodJobs{{12, {"", "c-0"}}}));
  Gang next = f.gang;
  next.job_submitted = 70;
  next.uids = {};
  const PodJobs both = list_pod_jobs({&f.gang, &next}, f.pods, f.known, kKubeNodes, true);
  assert_true(both == (PodJobs{{12, {"c-3", "c-0"}}}));
  // One that no list has been asked for yet: where its pod is counts, whatever the other's nodes are.
  f.gang.asked = f.known.asked;
  const PodJobs all = list_pod_jobs({&next, &f.gang}, f.pods, f.known, kKubeNodes, true);
  assert_true(all == (PodJobs{{12, {"c-[0,3]", ""}}}));
}

/** slurmctld was killed before it saved the job's start, or its owner gave the node back: others may have it. */
void a_pod_beside_its_jobs_nodes(void**) {
  const struct {
    const char* place;
    const char* node;
    const char* over;
  } cases[] = {{"c-0", "c-0", ""}, {"", "c-0", ""},       {"c-0", "c-3", "c-0"},
               {"", "c-3", "c-0"}, {"c-3", "c-3", "c-0"}, {"c-9", "c-3", "c-9"}};  // c-9: nothing is known of it
  for (const auto& c : cases) {
    OnePod f;
    f.gang.places.clear();
    if (c.place[0] != '\0') f.gang.places["p"] = {0, c.place};
    f.know(50, c.node);
    const PodJobs listed = f.list(true);
    if (listed != PodJobs{{12, {c.node, c.over}}})
      fail_msg("%s: %s", c.place, encode_pod_jobs({true, listed}).dump().c_str());
  }
}

void jobs_of_a_slurmctld_before_this_one(void**) {
  OnePod f;
  f.know(50, "c-0");
  assert_true(f.list(true) == (PodJobs{{12, {"c-0"}}}));
  assert_true(f.list(false) == (PodJobs{{12, {"c-0", "c-0"}}}));
  f.pods["p"].end.kind = PodEnd::Kind::succeeded;
  assert_true(f.list(false) == (PodJobs{{12, {"c-0"}}}));
}

/** Its nodes are others', and its pod still uses them. */
void a_suspended_job_has_no_nodes(void**) {
  OnePod f;
  f.know(50, "c-0");
  f.known.jobs[12].state = State::suspended;
  assert_true(f.list(true) == (PodJobs{{12, {"", "c-0"}}}));
  f.pods["p"].end.kind = PodEnd::Kind::failed;
  assert_true(f.list(true).empty());
}

void jobs_that_are_not_there_yet(void**) {
  Gang collecting;
  Gang submitted;
  submitted.job = 12;
  submitted.asked = TimePoint{} + std::chrono::seconds(5);
  KnownJobs known;
  known.asked = TimePoint{} + std::chrono::seconds(2);  // before the submission
  const PodJobs listed = list_pod_jobs({&collecting, &submitted}, {}, known, kKubeNodes, true);
  assert_true(listed == (PodJobs{{12, {}}}));
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(where_pods_are),
      SLURMK8S_TEST(jobs_that_are_not_there_yet),
      SLURMK8S_TEST(an_id_that_is_given_again),
      SLURMK8S_TEST(a_pod_beside_its_jobs_nodes),
      SLURMK8S_TEST(jobs_of_a_slurmctld_before_this_one),
      SLURMK8S_TEST(a_suspended_job_has_no_nodes),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
