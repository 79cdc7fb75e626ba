// SPDX-License-Identifier: GPL-2.0-or-later
// The engine behind its C interface.
#include "engine/c_api/engine_api.h"

#include <string.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <new>
#include <string>
#include <string_view>

#include "base/export.hpp"
#include "base/guarded.hpp"
#include "base/locked.hpp"
#include "base/log.hpp"
#include "base/strings.hpp"
#include "base/undestroyed.hpp"
#include "settings/options.hpp"
#include "slurm/slurm.hpp"
#include "engine/variant_store.hpp"
#include "engine/worker.hpp"
#include "engine/c_api/lock_times_struct.hpp"
#include "http/curl_transport.hpp"

namespace slurmk8s {
namespace {

struct Shared {
  int users = 0;
  std::unique_ptr<Worker> worker;
  std::unique_ptr<const Options> options;
};

// The one mutable global: plugins of one process have nothing else in common.
Locked<Shared>& shared() {
  static Undestroyed<Locked<Shared>> instance;
  return *instance;
}

VariantStore& variants() {
  static Undestroyed<VariantStore> instance;
  return *instance;
}

std::atomic<void (*)(int, const char*)> host_log{nullptr};

void to_host(LogLevel level, const char* line) {
  if (const auto log = host_log.load()) log(static_cast<int>(level), line);
}

std::uint64_t set_pod_jobs(decltype(slurm_k8s_host::set_pod_jobs) set, const PodJobsChange& change) {
  std::vector<slurm_k8s_pod_job> list;
  list.reserve(change.gone.size() + change.jobs.size());
  for (const std::uint32_t id : change.gone) list.push_back({id, nullptr, nullptr});
  for (const auto& [id, where] : change.jobs) list.push_back({id, where.nodes.c_str(), where.over.c_str()});
  return set(list.data(), list.size(), change.is_all ? 1 : 0);
}

Worker::Host functions_of(const slurm_k8s_host& host) {
  Worker::Host functions;
  functions.publish = [](const VariantCatalog* catalog) { return variants().publish(catalog); };
  functions.former_ids = [] { return variants().stored_ids(); };
  functions.stand_by = [] { variants().refresh(); };
  if (host.in_control) functions.in_control = [ask = host.in_control] { return ask() != 0; };
  if (host.lock_times) functions.lock_times = [ask = host.lock_times] { return import_lock_times(ask); };
  if (host.was_away) functions.was_away = [ask = host.was_away] { return ask() != 0; };
  functions.wake_power_save = host.wake_power_save;
  functions.wake_scheduler = host.wake_scheduler;
  if (host.ask_registration) {
    functions.ask_registration = [ask = host.ask_registration](const std::string& node) { ask(node.c_str()); };
  }
  if (host.set_pod_jobs) {
    functions.set_pod_jobs = [set = host.set_pod_jobs](const PodJobsChange& change) {
      return set_pod_jobs(set, change);
    };
  }
  return functions;
}

int acquire(const slurm_k8s_host& host) {
  if (host.size != sizeof host) return SLURM_K8S_OTHER_BUILD;
  if (host.set_pod_jobs && host.pod_job_size != sizeof(slurm_k8s_pod_job)) return SLURM_K8S_OTHER_BUILD;
  auto guard = shared().lock();
  if (guard->users++ > 0) return 0;
  host_log = host.log;
  log_init(to_host, LogLevel::info);
  auto options = load_options(options_path());
  Status ready = options ? http::curl_global_setup() : Status(options.error());
  if (!ready.ok()) {
    log_error("%s: engine not started; falling back to slurm-k8s-resume/-suspend", ready.error().message().c_str());
    guard->users = 0;
    return -1;
  }
  log_init(to_host, options->log_level);
  guard->options = std::make_unique<const Options>(*options);
  guard->worker = std::make_unique<Worker>(*options, make_rpc_slurm, functions_of(host));
  return 0;
}

void release() {
  auto guard = shared().lock();
  if (guard->users == 0 || --guard->users > 0) return;
  guard->worker.reset();
  guard->options.reset();
  http::curl_global_teardown();
}

long launch_timeout() {
  auto guard = shared().lock();
  return guard->options ? static_cast<long>(guard->options->launch_timeout.count()) : 0L;
}

bool wakes_power_save() {
  auto guard = shared().lock();
  return guard->options && guard->options->wake_power_save;
}

bool has_bridge() {
  auto guard = shared().lock();
  return guard->options && guard->options->bridge;
}

void report_pod_jobs(std::uint64_t number, const slurm_k8s_pod_job_state* states, std::size_t count) {
  std::map<std::uint32_t, bool> running;
  for (std::size_t i = 0; i < count; ++i) running[states[i].id] = states[i].running != 0;
  auto guard = shared().lock();
  if (guard->worker) guard->worker->report_pod_jobs(number, std::move(running));
}

void copy(const std::string& from, char* text, unsigned int size) {
  if (size == 0) return;
  const std::size_t length = std::min<std::size_t>(from.size(), size - 1);
  std::copy_n(from.begin(), length, text);
  text[length] = '\0';
}

/** Longest name of an account that is looked for: Slurm's own limit, which it checks later. */
constexpr std::size_t kMaxAccount = 1024;

/** At most one byte more than a constraint may have: what is longer is refused for it. */
std::string_view bounded(const char* constraint) { return {constraint, strnlen(constraint, kMaxConstraint + 1)}; }

bool has_variant(const char* feature) {
  const std::size_t length = strnlen(feature, kMaxConstraint + 1);
  return length <= kMaxConstraint && variants().index()->is_variant({feature, length});
}

/** A settled constraint that doesn't fit isn't cut: half of one is another one. */
int judge_constraint(const char* constraint, const slurm_k8s_applicant* applicant, char* settled,
                     unsigned int settled_size, char* text, unsigned int size) {
  Applicant who;
  if (applicant) {
    const char* account = applicant->account ? applicant->account : "";
    who = {applicant->uid, to_lower({account, strnlen(account, kMaxAccount + 1)}), applicant->is_operator != 0};
  }
  const ConstraintVerdict verdict = variants().index()->judge(bounded(constraint), applicant ? &who : nullptr);
  copy(verdict.text, text, size);
  if (verdict.refused) return -1;
  if (verdict.settled.empty() || verdict.settled.size() >= settled_size) return 0;
  copy(verdict.settled, settled, settled_size);
  return 1;
}

int choose_variant(const char* constraint, const char* nodes, char* text, unsigned int size) {
  const auto variant = variants().index()->choose(bounded(constraint), nodes);
  copy(variant.value_or(std::string()), text, size);
  return variant ? 0 : 1;
}

}  // namespace
}  // namespace slurmk8s

SLURMK8S_EXPORT int slurm_k8s_engine_acquire(const slurm_k8s_host* host) {
  return slurmk8s::guarded("slurm_k8s_engine_acquire", -1, [&] { return slurmk8s::acquire(*host); });
}

SLURMK8S_EXPORT void slurm_k8s_engine_release(void) {
  slurmk8s::guarded_void("slurm_k8s_engine_release", [] { slurmk8s::release(); });
}

SLURMK8S_EXPORT long slurm_k8s_engine_launch_timeout(void) {
  return slurmk8s::guarded("slurm_k8s_engine_launch_timeout", 0L, [] { return slurmk8s::launch_timeout(); });
}

SLURMK8S_EXPORT int slurm_k8s_engine_wakes_power_save(void) {
  return slurmk8s::guarded("slurm_k8s_engine_wakes_power_save", 0, [] { return slurmk8s::wakes_power_save() ? 1 : 0; });
}

SLURMK8S_EXPORT int slurm_k8s_engine_has_bridge(void) {
  return slurmk8s::guarded("slurm_k8s_engine_has_bridge", 0, [] { return slurmk8s::has_bridge() ? 1 : 0; });
}

SLURMK8S_EXPORT void slurm_k8s_engine_report_pod_jobs(uint64_t number, const slurm_k8s_pod_job_state* states,
                                                      size_t count) {
  slurmk8s::guarded_void("slurm_k8s_engine_report_pod_jobs", [&] { slurmk8s::report_pod_jobs(number, states, count); });
}

SLURMK8S_EXPORT void slurm_k8s_variants_open(const char* folder) {
  slurmk8s::guarded_void("slurm_k8s_variants_open", [&] { slurmk8s::variants().open(folder); });
}

SLURMK8S_EXPORT void slurm_k8s_variants_close(void) {
  slurmk8s::guarded_void("slurm_k8s_variants_close", [] { slurmk8s::variants().close(); });
}

SLURMK8S_EXPORT int slurm_k8s_variants_has(const char* feature) {
  return slurmk8s::guarded("slurm_k8s_variants_has", 0, [&] { return slurmk8s::has_variant(feature) ? 1 : 0; });
}

SLURMK8S_EXPORT int slurm_k8s_variants_judge(const char* constraint, const slurm_k8s_applicant* applicant,
                                             char* settled, unsigned int settled_size, char* text, unsigned int size) {
  return slurmk8s::guarded("slurm_k8s_variants_judge", 0, [&] {
    return slurmk8s::judge_constraint(constraint, applicant, settled, settled_size, text, size);
  });
}

SLURMK8S_EXPORT int slurm_k8s_variants_choose(const char* constraint, const char* nodes, char* text,
                                              unsigned int size) {
  return slurmk8s::guarded("slurm_k8s_variants_choose", 0,
                           [&] { return slurmk8s::choose_variant(constraint, nodes, text, size); });
}
