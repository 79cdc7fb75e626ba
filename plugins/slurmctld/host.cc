// SPDX-License-Identifier: GPL-2.0-or-later
// The daemon of this process, and its engine.
#include "slurmctld/host.hpp"

#include <dlfcn.h>
#include <string.h>

#include "base/strings.hpp"

namespace slurmk8s {
namespace {

constexpr const char* kEngineLibrary = SLURMK8S_ENGINE_LIBRARY;
constexpr long kDefaultLaunchTimeout = 3600;

template <typename Fn>
Fn symbol(void* library, const char* name) {
  return reinterpret_cast<Fn>(dlsym(library, name));
}

}  // namespace

bool is_too_long(const char* text) { return text && strnlen(text, kMaxConstraintText + 1) > kMaxConstraintText; }

bool in_slurmctld() { return dlsym(RTLD_DEFAULT, "slurmctld_config") != nullptr; }

bool EngineHandle::acquire(const slurm_k8s_host& host) {
  if (library_) return true;
  void* library = dlopen(kEngineLibrary, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    host.log(0, format("%s: engine not started; falling back to slurm-k8s-resume/-suspend", dlerror()).c_str());
    return false;
  }
  const auto start = symbol<int (*)(const slurm_k8s_host*)>(library, "slurm_k8s_engine_acquire");
  const int result = start ? start(&host) : SLURM_K8S_OTHER_BUILD;
  if (result == SLURM_K8S_OTHER_BUILD) {
    host.log(0, format("%s: of another build; the engine is not started", kEngineLibrary).c_str());
  }
  if (result != 0) {
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

bool EngineHandle::has_bridge() const {
  const auto has = library_ ? symbol<int (*)()>(library_, "slurm_k8s_engine_has_bridge") : nullptr;
  return has && has() != 0;
}

void EngineHandle::report_pod_jobs(std::uint64_t number, const std::vector<slurm_k8s_pod_job_state>& states) const {
  if (!library_) return;
  const auto report = symbol<decltype(&slurm_k8s_engine_report_pod_jobs)>(library_, "slurm_k8s_engine_report_pod_jobs");
  if (report) report(number, states.data(), states.size());
}

bool Variants::open(const char* folder) {
  library_ = dlopen(kEngineLibrary, RTLD_NOW | RTLD_LOCAL);
  if (!library_) return false;
  has_ = symbol<decltype(has_)>(library_, "slurm_k8s_variants_has");
  judge_ = symbol<decltype(judge_)>(library_, "slurm_k8s_variants_judge");
  choose_ = symbol<decltype(choose_)>(library_, "slurm_k8s_variants_choose");
  const auto load = symbol<decltype(&slurm_k8s_variants_open)>(library_, "slurm_k8s_variants_open");
  if (load) load(folder);
  if (load && has_ && judge_ && choose_) return true;
  close();
  return false;
}

void Variants::close() {
  has_ = nullptr;
  judge_ = nullptr;
  choose_ = nullptr;
  if (!library_) return;
  if (const auto forget = symbol<decltype(&slurm_k8s_variants_close)>(library_, "slurm_k8s_variants_close")) forget();
  dlclose(library_);
  library_ = nullptr;
}

bool Variants::has(const char* feature) const { return has_ && has_(feature) != 0; }

Variants::Answer Variants::judge(const char* constraint, const slurm_k8s_applicant* applicant) const {
  char settled[kMaxConstraintText + 1] = "";
  char text[2048] = "";
  const int answer = judge_ ? judge_(constraint, applicant, settled, sizeof settled, text, sizeof text) : 0;
  return {answer<0, answer> 0 ? settled : "", text};
}

std::optional<std::string> Variants::choose(const char* constraint, const char* nodes) const {
  char text[256] = "";
  if (choose_ && choose_(constraint, nodes, text, sizeof text) != 0) return std::nullopt;
  return text;
}

}  // namespace slurmk8s
