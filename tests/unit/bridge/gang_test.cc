// SPDX-License-Identifier: GPL-2.0-or-later
// R3, R4: bridge/gang and gangs: the pods of one Slurm job, and the next step for them.
#include "bridge/gang.hpp"

#include <string>

#include "bridge/gangs.hpp"
#include "bridge/job_request.hpp"
#include "support/cmocka.hpp"

namespace slurmk8s {
namespace {

using std::chrono::seconds;
using State = Allocation::State;
using Step = GangPlan::Step;
using Earlier = EarlierPods;

constexpr TimePoint kNow = TimePoint{} + seconds(1000);

WorkloadPod make_pod(const std::string& uid, char kind) {
  WorkloadPod pod;
  pod.name_space = "a";
  pod.name = pod.uid = uid;
  pod.group = {"a", "Job", "train"};
  if (std::string("bfkmol").find(kind) != std::string::npos) pod.kube_node = "m1";
  pod.deleting = kind == 'l' || kind == 'x' || kind == 'k';
  if (kind == 'o') pod.end = {PodEnd::Kind::succeeded, 0};
  if (kind == 'f' || kind == 'k') pod.end = {PodEnd::Kind::failed, 3};
  if (kind == 'm') pod.end = {PodEnd::Kind::out_of_memory, 137};
  return pod;
}

/**
 * Pods: w waits, b bound, o succeeded, f failed, k failed since it was deleted, m out of memory, l leaves a node,
 * x leaves unbound, g gone.
 */
struct Case {
  const char* pods;
  const char* job;  ///< "pending", "configuring", "running", "preempted", "suspended", "ended"; "" unknown to slurmctld
  Step step;
  JobResult::Kind result = JobResult::Kind::completed;
  unsigned exit_code = 0;
};

Allocation make_job(const std::string& state) {
  Allocation job;
  job.id = 12;
  job.uid = 2001;
  job.submitted = 50;
  if (state == "configuring") job.state = State::configuring;
  if (state == "running" || state == "preempted") job.state = State::running;
  if (state == "suspended" || state == "preempted, suspended") job.state = State::suspended;
  if (state == "ended") job.state = State::ended;
  if (state.starts_with("preempted")) job.preempted = 1;
  return job;
}

Gang make_gang(const char* text, WorkloadPods& pods) {
  Gang gang;
  gang.stage = Gang::Stage::submitted;
  gang.job = 12;
  gang.user = 2001;
  gang.asked = kNow - seconds(60);
  gang.spec.is_gang = true;
  for (std::size_t i = 0; text[i] != '\0'; ++i) {
    const std::string uid = "u" + std::to_string(i);
    gang.uids.push_back(uid);
    if (text[i] != 'g') pods.emplace(uid, make_pod(uid, text[i]));
  }
  return gang;
}

void a_submitted_gang(void**) {
  using Kind = JobResult::Kind;
  const Case cases[] = {
      // A change of the pods before the start makes another job.
      {"ww", "pending", Step::wait},
      {"ww", "configuring", Step::wait},
      {"wg", "pending", Step::regroup},
      {"wx", "pending", Step::regroup},
      {"gg", "pending", Step::regroup},
      {"wg", "configuring", Step::regroup},
      {"bg", "configuring", Step::wait},
      // The job runs.
      {"ww", "running", Step::bind},
      {"wb", "running", Step::bind},
      {"wg", "running", Step::regroup},
      {"wx", "running", Step::regroup},
      {"bx", "running", Step::bind},
      {"wwo", "running", Step::bind},
      {"bb", "running", Step::wait},
      {"bo", "running", Step::wait},
      {"bf", "running", Step::wait},
      {"lo", "running", Step::wait},
      // With the last pod the job ends, as the worst of them.
      {"oo", "running", Step::finish},
      {"of", "running", Step::finish, Kind::failed, 3},
      {"fm", "running", Step::finish, Kind::out_of_memory},
      {"mf", "running", Step::finish, Kind::out_of_memory},
      {"og", "running", Step::finish, Kind::cancelled},
      {"fg", "running", Step::finish, Kind::failed, 3},
      {"ok", "running", Step::finish, Kind::cancelled},
      {"fk", "running", Step::finish, Kind::failed, 3},
      {"gg", "running", Step::finish, Kind::cancelled},
      {"oo", "suspended", Step::finish},
      // Slurm preempts it, and ends it itself.
      {"bw", "preempted", Step::evict},
      {"bl", "preempted", Step::evict},
      {"ll", "preempted", Step::wait},
      {"og", "preempted", Step::wait},
      // An administrator suspends it: pods cannot be.
      {"ww", "suspended", Step::evict},
      {"bl", "suspended", Step::evict},
      {"ll", "suspended", Step::wait},
      {"gg", "suspended", Step::finish, Kind::cancelled},
      // Or Slurm does, for ever: its pods cannot be resumed.
      {"bb", "preempted, suspended", Step::evict},
      {"gg", "preempted, suspended", Step::finish, Kind::cancelled},
      // Slurm has ended it.
      {"bb", "ended", Step::evict},
      {"wo", "ended", Step::evict},
      {"bl", "ended", Step::evict},
      {"lo", "ended", Step::wait},
      {"of", "ended", Step::forget},
      {"gg", "ended", Step::forget},
      // slurmctld doesn't know it: pods that run stay.
      {"bb", "", Step::wait},
      {"bw", "", Step::wait},
      {"bo", "", Step::wait},
      {"lo", "", Step::wait},
      {"ww", "", Step::regroup},
      {"og", "", Step::forget},
      {"gg", "", Step::forget},
  };
  for (const Case& one : cases) {
    WorkloadPods pods;
    Gang gang = make_gang(one.pods, pods);
    KnownJobs known;
    known.asked = kNow - seconds(1);
    if (one.job[0] != '\0') known.jobs.emplace(12, make_job(one.job));
    const GangPlan plan = plan_gang(gang, pods, known, kNow);
    if (plan.step != one.step) print_error("pods %s, job %s\n", one.pods, one.job);
    assert_int_equal(static_cast<int>(plan.step), static_cast<int>(one.step));
    assert_true(plan.result == (JobResult{one.result, one.exit_code}));
    const GangCounts count = count_pods(gang, pods);
    const bool runs = count.bound + count.leaving != 0;
    assert_int_equal(plan.is_unknown, one.job[0] == '\0' && runs);
    // What has been asked for isn't asked for again.
    gang.is_ending = true;
    const Step again = plan_gang(gang, pods, known, kNow).step;
    if (one.step == Step::finish) assert_int_equal(static_cast<int>(again), static_cast<int>(Step::wait));
  }
}

void a_job_is_lost_only_when_it_was_looked_for(void**) {
  WorkloadPods pods;
  Gang gang = make_gang("w", pods);
  KnownJobs known;
  const auto step = [&] { return plan_gang(gang, pods, known, kNow).step; };
  gang.asked = kNow - seconds(60);
  known.asked = gang.asked;  // the list is older than the submission
  assert_true(step() == Step::wait);
  known.asked = gang.asked + seconds(1);
  assert_true(step() == Step::regroup);
  gang.asked = kNow - seconds(29);
  known.asked = kNow;
  assert_true(step() == Step::wait);
  // Another job of the same id: slurmctld has a new state.
  gang.asked = kNow - seconds(60);
  gang.job_submitted = 49;
  known.jobs.emplace(12, make_job("ended"));
  assert_true(step() == Step::regroup);
  gang.job_submitted = 50;
  assert_true(step() == Step::evict);
}

void a_lost_kube_node_is_left_to_slurmctld(void**) {
  using Kind = JobResult::Kind;
  for (const char* text : {"g", "f", "og", "ff"}) {
    WorkloadPods pods;
    Gang gang = make_gang(text, pods);
    KnownJobs known;
    known.asked = kNow - seconds(1);
    known.jobs.emplace(12, make_job("running"));
    gang.lost = kNow - seconds(29);
    assert_true(plan_gang(gang, pods, known, kNow).step == Step::wait);
    gang.lost = kNow - seconds(30);  // slurmctld's node is up
    const GangPlan plan = plan_gang(gang, pods, known, kNow);
    assert_true(plan.step == Step::finish);
    assert_true(plan.result == (JobResult{Kind::failed, 1}));
    known.jobs.at(12) = make_job("ended");
    gang.lost = kNow;
    assert_true(plan_gang(gang, pods, known, kNow).step == Step::forget);
  }
}

// Nodes without slurmd stay up: the others of the gang would wait for it for ever.
void a_lost_pod_ends_its_gang(void**) {
  for (const char* text : {"bg", "bf", "wbg"}) {
    WorkloadPods pods;
    Gang gang = make_gang(text, pods);
    KnownJobs known;
    known.asked = kNow - seconds(1);
    known.jobs.emplace(12, make_job("running"));
    gang.lost = kNow - seconds(29);
    assert_true(plan_gang(gang, pods, known, kNow).step != Step::finish);
    gang.lost = kNow - seconds(30);
    const GangPlan plan = plan_gang(gang, pods, known, kNow);
    assert_true(plan.step == Step::finish);
    assert_true(plan.result == (JobResult{JobResult::Kind::failed, 1}));
    gang.is_ending = true;
    assert_true(plan_gang(gang, pods, known, kNow).step == Step::wait);
    known.jobs.at(12) = make_job("ended");
    assert_true(plan_gang(gang, pods, known, kNow).step == Step::evict);
  }
}

// A pod without its gate can have no other Kubernetes node, and its gang waits for it.
void a_pod_that_kube_scheduler_cannot_place_ends_its_job(void**) {
  const struct {
    const char* pods;  // as of make_gang(), of which the first is the one
    const char* job;
    int since;  // seconds; 0: it is placed
    Step step;
  } cases[] = {
      {"b", "running", 0, Step::wait},      {"b", "running", 59, Step::wait},     {"b", "running", 60, Step::give_up},
      {"bb", "running", 60, Step::give_up}, {"bo", "running", 60, Step::give_up}, {"bw", "running", 60, Step::give_up},
      {"bw", "running", 59, Step::bind},    {"b", "preempted", 60, Step::evict},  {"b", "suspended", 60, Step::evict},
      {"b", "ended", 60, Step::evict},      {"b", "configuring", 60, Step::wait}, {"o", "running", 60, Step::finish},
  };
  for (const auto& one : cases) {
    WorkloadPods pods;
    Gang gang = make_gang(one.pods, pods);
    if (one.since != 0) gang.unschedulable = kNow - seconds(one.since);
    KnownJobs known;
    known.asked = kNow - seconds(1);
    known.jobs.emplace(12, make_job(one.job));
    const GangPlan plan = plan_gang(gang, pods, known, kNow);
    if (plan.step != one.step) print_error("pods %s, job %s, %d s\n", one.pods, one.job, one.since);
    assert_int_equal(static_cast<int>(plan.step), static_cast<int>(one.step));
    if (one.step != Step::give_up) continue;
    assert_true(plan.result == (JobResult{JobResult::Kind::cancelled}));
    gang.is_ending = true;
    assert_true(plan_gang(gang, pods, known, kNow).step == Step::wait);
  }
}

void it_is_noted_since_when_kube_scheduler_finds_no_place(void**) {
  WorkloadPods pods;
  Gang gang = make_gang("bb", pods);
  WorkloadPod& pod = pods.at("u1");
  const auto note = [&](int after) {
    note_unschedulable(gang, count_pods(gang, pods), kNow + seconds(after));
    return gang.unschedulable == TimePoint{} ? -1 : (gang.unschedulable - kNow) / seconds(1);
  };
  assert_int_equal(note(0), -1);
  pod.is_unschedulable = true;
  assert_int_equal(note(1), 1);
  assert_int_equal(note(2), 1);
  pod.is_unschedulable = false;
  assert_int_equal(note(3), -1);
  pod.is_unschedulable = pod.deleting = true;  // its user gave up first
  assert_int_equal(note(4), -1);
  pod.deleting = false;
  assert_int_equal(note(5), 5);
  pods.erase("u1");
  assert_int_equal(note(6), -1);
}

/** A binding that was sent may be done, whatever the watch shows. */
void a_gang_with_a_binding_under_way_keeps_its_job(void**) {
  WorkloadPods pods;
  Gang gang = make_gang("wg", pods);
  gang.may_be_bound = true;
  KnownJobs known;
  known.asked = kNow - seconds(1);
  known.jobs.emplace(12, make_job("running"));
  assert_true(plan_gang(gang, pods, known, kNow).step == Step::bind);
}

void a_collecting_gang(void**) {
  const struct {
    const char* pods;
    bool is_gang;
    EarlierPods earlier;
    unsigned min_pods;
    unsigned all_pods;
    int quiet_s;  ///< since the last pod
    Step step;
  } cases[] = {
      {"w", false, Earlier::none, 1, 1, 0, Step::submit},
      {"ww", true, Earlier::none, 2, 2, 0, Step::submit},
      {"w", true, Earlier::none, 2, 2, 60, Step::wait},
      // Of pods that come later any number starts, after a pause.
      {"w", true, Earlier::alive, 2, 2, 0, Step::wait},
      {"w", true, Earlier::alive, 2, 2, 1, Step::submit},
      {"w", true, Earlier::ended, 2, 2, 29, Step::wait},
      {"w", true, Earlier::ended, 2, 2, 30, Step::submit},
      {"ww", true, Earlier::ended, 2, 2, 0, Step::submit},
      {"ww", true, Earlier::none, 2, 9, 0, Step::wait},
      {"ww", true, Earlier::none, 2, 9, 1, Step::submit},
      {"wg", true, Earlier::none, 1, 9, 1, Step::regroup},
      {"wx", true, Earlier::none, 1, 9, 1, Step::regroup},
      {"g", false, Earlier::none, 1, 1, 1, Step::regroup},
      // Bound for a former job, which the watch shows late.
      {"b", false, Earlier::none, 1, 1, 0, Step::regroup},
      {"bw", true, Earlier::none, 2, 2, 0, Step::regroup},
  };
  for (const auto& one : cases) {
    WorkloadPods pods;
    Gang gang = make_gang(one.pods, pods);
    gang.stage = Gang::Stage::collecting;
    gang.asked = {};
    gang.spec = {one.is_gang, one.min_pods, one.all_pods, {}};
    gang.earlier = one.earlier;
    gang.joined = kNow - seconds(one.quiet_s);
    assert_int_equal(static_cast<int>(plan_gang(gang, pods, {}, kNow).step), static_cast<int>(one.step));
    gang.not_before = kNow + seconds(1);
    assert_true(plan_gang(gang, pods, {}, kNow).step != Step::submit);
    gang.not_before = {};
    // An attempt was made: whether slurmctld has its job must be known first.
    gang.asked = kNow - seconds(5);
    KnownJobs known{{}, gang.asked};
    assert_true(plan_gang(gang, pods, known, kNow).step != Step::submit);
    known.asked = kNow - seconds(4);
    assert_int_equal(static_cast<int>(plan_gang(gang, pods, known, kNow).step), static_cast<int>(one.step));
    gang.stage = Gang::Stage::submitting;
    assert_true(plan_gang(gang, pods, {}, kNow).step == Step::wait);
  }
}

struct Members {
  Gangs gangs;
  Workload spec{true, 2, 2, {}};
  std::map<std::uint32_t, Allocation> jobs;

  Gang& join(const char* uid) {
    gangs.join(make_pod(uid, 'w'), spec, kNow);
    return *gangs.find(uid);
  }
  Gang& restore(const char* uid, std::uint32_t job, std::uint32_t user = 2001) {
    WorkloadPod pod = make_pod(uid, 'b');
    pod.job = job;
    pod.job_submitted = 50;
    gangs.restore(pod, spec, user);
    return *gangs.find(uid);
  }
  void put_job(std::uint32_t id, const std::vector<std::string>& uids, const char* state = "pending") {
    Allocation job = make_job(state);
    job.id = id;
    job.comment = build_job_comment({"a", "Job", "train"}, uids);
    jobs[id] = job;
  }
};

void pods_that_come_later_make_the_next_gang(void**) {
  Members m;
  Gang& first = m.join("u1");
  assert_ptr_equal(&first, &m.join("u2"));
  assert_true(m.gangs.others(first).empty());
  m.gangs.close(first);
  first.user = 2001;
  m.gangs.set_job(first, 7);
  Gang& second = m.join("u3");
  assert_ptr_not_equal(&first, &second);
  assert_int_equal(m.gangs.others(second).size(), 1);
  assert_ptr_equal(m.gangs.find_job(7, 2001, 50), &first);
  m.gangs.drop(first);
  assert_null(m.gangs.find_job(7, 2001, 50));
  assert_null(m.gangs.find("u1"));
  m.gangs.drop(second);
  assert_int_equal(m.gangs.all().size(), 0);
  assert_true(m.gangs.others(m.join("u4")).empty());
}

// A Job of the same name, made while pods of the former one still end.
void another_object_of_the_name_is_another_gang(void**) {
  Members m;
  WorkloadPod pod = make_pod("u1", 'w');
  pod.attempt = "former";
  m.gangs.join(pod, m.spec, kNow);
  pod.uid = "u2";
  pod.attempt = "today's";
  m.gangs.join(pod, m.spec, kNow);
  assert_ptr_not_equal(m.gangs.find("u1"), m.gangs.find("u2"));
  assert_true(m.gangs.others(*m.gangs.find("u2")).empty());
}

void a_restored_gang_is_identified_later(void**) {
  Members m;
  const Workload known = m.spec;
  m.spec = {};
  Gang& gang = m.restore("u1", 7);
  assert_text(to_string(gang.workload), "a/Pod/u1");
  m.spec = known;
  m.gangs.identify(gang, make_pod("u1", 'b'), known);
  assert_text(to_string(gang.workload), "a/Job/train");
  assert_int_equal(m.gangs.others(m.join("u2")).size(), 1);
  m.gangs.drop(gang);
  assert_true(m.gangs.others(*m.gangs.find("u2")).empty());
}

void workloads_that_have_started(void**) {
  StartedWorkloads started;
  WorkloadPod pod = make_pod("u1", 'w');
  pod.attempt = "1";
  const WorkloadRun run{pod.group, "1"};
  const auto found = [&] { return started.find(run); };
  started.note(pod);
  assert_true(found() == Earlier::none);  // without a job
  pod.job = 7;
  started.note(pod);
  assert_true(found() == Earlier::alive);
  assert_true(started.find({pod.group, "2"}) == Earlier::none);
  pod.end = {PodEnd::Kind::failed, 3};
  started.note(pod);
  assert_true(found() == Earlier::ended);
  WorkloadPod other = pod;
  other.uid = "u2";
  other.end = {PodEnd::Kind::succeeded, 0};
  started.note(other);
  assert_true(found() == Earlier::alive);
  other.deleting = true;
  started.note(other);
  assert_true(found() == Earlier::ended);
  started.forget(pod);
  assert_true(found() == Earlier::none);
  pod.attempt.clear();
  started.note(pod);
  assert_true(started.find({pod.group, ""}) == Earlier::none);
}

// A pod that has ended may be deleted before the others have.
void a_deleted_pod_that_had_ended_counts(void**) {
  WorkloadPods pods;
  Gang gang = make_gang("go", pods);
  KnownJobs known;
  known.asked = kNow - seconds(1);
  known.jobs.emplace(12, make_job("running"));
  assert_true(plan_gang(gang, pods, known, kNow).result == (JobResult{JobResult::Kind::cancelled, 0}));
  gang.ends["u0"] = {PodEnd::Kind::failed, 3};
  assert_true(plan_gang(gang, pods, known, kNow).result == (JobResult{JobResult::Kind::failed, 3}));
}

void pods_that_are_no_gang_stay_alone(void**) {
  Members m;
  m.spec.is_gang = false;
  Gang& first = m.join("u1");
  assert_ptr_not_equal(&first, &m.join("u2"));
  assert_text(to_string(first.workload), "a/Pod/u1");
}

void a_job_from_before_is_adopted(void**) {
  Members m;
  m.put_job(7, {"u1", "u2"});
  Gang& gang = m.join("u1");
  assert_false(m.gangs.adopt(gang, 2001, m.jobs, kNow));  // of other pods
  m.join("u2");
  assert_true(m.gangs.adopt(gang, 2001, m.jobs, kNow));
  assert_int_equal(gang.job, 7);
  assert_int_equal(gang.job_submitted, 50);
  assert_true(gang.stage == Gang::Stage::submitted);
  assert_ptr_equal(m.gangs.find_job(7, 2001, 50), &gang);
}

void an_ended_job_is_not_adopted(void**) {
  Members m;
  m.put_job(7, {"u1"}, "ended");
  assert_false(m.gangs.adopt(m.join("u1"), 2001, m.jobs, kNow));
}

void another_users_job_is_not_adopted(void**) {
  Members m;
  m.put_job(7, {"u1"});
  assert_false(m.gangs.adopt(m.join("u1"), 2002, m.jobs, kNow));
}

/** slurmctld was killed, and forgot the first one. */
void an_id_that_two_jobs_have(void**) {
  Members m;
  Gang& first = m.join("u1");
  Gang& second = m.restore("u2", 7);
  first.user = 2001;
  first.job_submitted = 40;
  m.gangs.set_job(first, 7);
  assert_ptr_equal(m.gangs.find_job(7, 2001, 40), &first);
  assert_ptr_equal(m.gangs.find_job(7, 2001, 50), &second);
  assert_null(m.gangs.find_job(7, 2001, 60));
  KnownJobs known;
  known.jobs.emplace(7, make_job("running"));
  assert_null(known.find(first));
  assert_non_null(known.find(second));
  first.job_submitted = 0;  // its answer came, and then slurmctld was killed
  first.comment = "k8s:another";
  assert_null(known.find(first));
  first.comment = known.jobs.at(7).comment;
  assert_non_null(known.find(first));
  m.gangs.drop(first);
  assert_ptr_equal(m.gangs.find_job(7, 2001, 50), &second);
}

void a_pod_does_not_join_another_users_job(void**) {
  Members m;
  m.restore("u1", 7);
  m.restore("x", 7, 2002);
  assert_int_equal(m.gangs.find_job(7, 2001, 50)->uids.size(), 1);
  assert_int_equal(m.gangs.all().size(), 2);
  KnownJobs known;
  known.jobs.emplace(7, make_job("running"));
  assert_non_null(known.find(*m.gangs.find("u1")));
  assert_null(known.find(*m.gangs.find("x")));
}

void the_rest_of_a_gang_joins_its_bound_pods(void**) {
  Members m;
  m.put_job(7, {"u1", "u2", "u3"}, "running");
  m.restore("u1", 7);
  m.join("u2");
  assert_false(m.gangs.adopt(*m.gangs.find("u2"), 2001, m.jobs, kNow));
  m.join("u3");
  assert_true(m.gangs.adopt(*m.gangs.find("u2"), 2001, m.jobs, kNow));
  assert_int_equal(m.gangs.all().size(), 1);
  assert_int_equal(m.gangs.find_job(7, 2001, 50)->uids.size(), 3);
  assert_ptr_equal(m.gangs.find("u3"), m.gangs.find_job(7, 2001, 50));
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(a_submitted_gang),
      SLURMK8S_TEST(a_job_is_lost_only_when_it_was_looked_for),
      SLURMK8S_TEST(a_lost_kube_node_is_left_to_slurmctld),
      SLURMK8S_TEST(a_lost_pod_ends_its_gang),
      SLURMK8S_TEST(a_pod_that_kube_scheduler_cannot_place_ends_its_job),
      SLURMK8S_TEST(it_is_noted_since_when_kube_scheduler_finds_no_place),
      SLURMK8S_TEST(a_gang_with_a_binding_under_way_keeps_its_job),
      SLURMK8S_TEST(a_collecting_gang),
      SLURMK8S_TEST(pods_that_come_later_make_the_next_gang),
      SLURMK8S_TEST(another_object_of_the_name_is_another_gang),
      SLURMK8S_TEST(a_restored_gang_is_identified_later),
      SLURMK8S_TEST(workloads_that_have_started),
      SLURMK8S_TEST(a_deleted_pod_that_had_ended_counts),
      SLURMK8S_TEST(pods_that_are_no_gang_stay_alone),
      SLURMK8S_TEST(a_job_from_before_is_adopted),
      SLURMK8S_TEST(an_ended_job_is_not_adopted),
      SLURMK8S_TEST(another_users_job_is_not_adopted),
      SLURMK8S_TEST(an_id_that_two_jobs_have),
      SLURMK8S_TEST(a_pod_does_not_join_another_users_job),
      SLURMK8S_TEST(the_rest_of_a_gang_joins_its_bound_pods),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
