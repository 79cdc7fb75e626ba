// SPDX-License-Identifier: GPL-2.0-or-later
// sidecar/state_cache: slurmctld is asked rarely, and nobody waits long for it.
#include "sidecar/state_cache.hpp"

#include <atomic>
#include <condition_variable>

#include "base/locked.hpp"
#include "base/strings.hpp"
#include "support/cmocka.hpp"
#include "support/fake_clock.hpp"

using namespace slurmk8s;
using namespace std::chrono_literals;

namespace {

constexpr const char* kJobs = "/metrics/jobs";

/** Answers with one job more each time; while `closed`, not at all. */
class FakeReader final : public SlurmStateReader {
 public:
  std::atomic<int> asked{0};
  std::atomic<bool> fails{false};

  Status refresh(SlurmState& state) override {
    asked++;
    auto closed = closed_.lock();
    changed_.wait_for(closed.raw(), 30s, [&] { return !*closed; });
    if (fails) return Error(Errc::unavailable, "slurm: no answer");
    state.jobs.emplace_back();
    return {};
  }
  void set_closed(bool closed) {
    *closed_.lock() = closed;
    changed_.notify_all();
  }

 private:
  Locked<bool> closed_{false};
  std::condition_variable changed_;
};

struct Fixture {
  FakeClock clock;
  std::shared_ptr<FakeReader> reader = std::make_shared<FakeReader>();
  StateCache cache{reader, clock, 50};

  /** The page, once `answers` questions are answered: a starved thread takes longer than a read waits. */
  std::string read_after(int answers) {
    cache.read(kJobs);
    await(("slurm_k8s_sidecar_state_reads_total{result=\"ok\"} " + std::to_string(answers) + "\n").c_str());
    return cache.read(kJobs);
  }

  /** With real time: the thread is one. */
  void await(const char* line) {
    for (int i = 0; i < 1000; i++) {
      if (cache.encode_own().find(line) != std::string::npos) return;
      std::this_thread::sleep_for(10ms);
    }
    fail_msg("not in time: %s", line);
  }
};

void nobody_reads_nobody_asks(void**) {
  Fixture f;
  f.clock.advance(1h);
  const std::string own = f.cache.encode_own();
  assert_contains(own, "slurm_k8s_sidecar_state_reads_total{result=\"ok\"} 0\n");
  assert_true(own.find("slurm_k8s_sidecar_state_age_seconds ") == std::string::npos ||
              own.find("\nslurm_k8s_sidecar_state_age_seconds ") == std::string::npos);
  assert_int_equal(f.reader->asked, 0);
}

void asks_once_in_15_seconds(void**) {
  Fixture f;
  assert_contains(f.read_after(1), "\nslurm_jobs 1\n");
  for (int i = 0; i < 100; i++) assert_contains(f.cache.read(kJobs), "\nslurm_jobs 1\n");
  f.clock.advance(14s);
  assert_contains(f.cache.read(kJobs), "\nslurm_jobs 1\n");
  assert_contains(f.cache.encode_own(), "\nslurm_k8s_sidecar_state_age_seconds 14\n");
  f.clock.advance(1s);
  assert_contains(f.read_after(2), "\nslurm_jobs 2\n");
  assert_contains(f.cache.read("/metrics/nodes"), "\nslurm_nodes 0\n");
  assert_text(f.cache.read("/metrics/none"), "");
  assert_int_equal(f.reader->asked, 2);
}

void a_slow_slurmctld_holds_one_reader_up_for_half_a_second(void**) {
  Fixture f;
  assert_contains(f.read_after(1), "\nslurm_jobs 1\n");
  f.reader->set_closed(true);
  f.clock.advance(15s);
  const auto begin = std::chrono::steady_clock::now();
  assert_contains(f.cache.read(kJobs), "\nslurm_jobs 1\n");
  const auto first = std::chrono::steady_clock::now();
  assert_true(first - begin >= 490ms && first - begin < 20s);
  f.clock.advance(15s);
  for (int i = 0; i < 100; i++) assert_contains(f.cache.read(kJobs), "\nslurm_jobs 1\n");
  assert_true(std::chrono::steady_clock::now() - first < 20s);  // 100 times half a second would be 50
  f.reader->set_closed(false);
  f.await("slurm_k8s_sidecar_state_reads_total{result=\"ok\"} 2\n");
  // As old as its question.
  assert_contains(f.cache.encode_own(), "\nslurm_k8s_sidecar_state_age_seconds 15\n");
}

void what_is_old_is_forgotten(void**) {
  Fixture f;
  assert_contains(f.read_after(1), "\nslurm_jobs 1\n");
  f.reader->fails = true;
  f.clock.advance(299s);
  assert_contains(f.cache.read(kJobs), "\nslurm_jobs 1\n");
  f.await("slurm_k8s_sidecar_state_reads_total{result=\"error\"} 1\n");
  f.clock.advance(1s);
  assert_text(f.cache.read(kJobs), "");
  f.reader->fails = false;
  f.clock.advance(15s);
  assert_contains(f.read_after(2), "\nslurm_jobs 2\n");
}

void its_end_waits_two_seconds(void**) {
  const auto reader = std::make_shared<FakeReader>();
  reader->set_closed(true);
  FakeClock clock;
  const auto begin = std::chrono::steady_clock::now();
  {
    StateCache cache(reader, clock, 50);
    assert_text(cache.read(kJobs), "");
  }
  assert_true(std::chrono::steady_clock::now() - begin < 20s);
  reader->set_closed(false);
  // The thread has the reader until it ends.
  for (int i = 0; i < 1000 && reader.use_count() > 1; i++) std::this_thread::sleep_for(10ms);
  assert_int_equal(reader.use_count(), 1);
}

}  // namespace

int main() {
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(nobody_reads_nobody_asks),
      SLURMK8S_TEST(asks_once_in_15_seconds),
      SLURMK8S_TEST(a_slow_slurmctld_holds_one_reader_up_for_half_a_second),
      SLURMK8S_TEST(what_is_old_is_forgotten),
      SLURMK8S_TEST(its_end_waits_two_seconds),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
