// SPDX-License-Identifier: GPL-2.0-or-later
// Launches: each held job is completed exactly once, whatever its state.
#include <atomic>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>

#include "slurmctld/job_id.hpp"
#include "slurmctld/launches.hpp"

#include "support/cmocka.hpp"
#include "support/fake_clock.hpp"

using namespace slurmk8s;

namespace {

/** slurmctld as the launch thread sees it. */
struct FakeSlurmctld {
  Locked<std::map<std::uint32_t, JobState>> jobs;
  Locked<std::map<std::uint32_t, std::string>> completed;  // "+" for ok, "-" for failed, one per call
  std::atomic<int> woken{0};

  Launches::Host host() {
    return {[this](const std::vector<std::uint32_t>& ids) {
              std::vector<JobState> states;
              auto known = jobs.lock();
              for (const std::uint32_t id : ids) states.push_back(known->count(id) ? (*known)[id] : JobState::gone);
              return states;
            },
            [this](std::uint32_t job, bool ok) { (*completed.lock())[job] += ok ? "+" : "-"; },
            [this](Wake) { ++woken; }};
  }
  std::string of(std::uint32_t job) { return (*completed.lock())[job]; }
};

/** Whether it becomes true. A minute: sanitizers run at the lowest priority. */
bool eventually(const std::function<bool()>& condition) {
  for (int i = 0; i < 3000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

void a_job_is_launched_when_its_nodes_are_there(void**) {
  FakeSlurmctld slurmctld;
  (*slurmctld.jobs.lock())[7] = JobState::waiting;
  SystemClock clock;
  Launches launches(slurmctld.host(), clock, std::chrono::hours(1));
  launches.hold(7);
  launches.poll_once();
  const std::string before = slurmctld.of(7);
  (*slurmctld.jobs.lock())[7] = JobState::ready;
  const bool done = eventually([&] { return slurmctld.of(7) == "+"; });
  assert_string_equal(before.c_str(), "");
  assert_true(done);
}

// 20 ms apart. A job would wait for half of a longer pause.
void few_jobs_are_looked_at_many_times_a_second(void**) {
  FakeSlurmctld slurmctld;
  (*slurmctld.jobs.lock())[7] = JobState::waiting;
  std::atomic<int> looks{0};
  Launches::Host host = slurmctld.host();
  host.poll = [look = host.poll, &looks](const std::vector<std::uint32_t>& jobs) {
    ++looks;
    return look(jobs);
  };
  bool often = false;
  {
    SystemClock clock;
    Launches launches(host, clock, std::chrono::hours(1));
    launches.hold(7);
    often = eventually([&] { return looks >= 50; });
  }
  assert_true(often);
}

void an_ended_job_is_completed_too(void**) {
  FakeSlurmctld slurmctld;  // knows no job: requeued, cancelled or purged
  SystemClock clock;
  Launches launches(slurmctld.host(), clock, std::chrono::hours(1));
  launches.hold(8);
  assert_true(eventually([&] { return slurmctld.of(8) == "+"; }));
}

void control_lost_completes_nothing(void**) {
  FakeSlurmctld slurmctld;
  (*slurmctld.jobs.lock())[8] = JobState::waiting;
  SystemClock clock;
  Launches launches(slurmctld.host(), clock, std::chrono::hours(1));
  launches.hold(8);
  launches.forget();
  launches.poll_once();  // a poll under way has ended
  (*slurmctld.jobs.lock())[8] = JobState::ready;
  launches.poll_once();
  const std::string completed = slurmctld.of(8);
  launches.hold(8);  // back in control
  const bool again = eventually([&] { return slurmctld.of(8) == "+"; });
  assert_string_equal(completed.c_str(), "");
  assert_true(again);
}

void a_prolog_for_each_time_it_was_held(void**) {
  FakeSlurmctld slurmctld;
  (*slurmctld.jobs.lock())[9] = JobState::waiting;
  SystemClock clock;
  Launches launches(slurmctld.host(), clock, std::chrono::hours(1));
  launches.hold(9);
  launches.hold(9);  // requeued and allocated again between two looks
  (*slurmctld.jobs.lock())[9] = JobState::ready;
  assert_true(eventually([&] { return slurmctld.of(9) == "++"; }));
}

void many_jobs_are_polled_in_portions(void**) {
  FakeSlurmctld slurmctld;  // knows none: all are to be completed
  std::atomic<std::size_t> largest{0};
  Launches::Host host = slurmctld.host();
  host.poll = [look = host.poll, &largest](const std::vector<std::uint32_t>& jobs) {
    if (jobs.size() > largest) largest = jobs.size();
    return look(jobs);
  };
  SystemClock clock;
  Launches launches(host, clock, std::chrono::hours(1));
  for (std::uint32_t job = 1; job <= 1050; ++job) launches.hold(job);
  const bool done = eventually([&] { return slurmctld.completed.lock()->size() == 1050; });
  assert_true(done);
  assert_in_range(largest, 1, 100);
  for (std::uint32_t job = 1; job <= 1050; ++job) assert_string_equal(slurmctld.of(job).c_str(), "+");
}

void a_launch_that_takes_too_long_fails_once(void**) {
  FakeSlurmctld slurmctld;
  (*slurmctld.jobs.lock())[10] = JobState::waiting;
  FakeClock clock;
  Launches launches(slurmctld.host(), clock, std::chrono::seconds(60));
  launches.hold(10);
  clock.advance(std::chrono::seconds(59));
  launches.poll_once();
  const std::string before = slurmctld.of(10);
  clock.advance(std::chrono::seconds(1));
  const bool done = eventually([&] { return slurmctld.of(10) == "-"; });
  assert_string_equal(before.c_str(), "");
  assert_true(done);
}

void power_saving_is_woken_for_each_job(void**) {
  FakeSlurmctld slurmctld;
  (*slurmctld.jobs.lock())[12] = JobState::waiting;
  FakeClock clock;
  clock.advance(std::chrono::milliseconds(300));
  Launches launches(slurmctld.host(), clock, std::chrono::hours(1));
  launches.hold(12);
  const bool at_once = eventually([&] { return slurmctld.woken == 1; });
  launches.hold(13);
  const bool again = eventually([&] { return slurmctld.woken == 2; });
  assert_true(at_once);
  assert_true(again);
}

// A power-save thread as Slurm's, with time(2) as late as Linux has it, driven by the ticks: from each job's time to
// the scan that serves it. A job every 13 s, and another one 2.1 s after each: where the tick would be without being
// moved back.
std::chrono::milliseconds longest_wait(std::chrono::milliseconds job_phase) {
  using std::chrono::milliseconds;
  const PowerSaveTicks::Wall start = std::chrono::system_clock::from_time_t(1767225600);
  PowerSaveTicks ticks;
  PowerSaveTicks::Wall own_tick = start + milliseconds(3);  // at the beginning of a second: the worst
  std::time_t last_look = 0;
  std::optional<PowerSaveTicks::Wall> waiting;
  milliseconds longest{0};
  for (PowerSaveTicks::Wall now = start; now < start + std::chrono::seconds(120); now += milliseconds(1)) {
    const milliseconds since = std::chrono::duration_cast<milliseconds>(now - start);
    const bool asked = since.count() % 13000 == job_phase.count() || since.count() % 13000 == job_phase.count() + 2100;
    if (asked) waiting = now;
    if (ticks.due(now, asked ? Wake::jobs : Wake::none) == Wake::none && now < own_tick) continue;
    const bool suspends = since.count() / 1000 % 4 == 0;
    own_tick = now + milliseconds(waiting || suspends ? 1030 : 1001);
    const std::time_t slurms_time = std::chrono::system_clock::to_time_t(now - milliseconds(10));
    if (slurms_time <= last_look) continue;
    last_look = slurms_time;
    if (waiting && since.count() > 15000) {
      longest = std::max(longest, std::chrono::duration_cast<milliseconds>(now - *waiting));
    }
    waiting.reset();
  }
  return longest;
}

void ticks_leave_a_scan_for_most_of_a_second(void**) {
  for (int phase = 9; phase < 1000; phase += 10) {
    assert_in_range(longest_wait(std::chrono::milliseconds(phase)).count(), 0, phase < 850 ? 12 : 62);
  }
}

// Each takes Slurm's node write lock.
void ticks_are_few(void**) {
  const PowerSaveTicks::Wall start = std::chrono::system_clock::from_time_t(1767225600);
  PowerSaveTicks ticks;
  int jobs = 0;
  int phase = 0;
  for (PowerSaveTicks::Wall now = start; now < start + std::chrono::seconds(60); now += std::chrono::milliseconds(1)) {
    const Wake wake = ticks.due(now, now == start + std::chrono::milliseconds(300) ? Wake::jobs : Wake::none);
    jobs += wake == Wake::jobs;
    phase += wake == Wake::phase;
  }
  assert_int_equal(jobs, 2);  // at once, and in the next second
  assert_in_range(phase, 14, 17);
}

void ticks_end_when_nothing_is_asked_for(void**) {
  const PowerSaveTicks::Wall start = std::chrono::system_clock::from_time_t(1767225600);
  PowerSaveTicks ticks;
  ticks.due(start, Wake::jobs);
  int phases = 0;
  for (auto now = start; now < start + std::chrono::minutes(30); now += std::chrono::milliseconds(50)) {
    phases += ticks.due(now, Wake::none) == Wake::phase;
  }
  assert_int_equal(phases, PowerSaveTicks::kMaxPhases);
}

/** A time within a second, the request at that time, and the reason to wake the thread. */
struct Step {
  int ms;
  Wake asked;
  Wake due;
};

void follow(PowerSaveTicks& ticks, std::initializer_list<Step> steps) {
  const PowerSaveTicks::Wall start = std::chrono::system_clock::from_time_t(1767225600);
  for (const Step& step : steps) {
    const Wake due = ticks.due(start + std::chrono::milliseconds(step.ms), step.asked);
    if (due != step.due) {
      fail_msg("%d ms: %d instead of %d", step.ms, static_cast<int>(due), static_cast<int>(step.due));
    }
  }
}

// For nodes without a job a lost scan is not visible: the thread is woken again only when the scan may have been used
// up, since that uses up the next second's scan.
void ticks_for_nodes(void**) {
  PowerSaveTicks ticks;
  // Its own tick is unknown at first.
  follow(ticks, {{300, Wake::nodes, Wake::nodes},
                 {950, Wake::none, Wake::phase},
                 {1012, Wake::none, Wake::nodes},
                 {1950, Wake::none, Wake::phase},
                 {2300, Wake::nodes, Wake::nodes},
                 {2950, Wake::none, Wake::phase}});
  for (int ms = 3000; ms < 3500; ++ms) follow(ticks, {{ms, Wake::none, Wake::none}});
  // The second time in one second, and late in a second.
  follow(ticks, {{3500, Wake::nodes, Wake::nodes},
                 {3600, Wake::nodes, Wake::nodes},
                 {3950, Wake::none, Wake::phase},
                 {4012, Wake::none, Wake::nodes},
                 {4950, Wake::none, Wake::phase},
                 {5940, Wake::nodes, Wake::nodes},
                 {5950, Wake::none, Wake::phase},
                 {6012, Wake::none, Wake::nodes}});
}

// A job's second wake-up may be needless, which is checked; one for nodes is not, even with requests of both.
void ticks_for_nodes_and_jobs(void**) {
  PowerSaveTicks ticks;
  follow(ticks, {{300, Wake::jobs, Wake::jobs},
                 {310, Wake::nodes, Wake::nodes},
                 {950, Wake::none, Wake::phase},
                 {1012, Wake::none, Wake::nodes},
                 {1950, Wake::none, Wake::phase},
                 {2300, Wake::nodes, Wake::nodes},
                 {2310, Wake::jobs, Wake::jobs},
                 {2950, Wake::none, Wake::phase},
                 {3012, Wake::none, Wake::jobs}});
}

void ticks_survive_a_clock_that_is_set(void**) {
  using std::chrono::seconds;
  const PowerSaveTicks::Wall start =
      std::chrono::system_clock::from_time_t(1767225600) + std::chrono::milliseconds(500);
  PowerSaveTicks ticks;
  assert_true(ticks.due(start, Wake::none) == Wake::none);  // no job yet
  assert_true(ticks.due(start, Wake::jobs) == Wake::jobs);
  assert_true(ticks.due(start, Wake::none) == Wake::none);
  for (const auto& set : {-std::chrono::hours(2), std::chrono::hours(2)}) {
    assert_true(ticks.due(start + set, Wake::none) != Wake::none);
    assert_true(ticks.due(start + set, Wake::none) == Wake::none);
    assert_true(ticks.due(start + set + 2 * PowerSaveTicks::kKeep, Wake::none) != Wake::none);
    assert_true(ticks.wait(start + set) <= PowerSaveTicks::kKeep + seconds(1));
  }
}

void nodes_without_a_job_wake_power_saving(void**) {
  FakeSlurmctld slurmctld;
  std::atomic<bool> for_nodes{false};
  Launches::Host host = slurmctld.host();
  host.wake_power_save = [&](Wake wake) { for_nodes = for_nodes || wake == Wake::nodes; };
  SystemClock clock;
  Launches launches(std::move(host), clock, std::chrono::hours(1));
  launches.wake_power_save();
  assert_true(eventually([&] { return for_nodes.load(); }));
}

void ending_does_not_wait_for_jobs(void**) {
  FakeSlurmctld slurmctld;
  (*slurmctld.jobs.lock())[11] = JobState::waiting;
  SystemClock clock;
  {
    Launches launches(slurmctld.host(), clock, std::chrono::hours(1));
    launches.hold(11);
  }
  assert_string_equal(slurmctld.of(11).c_str(), "");
}

void job_ids(void**) {
  const struct {
    const char* text;
    std::uint32_t id;
  } cases[] = {
      {"JobId=5", 5},          {"JobId=5_1(6)", 6}, {"JobId=5+1(6)", 6}, {"JobId=4294967295", 4294967295u},
      {"JobId=", 0},           {"JobId=5_1", 0},    {"JobId=5_1(6", 0},  {"JobId=5_1()", 0},
      {"JobId=4294967296", 0}, {"JobId=-1", 0},     {"StepId=5.0", 0},   {"", 0},
      {"JobId=Invalid", 0},
  };
  for (const auto& row : cases) {
    if (parse_job_id(row.text) != row.id) fail_msg("%s: %u", row.text, parse_job_id(row.text));
  }
}

}  // namespace

int main() {
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(a_job_is_launched_when_its_nodes_are_there),
      SLURMK8S_TEST(few_jobs_are_looked_at_many_times_a_second),
      SLURMK8S_TEST(an_ended_job_is_completed_too),
      SLURMK8S_TEST(control_lost_completes_nothing),
      SLURMK8S_TEST(a_prolog_for_each_time_it_was_held),
      SLURMK8S_TEST(many_jobs_are_polled_in_portions),
      SLURMK8S_TEST(a_launch_that_takes_too_long_fails_once),
      SLURMK8S_TEST(power_saving_is_woken_for_each_job),
      SLURMK8S_TEST(ticks_leave_a_scan_for_most_of_a_second),
      SLURMK8S_TEST(ticks_are_few),
      SLURMK8S_TEST(ticks_end_when_nothing_is_asked_for),
      SLURMK8S_TEST(ticks_for_nodes),
      SLURMK8S_TEST(ticks_for_nodes_and_jobs),
      SLURMK8S_TEST(ticks_survive_a_clock_that_is_set),
      SLURMK8S_TEST(nodes_without_a_job_wake_power_saving),
      SLURMK8S_TEST(ending_does_not_wait_for_jobs),
      SLURMK8S_TEST(job_ids),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
