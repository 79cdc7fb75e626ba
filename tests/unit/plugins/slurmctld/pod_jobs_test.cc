// SPDX-License-Identifier: GPL-2.0-or-later
// slurmctld/pod_jobs: what the bridge's jobs do is reported once, and only after slurmctld knows where their pods are.
#include "slurmctld/pod_jobs.hpp"

#include <algorithm>
#include <atomic>
#include <set>
#include <utility>

#include "support/cmocka.hpp"
#include "support/fake_clock.hpp"

namespace slurmk8s {
namespace {

struct Fixture {
  Locked<std::set<std::uint32_t>> running;
  Locked<std::string> reports;
  Locked<std::size_t> largest;
  Locked<std::size_t> asked;  ///< jobs that were looked at, each time
  std::atomic<bool> is_ending{false};
  FakeClock clock;

  PodJobs::Host host() {
    PodJobs::Host host;
    host.poll = [this](const std::vector<std::uint32_t>& jobs) {
      std::vector<bool> answers;
      *asked.lock() += jobs.size();
      auto most = largest.lock();
      *most = std::max(*most, jobs.size());
      for (const std::uint32_t job : jobs) answers.push_back(running.lock()->contains(job));
      return is_ending ? std::vector<bool>() : answers;
    };
    host.report = [this](std::uint64_t number, const PodJobs::Running& changed) {
      std::string text = std::to_string(number) + ":";
      for (const auto& [job, runs] : changed) text += (runs ? " +" : " -") + std::to_string(job);
      *reports.lock() += text + "\n";
    };
    return host;
  }
  /** What was reported since the last call, by this thread's polls alone: the object's own thread is stopped. */
  std::string said(PodJobs& jobs) {
    jobs.poll_once();
    return std::exchange(*reports.lock(), "");
  }
  /** The same when all jobs are looked at. */
  std::string later(PodJobs& jobs) {
    clock.advance(std::chrono::seconds(1));
    return said(jobs);
  }
};

void changes_are_reported_once(void**) {
  Fixture f;
  PodJobs jobs(f.host(), f.clock, false);
  jobs.stop();
  assert_text(f.said(jobs), "");
  assert_int_equal(jobs.set({true, {{12, {}}, {13, {"c-0"}}}}), 1);
  f.running.lock()->insert(13);
  assert_text(f.said(jobs), "1: -12 +13\n");
  assert_text(f.said(jobs), "");
  f.running.lock()->insert(12);
  assert_text(f.later(jobs), "1: +12\n");
  *f.running.lock() = {};
  assert_text(f.later(jobs), "1: -12 -13\n");
}

void each_set_is_answered(void**) {
  Fixture f;
  PodJobs jobs(f.host(), f.clock, false);
  jobs.stop();
  jobs.set({true, {{12, {}}}});
  assert_text(f.said(jobs), "1: -12\n");
  assert_int_equal(jobs.set({false, {{12, {"c-0"}}}}), 2);
  assert_int_equal(jobs.set({false, {{13, {}}}}), 3);
  assert_text(f.said(jobs), "3: -12 -13\n");
  assert_int_equal(jobs.set({}), 4);
  assert_text(f.said(jobs), "4:\n");
  jobs.set({true, {{12, {"c-0"}}, {13, {}}}});  // another bridge
  assert_text(f.said(jobs), "5: -12 -13\n");
  jobs.set({false, {}, {12, 13}});
  assert_text(f.said(jobs), "6:\n");
  assert_false(jobs.has_jobs());
}

// Pods of a new job wait for the answer, and slurmctld for the look.
void a_new_job_does_not_wait_for_the_others(void**) {
  Fixture f;
  PodJobs jobs(f.host(), f.clock, false);
  jobs.stop();
  PodJobs::Nodes many;
  for (std::uint32_t id = 1; id <= 1000; ++id) many[id] = {"c-0"};
  jobs.set({true, many});
  f.said(jobs);
  assert_int_equal(*f.asked.lock(), 1000);
  jobs.set({false, {{1001, {}}}});
  assert_text(f.said(jobs), "2: -1001\n");
  f.running.lock()->insert(1001);
  jobs.look(1001);
  jobs.look(2000);  // not a job of the bridge
  assert_text(f.said(jobs), "2: +1001\n");
  jobs.set({false, {{1001, {"c-1"}}}});
  assert_text(f.said(jobs), "3: +1001\n");
  assert_int_equal(*f.asked.lock(), 1003);
  f.running.lock()->insert(1);
  assert_text(f.later(jobs), "3: +1\n");
  assert_int_equal(*f.asked.lock(), 2004);
}

// The bridge takes it for a new one.
void a_job_that_was_away_is_reported_again(void**) {
  Fixture f;
  PodJobs jobs(f.host(), f.clock, false);
  jobs.stop();
  f.running.lock()->insert(12);
  jobs.set({true, {{12, {"c-0"}}, {13, {}}}});
  assert_text(f.said(jobs), "1: +12 -13\n");
  jobs.set({false, {}, {12}});
  jobs.set({false, {{12, {"c-0"}}}});
  assert_text(f.said(jobs), "3: +12\n");
}

// Its answers would be those of a slurmctld that has given up its jobs.
void a_slurmctld_that_ends_reports_nothing(void**) {
  Fixture f;
  PodJobs jobs(f.host(), f.clock, false);
  jobs.stop();
  jobs.set({true, {{12, {}}}});
  f.is_ending = true;
  assert_text(f.said(jobs), "");
  f.is_ending = false;
  assert_text(f.said(jobs), "1: -12\n");
  jobs.set({false, {{12, {"c-0"}}}});
  f.is_ending = true;
  assert_text(f.said(jobs), "");
  f.is_ending = false;
  assert_text(f.said(jobs), "2: -12\n");
}

void few_jobs_at_once_under_the_locks(void**) {
  Fixture f;
  PodJobs jobs(f.host(), f.clock, false);
  jobs.stop();
  PodJobs::Nodes many;
  for (std::uint32_t id = 1; id <= 250; ++id) many[id] = {};
  f.running.lock()->insert(250);
  jobs.set({true, many});
  const std::string said = f.said(jobs);
  assert_contains(said, " -249 +250\n");
  assert_int_equal(*f.largest.lock(), 100);
}

void a_bridge_that_is_expected(void**) {
  Fixture f;
  PodJobs without(f.host(), f.clock, false), with(f.host(), f.clock, true);
  without.stop();
  with.stop();
  assert_false(without.is_unknown());
  assert_true(with.is_unknown());
  with.set({true});
  assert_false(with.is_unknown());
  with.forget();
  assert_true(with.is_unknown());
  f.clock.advance(std::chrono::milliseconds(29900));
  assert_true(with.is_unknown());
  f.clock.advance(std::chrono::milliseconds(200));  // it does not come: jobs must go on
  assert_false(with.is_unknown());
}

void what_is_forgotten_holds_nothing(void**) {
  Fixture f;
  PodJobs jobs(f.host(), f.clock, false);
  jobs.stop();
  jobs.set({true, {{12, {"c-0"}}}});
  assert_true(jobs.has_jobs());
  assert_int_equal(jobs.on_nodes()->size(), 1);
  jobs.forget();
  assert_false(jobs.has_jobs());
  assert_int_equal(jobs.on_nodes()->size(), 0);
  assert_int_equal(jobs.set({false, {{13, {}}}}), 0);  // the bridge has to tell all
  assert_false(jobs.has_jobs());
  assert_int_equal(jobs.set({true, {{12, {"c-0"}}, {13, {}}}}), 2);
}

// At a launch slurmctld waits, under its locks, for what is asked about each job.
void jobs_without_nodes_are_in_no_launch_s_way(void**) {
  Fixture f;
  PodJobs jobs(f.host(), f.clock, false);
  jobs.stop();
  jobs.set({true, {{12, {"c-0"}}, {13, {}}, {14, {"", "c-1"}}}});
  const auto before = jobs.on_nodes();
  assert_true(*before == (PodJobs::Nodes{{12, {"c-0"}}, {14, {"", "c-1"}}}));
  jobs.set({false, {{15, {}}}, {13}});
  assert_true(jobs.on_nodes() == before);  // not copied for jobs that wait
  jobs.set({false, {{12, {}}, {15, {"c-2"}}}, {14}});
  assert_true(*jobs.on_nodes() == (PodJobs::Nodes{{15, {"c-2"}}}));
  assert_int_equal(jobs.name_count(), 1);
  jobs.set({false, {{17, {"c-[10-19]", "c-20"}}}});
  assert_int_equal(jobs.name_count(), 12);
  jobs.set({false, {{17, {"c-[10-11]"}}}});
  assert_int_equal(jobs.name_count(), 3);
  jobs.set({false, {}, {17}});
  assert_int_equal(jobs.name_count(), 1);
  jobs.set({true, {{16, {"c-3"}}}});
  assert_true(*jobs.on_nodes() == (PodJobs::Nodes{{16, {"c-3"}}}));
}

void its_thread_looks_by_itself(void**) {
  Fixture f;
  SystemClock clock;
  PodJobs jobs(f.host(), clock, false);
  jobs.set({true, {{12, {}}}});
  const auto has = [&](const char* text) {
    for (int i = 0; i < 3000; ++i) {
      if (f.reports.lock()->find(text) != std::string::npos) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  };
  const bool first = has("1: -12\n");
  f.running.lock()->insert(12);
  const bool second = has("1: +12\n");
  jobs.stop();
  assert_true(first && second);
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(changes_are_reported_once),
      SLURMK8S_TEST(each_set_is_answered),
      SLURMK8S_TEST(a_new_job_does_not_wait_for_the_others),
      SLURMK8S_TEST(a_job_that_was_away_is_reported_again),
      SLURMK8S_TEST(a_slurmctld_that_ends_reports_nothing),
      SLURMK8S_TEST(few_jobs_at_once_under_the_locks),
      SLURMK8S_TEST(a_bridge_that_is_expected),
      SLURMK8S_TEST(what_is_forgotten_holds_nothing),
      SLURMK8S_TEST(jobs_without_nodes_are_in_no_launch_s_way),
      SLURMK8S_TEST(its_thread_looks_by_itself),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
