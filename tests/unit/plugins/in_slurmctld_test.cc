// SPDX-License-Identifier: GPL-2.0-or-later
// The plugins in what they take for a slurmctld: this program has its symbols. No engine runs; two tests have functions
// of its library in this program, too.
#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdarg>
#include <cstdlib>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/locked.hpp"
#include "engine/c_api/engine_api.h"
#include "job_submit_k8s/user_env.hpp"
#include "slurm/rpc/compat.hpp"
#include "slurmctld/compat.hpp"

#include "support/cmocka.hpp"
#include "support/sanitizer.hpp"
#include "support/temporary_folder.hpp"

using namespace slurmk8s;

#define SLURMCTLD_S __attribute__((visibility("default")))

struct job_record_t {
  std::atomic<bool> ready{false};
};

namespace {

constexpr std::uint32_t kJob = 7;
job_record_t job;
std::atomic<int> locked{0};
std::atomic<bool> is_locked{false};          ///< by slurmctld itself
std::atomic<bool> ends_while_polled{false};  ///< slurmctld begins to end while it is asked about the job

/** What prep/k8s told slurmctld of the job. */
struct Told {
  int launched = 0, failed = 0;
  bool while_ending = false;
};
Locked<Told> told;

std::string built(const std::string& path) {
  const char* top = std::getenv("TOP_BUILDDIR");
  return std::string(top ? top : ".") + "/" + path;
}

/** What the plugins find in the place of the engine's library, which is not installed when the tests run. */
enum class EngineLibrary { none, built, of_this_program };
EngineLibrary engine_library = EngineLibrary::none;
bool has_wake_power_save = true;       ///< WakePowerSave
slurm_k8s_host host_of_engine{};       ///< what the plugin has given to the engine
std::atomic<int> power_save_wakes{0};  ///< of the power-save thread

}  // namespace

extern "C" {

SLURMCTLD_S void* dlopen(const char* path, int flags) {
  static const auto real = reinterpret_cast<void* (*)(const char*, int)>(dlsym(RTLD_NEXT, "dlopen"));
  const bool is_engine = path && std::string_view(path).ends_with("/libslurm_k8s_engine.so");
  if (!is_engine || engine_library == EngineLibrary::none) return real(path, flags);
  if (engine_library == EngineLibrary::of_this_program) return real(nullptr, flags);
  return real(built("engine/.libs/libslurm_k8s_engine.so").c_str(), flags);
}

SLURMCTLD_S int slurm_k8s_engine_acquire(const slurm_k8s_host* host) {
  host_of_engine = *host;
  return 0;
}
SLURMCTLD_S void slurm_k8s_engine_release() { host_of_engine = {}; }
SLURMCTLD_S int slurm_k8s_engine_wakes_power_save() { return has_wake_power_save ? 1 : 0; }

char* slurm_xstrdup(const char* text);

SLURMCTLD_S slurmctld_config_t slurmctld_config{};
SLURMCTLD_S slurm_conf_t slurm_conf{};

SLURMCTLD_S void lock_slurmctld(slurmctld_lock_t) {
  ++locked;
  while (is_locked) usleep(1000);
}
SLURMCTLD_S void unlock_slurmctld(slurmctld_lock_t) {}
SLURMCTLD_S void config_power_mgr() { ++power_save_wakes; }
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
    library_ = dlopen(built(std::string("plugins/.libs/") + name).c_str(), RTLD_NOW | RTLD_LOCAL);
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
  ~Prep() { slurmctld_config.shutdown_time = 1; }
  Prep(const Prep&) = delete;
  Prep& operator=(const Prep&) = delete;
  /** As Slurm 22.05 does, when a reconfiguration changes the list of plugins. */
  void reload() const {
    for (const char* name : {"fini", "init"}) plugin_.function<int (*)()>(name)();
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

/** slurmctld has all of its locks meanwhile: an end of the launch thread would never come. */
void a_reloaded_plugin_keeps_its_jobs(void**) {
  bool held = false, reloaded = false, launched = false;
  {
    const Prep prep;
    held = prep.holds();
    is_locked = true;
    std::atomic<bool> is_done = false;
    std::thread reload([&] {
      prep.reload();
      is_done = true;
    });
    reloaded = eventually([&] { return is_done.load(); });
    is_locked = false;
    reload.join();
    job.ready = true;
    launched = eventually(is_launched);
  }
  assert_true(held);
  assert_true(reloaded);
  assert_true(launched);
  assert_int_equal(told.lock()->failed, 0);
}

using JobSubmit = int (*)(job_desc_msg_t*, uint32_t, char**);
using JobModify = int (*)(job_desc_msg_t*, job_record_t*, uint32_t, char**);
using JobXlate = char* (*)(char*, void*, bitstr_t*);

// An update could otherwise ask for what a submission is refused.
void updates_of_jobs_have_the_limits_of_submissions(void**) {
  const Plugin plugin("job_submit_k8s.so");
  const auto submit = plugin.function<JobSubmit>("job_submit");
  const auto modify = plugin.function<JobModify>("job_modify");
  for (const std::size_t length : {1025u, 1u << 20}) {
    std::string constraint(length, 'x');
    for (char* job_desc_msg_t::*member :
         {&job_desc_msg_t::features, &job_desc_msg_t::prefer, &job_desc_msg_t::batch_features}) {
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
}

void an_allocation_of_slurm_user_is_of_whom_it_names(void**) {
  const Plugin plugin("job_submit_k8s.so");
  const auto submit = plugin.function<JobSubmit>("job_submit");
  constexpr std::uint32_t kSlurmUser = 64030;
  slurm_conf.slurm_user_id = kSlurmUser;
  char script[] = "#!/bin/sh";
  const struct {
    std::uint32_t submitter;
    const char* variable;
    char* script;
    std::uint32_t user, group;
  } cases[] = {
      {kSlurmUser, "SLURM_K8S_ALLOCATION_USER=1000:100", nullptr, 1000, 100},
      {0, "SLURM_K8S_ALLOCATION_USER=1000:100", nullptr, 1000, 100},
      {1001, "SLURM_K8S_ALLOCATION_USER=1000:100", nullptr, 1001, 1001},  // no user becomes another one
      {kSlurmUser, "SLURM_K8S_ALLOCATION_USER=1000:100", script, kSlurmUser, kSlurmUser},
      {kSlurmUser, "SLURM_K8S_ALLOCATION_USER=0:0", nullptr, kSlurmUser, kSlurmUser},
      {kSlurmUser, "OTHER=1000:100", nullptr, kSlurmUser, kSlurmUser},
  };
  for (const auto& c : cases) {
    std::string variable = c.variable;
    char* environment[] = {variable.data()};
    job_desc_msg_t request;
    slurm_init_job_desc_msg(&request);
    request.user_id = request.group_id = c.submitter;
    request.script = c.script;
    request.environment = environment;
    request.env_size = 1;
    char* message = nullptr;
    assert_int_equal(submit(&request, c.submitter, &message), SLURM_SUCCESS);
    assert_int_equal(request.user_id, c.user);
    assert_int_equal(request.group_id, c.group);
  }
  slurm_conf.slurm_user_id = 0;
}

/** A job's variables, each in memory of its own, as slurmctld unpacks them. */
class Environment {
 public:
  explicit Environment(std::uint32_t count) : texts_(count, "SLURM_GET_USER_ENV=1") {
    for (std::string& text : texts_) pointers_.push_back(text.data());
  }
  void give(job_desc_msg_t& to) {
    to.environment = pointers_.data();
    to.env_size = static_cast<std::uint32_t>(pointers_.size());
  }
  const std::string& last() const { return texts_.back(); }

 private:
  std::vector<std::string> texts_;
  std::vector<char*> pointers_;
};

void variables_have_a_maximum(void**) {
  const Plugin plugin("job_submit_k8s.so");
  const auto submit = plugin.function<JobSubmit>("job_submit");
  Environment most(kMaxVariables), more(kMaxVariables + 1);
  job_desc_msg_t job_of_most, job_of_more;
  slurm_init_job_desc_msg(&job_of_most);
  slurm_init_job_desc_msg(&job_of_more);
  most.give(job_of_most);
  more.give(job_of_more);
  char* message = nullptr;
  assert_int_equal(submit(&job_of_most, 1000, &message), SLURM_SUCCESS);
  assert_text(most.last().c_str(), kLoginEnv);
  assert_int_equal(submit(&job_of_more, 1000, &message), ESLURM_PATHNAME_TOO_LONG);
  assert_text(more.last().c_str(), kGetUserEnv);  // not read
  assert_text(message, "environment: more than 50000 variables");
  slurm_xfree(reinterpret_cast<void**>(&message));
}

/** slurmctld that knows the variants v1 and v2 of NodeSet gpu, without an engine. */
class VariantsOnFile {
 public:
  VariantsOnFile() {
    folder_.write("slurm-k8s-variants.json",
                  R"({"nodesets":{"gpu":{"features":["gpu"],"variants":{"v1":{},"v2":{}}}},"uids":{}})");
    path_ = folder_.path();
    slurm_conf.state_save_location = path_.data();
    slurm_conf.job_submit_plugins = plugins_.data();
    engine_library = EngineLibrary::built;
  }
  ~VariantsOnFile() {
    engine_library = EngineLibrary::none;
    slurm_conf.state_save_location = slurm_conf.job_submit_plugins = nullptr;
  }

 private:
  TemporaryFolder folder_;
  std::string path_, plugins_ = "k8s";
};

/** Of at most as many bytes: alternatives, each with a variant. */
std::string constraint_of(std::size_t bytes) {
  std::string text = "v1&gpu";
  while (text.size() + 7 <= bytes) text += "|v2&gpu";
  return text;
}

void node_features_do_not_read_what_is_too_long(void**) {
  const VariantsOnFile file;
  const Plugin plugin("node_features_k8s.so");
  const auto valid = plugin.function<int (*)(char*, void*)>("node_features_p_job_valid");
  const auto xlate = plugin.function<JobXlate>("node_features_p_job_xlate");
  const auto changeable = plugin.function<bool (*)(char*)>("node_features_p_changeable_feature");
  const auto xlated = [&](std::string constraint) {
    char* text = xlate(constraint.data(), nullptr, nullptr);
    const std::string copied = text ? text : "none";
    slurm_xfree(reinterpret_cast<void**>(&text));
    return copied;
  };
  std::string v1 = "v1", both = "v1&v2";
  assert_int_equal(changeable(v1.data()), compat::kKnowsVariants);
  assert_int_equal(valid(both.data(), nullptr), compat::kKnowsVariants ? ESLURM_INVALID_FEATURE : SLURM_SUCCESS);
  assert_text(xlated(v1), compat::kKnowsVariants ? "v1" : "none");
  // Both begin with what is chosen, or refused, when it is shorter.
  for (const std::size_t length : {1025u, 1u << 20}) {
    std::string long_or = v1, long_and = both;
    while (long_or.size() < length) long_or += "|v1";
    while (long_and.size() < length) long_and += "&v1";
    assert_int_equal(valid(long_and.data(), nullptr), SLURM_SUCCESS);  // Slurm refuses it
    assert_text(xlated(long_or), "none");
    assert_int_equal(changeable(long_or.data()), 0);
  }
}

/** The median of 1,000 calls: what slurmctld holds its locks for. */
void assert_short(const std::string& what, const std::function<void()>& call) {
  using Clock = std::chrono::steady_clock;
  std::vector<Clock::duration> times(kSanitized ? 20 : 1000);
  for (Clock::duration& time : times) {
    const Clock::time_point begin = Clock::now();
    call();
    time = Clock::now() - begin;
  }
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  const long long us = std::chrono::duration_cast<std::chrono::microseconds>(*middle).count();
  print_message("# %s: %lld us\n", what.c_str(), us);
  if (!kSanitized && us >= 1000) fail_msg("%s: %lld us", what.c_str(), us);
}

/** A job as slurmctld has unpacked it: the copies are freed, or replaced by the plugin. */
void with_request(const char* constraint, Environment* environment,
                  const std::function<void(job_desc_msg_t*, char**)>& call) {
  job_desc_msg_t request;
  slurm_init_job_desc_msg(&request);
  if (constraint) request.features = slurm_xstrdup(constraint);
  if (environment) environment->give(request);
  char* message = nullptr;
  call(&request, &message);
  slurm_xfree(reinterpret_cast<void**>(&request.features));
  slurm_xfree(reinterpret_cast<void**>(&message));
}

void submissions_take_less_than_a_millisecond(void**) {
  const VariantsOnFile file;
  const Plugin plugin("job_submit_k8s.so");
  const auto submit = plugin.function<JobSubmit>("job_submit");
  const auto modify = plugin.function<JobModify>("job_modify");
  const auto submitted = [&](job_desc_msg_t* request, char** message) { submit(request, 1000, message); };
  const auto modified = [&](job_desc_msg_t* request, char** message) { modify(request, nullptr, 1000, message); };
  for (const std::string& text : {constraint_of(1024), constraint_of(1 << 20)}) {
    const std::string bytes = std::to_string(text.size()) + " bytes";
    assert_short("job_submit, " + bytes, [&] { with_request(text.c_str(), nullptr, submitted); });
    assert_short("job_modify, " + bytes, [&] { with_request(text.c_str(), nullptr, modified); });
  }
  Environment most(kMaxVariables);
  assert_short("job_submit, 50000 variables", [&] { with_request(nullptr, &most, submitted); });
}

void node_features_take_less_than_a_millisecond(void**) {
  const VariantsOnFile file;
  const Plugin plugin("node_features_k8s.so");
  const auto valid = plugin.function<int (*)(char*, void*)>("node_features_p_job_valid");
  const auto xlate = plugin.function<JobXlate>("node_features_p_job_xlate");
  const auto changeable = plugin.function<bool (*)(char*)>("node_features_p_changeable_feature");
  for (std::string text : {constraint_of(1024), constraint_of(1 << 20)}) {
    const std::string bytes = std::to_string(text.size()) + " bytes";
    assert_short("job_valid, " + bytes, [&] { valid(text.data(), nullptr); });
    assert_short("changeable_feature, " + bytes, [&] { changeable(text.data()); });
    assert_short("job_xlate, " + bytes, [&] {
      char* variant = xlate(text.data(), nullptr, nullptr);
      slurm_xfree(reinterpret_cast<void**>(&variant));
    });
  }
}

/** prep/k8s with an engine, which is this program. */
class PrepWithEngine {
 public:
  explicit PrepWithEngine(bool wakes_power_save) {
    has_wake_power_save = wakes_power_save;
    power_save_wakes = 0;
    engine_library = EngineLibrary::of_this_program;
    prep_.emplace();
  }
  ~PrepWithEngine() {
    prep_.reset();
    engine_library = EngineLibrary::none;
  }
  PrepWithEngine(const PrepWithEngine&) = delete;
  PrepWithEngine& operator=(const PrepWithEngine&) = delete;
  /** Whether a job is held, looked at more than once, and launched when its nodes are up. */
  bool launches_job() const {
    if (!prep_->holds()) return false;
    const int before = locked;
    const bool is_polled = eventually([&] { return locked > before + 5; });
    job.ready = true;
    return is_polled && eventually(is_launched);
  }

 private:
  std::optional<Prep> prep_;
};

bool is_woken() { return power_save_wakes > 0; }

// compat::kWakesPowerSave. No skip(): cmocka 1.1.5 takes it for a failure.
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 11, 0)
void a_held_job_wakes_power_saving(void**) {
  int at_first = 0, without_setting = 0;
  bool launched = false, woken = false, launched_without = false;
  {
    const PrepWithEngine prep(true);
    at_first = power_save_wakes;
    launched = prep.launches_job();
    woken = eventually(is_woken);
  }
  {
    const PrepWithEngine prep(false);
    launched_without = prep.launches_job();
    without_setting = power_save_wakes;
  }
  assert_int_equal(at_first, 0);
  assert_true(launched);
  assert_true(woken);
  assert_true(launched_without);
  assert_int_equal(without_setting, 0);
}
#else
void a_held_job_does_not_wake_power_saving(void**) {
  bool launched = false;
  {
    const PrepWithEngine prep(true);
    launched = prep.launches_job();
  }
  assert_true(launched);
  assert_int_equal(power_save_wakes, 0);
}
#endif

// For nodes that the sidecar wants up, and that no job waits for.
void the_engine_wakes_power_saving(void**) {
  bool is_given = false, woken = false;
  {
    const PrepWithEngine prep(true);
    is_given = host_of_engine.wake_power_save != nullptr;
    if (is_given) host_of_engine.wake_power_save();
    woken = is_given && (!compat::kWakesPowerSave || eventually(is_woken));
  }
  assert_true(is_given);
  assert_true(woken);
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
    SLURMK8S_TEST(a_reloaded_plugin_keeps_its_jobs),
    SLURMK8S_TEST(updates_of_jobs_have_the_limits_of_submissions),
    SLURMK8S_TEST(an_allocation_of_slurm_user_is_of_whom_it_names),
    SLURMK8S_TEST(variables_have_a_maximum),
    SLURMK8S_TEST(node_features_do_not_read_what_is_too_long),
    SLURMK8S_TEST(submissions_take_less_than_a_millisecond),
    SLURMK8S_TEST(node_features_take_less_than_a_millisecond),
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 11, 0)
    SLURMK8S_TEST(a_held_job_wakes_power_saving),
#else
    SLURMK8S_TEST(a_held_job_does_not_wake_power_saving),
#endif
    SLURMK8S_TEST(the_engine_wakes_power_saving),
    SLURMK8S_TEST(rates_are_known),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
