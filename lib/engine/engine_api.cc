// SPDX-License-Identifier: GPL-2.0-or-later
// The engine behind its C interface.
#include "engine/engine_api.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <new>
#include <string>

#include "base/guarded.hpp"
#include "base/hostlist.hpp"
#include "base/locked.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "core/options.hpp"
#include "core/slurm.hpp"
#include "core/worker.hpp"
#include "engine/variant_store.hpp"
#include "http/curl_transport.hpp"

#define SLURMK8S_EXPORT extern "C" __attribute__((visibility("default")))

namespace slurmk8s {
namespace {

struct Shared {
  int users = 0;
  std::unique_ptr<Worker> worker;
  std::unique_ptr<const Options> options;
};

// The one mutable global: plugins of one process have nothing else in common. Never destroyed, so that no destructor
// runs while slurmctld exits with the thread still there; not on the heap, so that nothing is left when the library is
// unloaded.
Locked<Shared>& shared() {
  alignas(Locked<Shared>) static unsigned char place[sizeof(Locked<Shared>)];
  static auto* instance = new (place) Locked<Shared>;
  return *instance;
}

// As shared().
VariantStore& variants() {
  alignas(VariantStore) static unsigned char place[sizeof(VariantStore)];
  static auto* instance = new (place) VariantStore;
  return *instance;
}

std::atomic<void (*)(int, const char*)> host_log{nullptr};

void to_host(LogLevel level, const char* line) {
  if (const auto log = host_log.load()) log(static_cast<int>(level), line);
}

Worker::Host functions_of(const slurm_k8s_host& host) {
  Worker::Host functions;
  functions.publish = [](const VariantCatalog* catalog) { variants().publish(catalog); };
  if (host.in_control) functions.in_control = [ask = host.in_control] { return ask() != 0; };
  if (host.lock_times) {
    functions.lock_times = [ask = host.lock_times] {
      LockTimes times;
      ask(&times);
      return times;
    };
  }
  functions.wake_power_save = host.wake_power_save;
  functions.wake_scheduler = host.wake_scheduler;
  return functions;
}

int acquire(const slurm_k8s_host& host) {
  auto guard = shared().lock();
  if (guard->users++ > 0) return 0;
  host_log = host.log;
  log_init(to_host, LogLevel::info);
  auto options = load_options(options_path());
  Status ready = options ? http::curl_global_setup() : Status(options.error());
  if (!ready.ok()) {
    log_error("%s: no engine; the programs do the work", ready.error().message().c_str());
    guard->users = 0;
    return -1;
  }
  log_init(to_host, options->log_level);
  guard->options = std::make_unique<const Options>(*options);
  guard->worker = std::make_unique<Worker>(*options, make_rpc_slurm(), functions_of(host));
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

void copy(const std::string& from, char* text, unsigned int size) {
  if (size == 0) return;
  const std::size_t length = std::min<std::size_t>(from.size(), size - 1);
  std::copy_n(from.begin(), length, text);
  text[length] = '\0';
}

int check_variants(const char* constraint, const slurm_k8s_applicant* applicant, char* text, unsigned int size) {
  const auto catalog = variants().catalog();
  Applicant who;
  if (applicant) {
    who = {applicant->uid, to_lower(applicant->account ? applicant->account : ""), applicant->is_operator != 0};
  }
  const Status status = catalog->check(constraint, applicant ? &who : nullptr);
  copy(status ? catalog->describe_unknown(constraint) : status.error().message(), text, size);
  return status ? 0 : -1;
}

/** What doesn't fit isn't cut: half a constraint is another one. */
int settle_constraint(const char* constraint, char* text, unsigned int size) {
  const std::string settled = variants().catalog()->settle(constraint);
  if (settled.empty() || settled.size() >= size) return 0;
  copy(settled, text, size);
  return 1;
}

void choose_variant(const char* constraint, const char* nodes, char* text, unsigned int size) {
  const auto names = expand_hostlist(nodes ? nodes : "");
  copy(variants().catalog()->choose(constraint, names.value_or({})), text, size);
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
  return slurmk8s::guarded("slurm_k8s_engine_launch_timeout", 0L,
                           [] { return slurmk8s::launch_timeout(); });
}

SLURMK8S_EXPORT int slurm_k8s_engine_wakes_power_save(void) {
  return slurmk8s::guarded("slurm_k8s_engine_wakes_power_save", 0,
                           [] { return slurmk8s::wakes_power_save() ? 1 : 0; });
}

SLURMK8S_EXPORT void slurm_k8s_variants_open(const char* folder) {
  slurmk8s::guarded_void("slurm_k8s_variants_open", [&] { slurmk8s::variants().open(folder); });
}

SLURMK8S_EXPORT void slurm_k8s_variants_close(void) {
  slurmk8s::guarded_void("slurm_k8s_variants_close", [] { slurmk8s::variants().close(); });
}

SLURMK8S_EXPORT int slurm_k8s_variants_has(const char* feature) {
  return slurmk8s::guarded("slurm_k8s_variants_has", 0,
                           [&] { return slurmk8s::variants().catalog()->is_variant(feature) ? 1 : 0; });
}

SLURMK8S_EXPORT int slurm_k8s_variants_check(const char* constraint, const slurm_k8s_applicant* applicant, char* text,
                                             unsigned int size) {
  return slurmk8s::guarded("slurm_k8s_variants_check", 0,
                           [&] { return slurmk8s::check_variants(constraint, applicant, text, size); });
}

SLURMK8S_EXPORT int slurm_k8s_variants_settle(const char* constraint, char* text, unsigned int size) {
  return slurmk8s::guarded("slurm_k8s_variants_settle", 0,
                           [&] { return slurmk8s::settle_constraint(constraint, text, size); });
}

SLURMK8S_EXPORT void slurm_k8s_variants_choose(const char* constraint, const char* nodes, char* text, unsigned int size) {
  slurmk8s::guarded_void("slurm_k8s_variants_choose",
                         [&] { slurmk8s::choose_variant(constraint, nodes, text, size); });
}
