// SPDX-License-Identifier: GPL-2.0-or-later
// Plans and writes control groups.
#include "spank/confinement.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "base/file.hpp"
#include "base/strings.hpp"
#include "base/unique_fd.hpp"

namespace slurmk8s {
namespace {

constexpr std::size_t kMaxBytes = 256;
constexpr unsigned kMaxCpus = 65535;   // of a node: Slurm counts them in 16 bits
constexpr unsigned kPeriod = 100'000;  // µs: the kernel's default

Result<unsigned> parse_count(std::string_view text) {
  const auto number = parse_int(text);
  if (!number || *number < 1 || *number > kMaxCpus) return Error(Errc::invalid, "must be a number from 1 to 65535");
  return static_cast<unsigned>(*number);
}

Status add_word(std::string_view word, PodConfinement& pod) {
  const std::size_t equals = word.find('=');
  const std::string_view name = word.substr(0, equals);
  const std::string_view value = equals == std::string_view::npos ? std::string_view() : word.substr(equals + 1);
  if (name == "cpus") {
    pod.cpus = SLURMK8S_TRY(parse_count(value));
  } else if (name == "threads") {
    pod.threads = SLURMK8S_TRY(parse_count(value));
  } else if (name == "own" && (value == "yes" || value == "no")) {
    pod.own_cpus = value == "yes";
  } else {
    return Error(Errc::invalid, "unknown");
  }
  return {};
}

/**
 * "0::/a/job_7/step_0/slurm" → "/a/job_7/step_0"; empty when there is no step in it. Slurm 26.05 names the job's group
 * by its SLUID, unless cgroup.conf has CgroupJobIdPaths (cgroup_v2.c:1932).
 */
std::string_view step_group(std::string_view own_group) {
  const auto lines = split(trim(own_group), '\n');
  for (std::string_view path : lines) {
    if (!path.starts_with("0::/")) continue;
    path.remove_prefix(3);
    const std::size_t step = path.rfind("/step_");
    if (step != std::string_view::npos && step > 0) return path.substr(0, path.find('/', step + 1));
  }
  return {};
}

/** "8,10": CPUs as the kernel reads them. */
std::string kernel_list(const CpuList& cores, const CpuList& pod_cpus) {
  std::string text;
  for (const unsigned core : cores) text += (text.empty() ? "" : ",") + std::to_string(pod_cpus[core]);
  return text;
}

}  // namespace

Result<PodConfinement> parse_pod_confinement(std::string_view text) {
  PodConfinement pod;
  for (const std::string_view word : split(trim(text), ' ')) {
    const Status status = add_word(word, pod);
    if (!status.ok()) return status.error().wrap(std::string(word));
  }
  if (pod.cpus == 0) return Error(Errc::invalid, "cpus: required");
  return pod;
}

Result<std::optional<PodConfinement>> read_pod_confinement(const std::string& path) {
  const auto text = read_file(path, kMaxBytes);
  if (!text && text.error().code() == Errc::not_found) return std::optional<PodConfinement>();
  if (!text) return text.error();
  const auto pod = parse_pod_confinement(*text);
  if (!pod) return pod.error().wrap(path);
  return std::optional<PodConfinement>(*pod);
}

Result<std::vector<CgroupFile>> plan_cgroups(const PodConfinement& pod, std::string_view own_group,
                                             const JobCores& cores, const CpuList& pod_cpus) {
  const std::string step(step_group(own_group));
  if (step.empty()) {
    return Error(Errc::unavailable,
                 "the job has no control group: slurm.conf needs TaskPlugin=task/cgroup and SelectTypeParameters with "
                 "memory");
  }
  const bool bind = pod.own_cpus && pod.threads == 1 && pod_cpus.size() == pod.cpus;
  std::vector<CgroupFile> files;
  for (const auto& [folder, text] :
       {std::pair(step.substr(0, step.rfind('/')), &cores.job), std::pair(step, &cores.step)}) {
    const CpuList list = SLURMK8S_TRY(parse_cpu_list(*text));
    if (list.empty() || list.back() >= pod.cpus) {
      return Error(Errc::invalid, format("cores \"%s\" of a node with %u CPUs", text->c_str(), pod.cpus));
    }
    const std::size_t microseconds = list.size() * pod.threads * kPeriod;
    files.push_back({folder + "/cpu.max", format("%zu %u", microseconds, kPeriod)});
    if (bind) files.push_back({folder + "/cpuset.cpus", kernel_list(list, pod_cpus)});
  }
  return files;
}

Status write_cgroups(const std::string& root, const std::vector<CgroupFile>& files) {
  for (const CgroupFile& file : files) {
    const std::string path = root + file.name;
    const UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (!fd || ::write(fd.get(), file.text.data(), file.text.size()) != static_cast<ssize_t>(file.text.size())) {
      return Error(Errc::unavailable,
                   path + ": write \"" + file.text + "\": " + std::generic_category().message(errno));
    }
  }
  return {};
}

}  // namespace slurmk8s
