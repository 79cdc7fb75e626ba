// SPDX-License-Identifier: GPL-2.0-or-later
// Lists of CPUs, and the kernel's affinity.
#include "spank/cpu_bind.hpp"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <system_error>

#include "base/strings.hpp"

namespace slurmk8s {
namespace {

constexpr unsigned kMaxCpu = 65535;  // Slurm counts CPUs of a node in 16 bits
constexpr int kSetSize = kMaxCpu + 1;

struct FreeSet {
  void operator()(cpu_set_t* set) const { CPU_FREE(set); }
};
using CpuSet = std::unique_ptr<cpu_set_t, FreeSet>;

CpuSet make_set() {
  CpuSet set(CPU_ALLOC(kSetSize));
  if (set) CPU_ZERO_S(CPU_ALLOC_SIZE(kSetSize), set.get());
  return set;
}

Error last_error(const char* call) {
  return Error(Errc::unavailable, std::string(call) + ": " + std::generic_category().message(errno));
}

std::optional<unsigned> parse_cpu(std::string_view text) {
  const auto number = parse_int(text);
  if (!number || *number < 0 || *number > kMaxCpu) return std::nullopt;
  return static_cast<unsigned>(*number);
}

}  // namespace

Result<CpuList> parse_cpu_list(std::string_view text) {
  CpuList list;
  if (text.empty()) return list;
  for (const std::string_view range : split(text, ',')) {
    const std::size_t dash = range.find('-');
    const auto first = parse_cpu(range.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_cpu(range.substr(dash + 1));
    if (!first || !last || *last < *first) return Error(Errc::invalid, "not a list of CPUs: " + std::string(text));
    for (unsigned cpu = *first; cpu <= *last; ++cpu) list.push_back(cpu);
  }
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
  return list;
}

std::optional<CpuList> choose_cpus(const StepCpus& step, const CpuList& allowed, std::string& why) {
  const auto refuse = [&](std::string text) {
    why = std::move(text);
    return std::nullopt;
  };
  if (step.bind_type == "none") return refuse("--cpu-bind=none");
  if (step.confined) return refuse("the pod has a confinement");
  if (step.pod_cpus == 0) return refuse("SLURM_K8S_CPU_LIMIT is not set");
  if (allowed.size() != step.pod_cpus) {
    return refuse(
        format("the pod has %u CPUs and may use %zu: it shares them with others", step.pod_cpus, allowed.size()));
  }
  const auto cores = parse_cpu_list(step.cores);
  if (!cores) return refuse(cores.error().message());
  if (cores->empty()) return refuse("the step has no cores of its own");
  if (cores->size() != step.cpus || cores->back() >= allowed.size()) {
    return refuse(format("%u CPUs on cores %s: cores have several threads", step.cpus, step.cores.c_str()));
  }
  CpuList cpus;
  for (const unsigned core : *cores) cpus.push_back(allowed[core]);
  return cpus;
}

Result<CpuList> allowed_cpus() {
  const CpuSet set = make_set();
  if (!set || ::sched_getaffinity(0, CPU_ALLOC_SIZE(kSetSize), set.get()) != 0) return last_error("sched_getaffinity");
  CpuList cpus;
  for (unsigned cpu = 0; cpu <= kMaxCpu; ++cpu) {
    if (CPU_ISSET_S(cpu, CPU_ALLOC_SIZE(kSetSize), set.get())) cpus.push_back(cpu);
  }
  return cpus;
}

Status bind_to(const CpuList& cpus) {
  const CpuSet set = make_set();
  if (!set) return last_error("CPU_ALLOC");
  for (const unsigned cpu : cpus) CPU_SET_S(cpu, CPU_ALLOC_SIZE(kSetSize), set.get());
  if (::sched_setaffinity(0, CPU_ALLOC_SIZE(kSetSize), set.get()) != 0) return last_error("sched_setaffinity");
  return {};
}

}  // namespace slurmk8s
