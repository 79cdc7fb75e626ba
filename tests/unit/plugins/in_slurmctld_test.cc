// SPDX-License-Identifier: GPL-2.0-or-later
// The plugins in what they take for a slurmctld: this program has its symbols. There is no engine.
#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <cstdarg>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>

#include "base/locked.hpp"
#include "slurmctld/compat.hpp"

#include "support/cmocka.hpp"

using namespace slurmk8s;

#define SLURMCTLD_S __attribute__((visibility("default")))

struct job_record_t {
  std::atomic<bool> ready{false};
};

namespace {

constexpr std::uint32_t kJob = 7;
job_record_t job;
std::atomic<int> locked{0};
std::atomic<bool> ends_while_polled{false};  ///< slurmctld begins to end while it is asked about the job

/** What prep/k8s told slurmctld of the job. */
struct Told {
  int launched = 0, failed = 0;
  bool while_ending = false;
};
Locked<Told> told;

}  // namespace

extern "C" {

char* slurm_xstrdup(const char* text);

SLURMCTLD_S slurmctld_config_t slurmctld_config{};
SLURMCTLD_S slurm_conf_t slurm_conf{};

SLURMCTLD_S void lock_slurmctld(slurmctld_lock_t) { ++locked; }
SLURMCTLD_S void unlock_slurmctld(slurmctld_lock_t) {}
SLURMCTLD_S job_record_t* find_job_record(uint32_t id) { return id == kJob ? &job : nullptr; }
SLURMCTLD_S bool test_job_nodes_ready(job_record_t* record) {
  if (ends_while_polled) slurmctld_config.shutdown_time = 1;
  return record->ready || ends_while_polled;
}
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(25, 11, 0)
SLURMCTLD_S int job_node_ready(slurm_step_id_t*, int* ready) {
#else
SLURMCTLD_S int job_node_ready(uint32_t, int* ready) {
#endif
  *ready = READY_JOB_STATE;
  return SLURM_SUCCESS;
}
SLURMCTLD_S char* vxstrfmt(const char*, va_list) { return slurm_xstrdup("JobId=7"); }

}  // extern "C"

namespace {

bool eventually(const std::function<bool()>& condition) {
  for (int i = 0; i < 500; ++i) {
    if (condition()) return true;
    usleep(10000);
  }
  return false;
}

/** A plugin, between its init() and its fini(). */
class Plugin {
 public:
  explicit Plugin(const char* name) {
    const char* top = std::getenv("TOP_BUILDDIR");
    const std::string path = std::string(top ? top : ".") + "/plugins/.libs/" + name;
    library_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library_) fail_msg("%s", dlerror());
    function<int (*)()>("init")();
  }
  ~Plugin() {
    function<int (*)()>("fini")();
    dlclose(library_);
  }
  template <typename Fn>
  Fn function(const char* name) const {
    return reinterpret_cast<Fn>(dlsym(library_, name));
  }

 private:
  void* library_ = nullptr;
};

void note_launch(int rc, uint32_t id, bool) {
  auto now = told.lock();
  if (id == kJob) ++(rc == 0 ? now->launched : now->failed);
  now->while_ending |= slurmctld_config.shutdown_time != 0;
}

/** prep/k8s, which slurmctld asks about a job that gets nodes. */
class Prep {
 public:
  Prep() {
    *told.lock() = {};
    locked = 0;
    job.ready = ends_while_polled = false;
    slurmctld_config.shutdown_time = 0;
    prep_callbacks_t callbacks{note_launch, nullptr};
    plugin_.function<void (*)(prep_callbacks_t*)>("prep_p_register_callbacks")(&callbacks);
  }
  /** Whether the job waits until the plugin says so. */
  bool holds() const {
    bool waits = false;
    plugin_.function<int (*)(job_record_t*, bool*)>("prep_p_prolog_slurmctld")(&job, &waits);
    return waits;
  }

 private:
  Plugin plugin_{"prep_k8s.so"};
};

bool is_launched() { return told.lock()->launched > 0; }

void a_job_waits_for_its_nodes(void**) {
  bool held_without = false, held_with = true, launched = false;
  {
    const Prep prep;
    held_without = prep.holds();
    job.ready = true;
    launched = eventually(is_launched);
    held_with = prep.holds();
  }
  assert_true(held_without);
  assert_true(launched);
  assert_false(held_with);  // slurmctld launches it at once
  assert_int_equal(told.lock()->launched, 1);
  assert_int_equal(told.lock()->failed, 0);
}

// It would lose the message, and take the job for running.
void no_job_is_launched_by_a_slurmctld_that_ends(void**) {
  int locked_at_end = 0, locked_later = 0;
  bool launched = false;
  {
    const Prep prep;
    const bool held = prep.holds();
    const bool polled = held && eventually([] { return locked > 2; });
    slurmctld_config.shutdown_time = 1;
    usleep(50000);  // a look that was under way is over
    locked_at_end = locked;
    job.ready = true;
    usleep(200000);  // ten looks
    locked_later = locked;
    slurmctld_config.shutdown_time = 0;  // an end that was taken back: the same jobs are there
    launched = polled && eventually(is_launched);
  }
  assert_int_equal(locked_later, locked_at_end);
  assert_true(launched);
  assert_false(told.lock()->while_ending);
}

void a_job_is_kept_when_slurmctld_ends_while_it_is_looked_at(void**) {
  bool launched = false;
  {
    const Prep prep;
    const bool held = prep.holds();
    ends_while_polled = true;
    const bool ended = held && eventually([] { return slurmctld_config.shutdown_time != 0; });
    usleep(50000);  // the look that saw its nodes is over
    ends_while_polled = false;
    job.ready = true;
    slurmctld_config.shutdown_time = 0;
    launched = ended && eventually(is_launched);
  }
  assert_true(launched);
  assert_false(told.lock()->while_ending);
  assert_int_equal(told.lock()->launched, 1);
}

// An update could otherwise ask for what a submission is refused.
void updates_of_jobs_have_the_limits_of_submissions(void**) {
  const Plugin plugin("job_submit_k8s.so");
  const auto submit = plugin.function<int (*)(job_desc_msg_t*, uint32_t, char**)>("job_submit");
  const auto modify = plugin.function<int (*)(job_desc_msg_t*, job_record_t*, uint32_t, char**)>("job_modify");
  std::string constraint(1025, 'x');
  for (char* job_desc_msg_t::*member : {&job_desc_msg_t::features, &job_desc_msg_t::prefer}) {
    job_desc_msg_t update;
    slurm_init_job_desc_msg(&update);
    char* message = nullptr;
    assert_int_equal(modify(&update, nullptr, 1000, &message), SLURM_SUCCESS);
    update.*member = constraint.data();
    assert_int_equal(submit(&update, 1000, &message), ESLURM_PATHNAME_TOO_LONG);
    assert_int_equal(modify(&update, nullptr, 1000, &message), ESLURM_PATHNAME_TOO_LONG);
    slurm_xfree(reinterpret_cast<void**>(&message));
  }
}

// The power-save thread's token buckets are emptied when it is woken: with a rate it is not.
void rates_are_known(void**) {
  slurm_conf_t conf{};
  assert_false(compat::has_power_rate(conf));
  conf.resume_rate = 1;
  assert_true(compat::has_power_rate(conf));
  conf.resume_rate = 0;
  conf.suspend_rate = 1;
  assert_true(compat::has_power_rate(conf));
}

}  // namespace

int main() {
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(a_job_waits_for_its_nodes),
      SLURMK8S_TEST(no_job_is_launched_by_a_slurmctld_that_ends),
      SLURMK8S_TEST(a_job_is_kept_when_slurmctld_ends_while_it_is_looked_at),
      SLURMK8S_TEST(updates_of_jobs_have_the_limits_of_submissions),
      SLURMK8S_TEST(rates_are_known),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
