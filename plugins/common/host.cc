// SPDX-License-Identifier: GPL-2.0-or-later
// Which daemon we are in, and its engine.
#include "common/host.hpp"

#include <dlfcn.h>

#include "base/text.hpp"

namespace slurmk8s {
namespace {

constexpr const char* kEngineLibrary = SLURMK8S_ENGINE_LIBRARY;
constexpr long kDefaultLaunchTimeout = 3600;

template <typename Fn>
Fn symbol(void* library, const char* name) {
  return reinterpret_cast<Fn>(dlsym(library, name));
}

}  // namespace

bool in_slurmctld() { return dlsym(RTLD_DEFAULT, "slurmctld_config") != nullptr; }

bool EngineHandle::acquire(const slurm_k8s_host& host) {
  if (library_) return true;
  void* library = dlopen(kEngineLibrary, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    host.log(0, format("%s: no engine; the programs do the work", dlerror()).c_str());
    return false;
  }
  const auto start = symbol<int (*)(const slurm_k8s_host*)>(library, "slurm_k8s_engine_acquire");
  if (!start || start(&host) != 0) {
    dlclose(library);
    return false;
  }
  library_ = library;
  return true;
}

void EngineHandle::release() {
  if (!library_) return;
  if (const auto stop = symbol<void (*)()>(library_, "slurm_k8s_engine_release")) stop();
  dlclose(library_);
  library_ = nullptr;
}

long EngineHandle::launch_timeout() const {
  const auto timeout = library_ ? symbol<long (*)()>(library_, "slurm_k8s_engine_launch_timeout") : nullptr;
  return timeout ? timeout() : kDefaultLaunchTimeout;
}

bool EngineHandle::wakes_power_save() const {
  const auto wakes = library_ ? symbol<int (*)()>(library_, "slurm_k8s_engine_wakes_power_save") : nullptr;
  return wakes && wakes() != 0;
}

bool Variants::open(const char* folder) {
  library_ = dlopen(kEngineLibrary, RTLD_NOW | RTLD_LOCAL);
  if (!library_) return false;
  has_ = symbol<decltype(has_)>(library_, "slurm_k8s_variants_has");
  check_ = symbol<decltype(check_)>(library_, "slurm_k8s_variants_check");
  settle_ = symbol<decltype(settle_)>(library_, "slurm_k8s_variants_settle");
  choose_ = symbol<decltype(choose_)>(library_, "slurm_k8s_variants_choose");
  const auto load = symbol<decltype(&slurm_k8s_variants_open)>(library_, "slurm_k8s_variants_open");
  if (load) load(folder);
  if (load && has_ && check_ && settle_ && choose_) return true;
  close();
  return false;
}

void Variants::close() {
  has_ = nullptr;
  check_ = nullptr;
  settle_ = nullptr;
  choose_ = nullptr;
  if (!library_) return;
  if (const auto forget = symbol<decltype(&slurm_k8s_variants_close)>(library_, "slurm_k8s_variants_close")) forget();
  dlclose(library_);
  library_ = nullptr;
}

bool Variants::has(const char* feature) const { return has_ && has_(feature) != 0; }

Variants::Answer Variants::check(const char* constraint, const slurm_k8s_applicant* applicant) const {
  char text[2048] = "";
  const bool refused = check_ && check_(constraint, applicant, text, sizeof text) != 0;
  return {refused, text};
}

std::string Variants::settle(const char* constraint) const {
  char text[2048] = "";
  return settle_ && settle_(constraint, text, sizeof text) != 0 ? text : "";
}

std::string Variants::choose(const char* constraint, const char* nodes) const {
  char text[256] = "";
  if (choose_) choose_(constraint, nodes, text, sizeof text);
  return text;
}

}  // namespace slurmk8s
