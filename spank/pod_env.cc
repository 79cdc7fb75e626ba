// SPDX-License-Identifier: GPL-2.0-or-later
// Parses pod.env.
#include "spank/pod_env.hpp"

#include "base/file.hpp"
#include "base/strings.hpp"

namespace slurmk8s {
namespace {

constexpr std::size_t kMaxPodEnv = 65536;
constexpr std::string_view kPrefix = "SLURM_K8S_";
constexpr std::string_view kOfSteps = "SLURM_K8S_OMP_NUM_THREADS";

}  // namespace

Result<std::string> read_pod_env(const std::string& path) {
  auto text = read_file(path, kMaxPodEnv);
  if (!text && text.error().code() == Errc::not_found) return std::string();
  return text;
}

Result<EnvChanges> parse_pod_env(std::string_view text) {
  EnvChanges changes;
  int number = 0;
  for (const std::string_view raw : split(text, '\n')) {
    ++number;
    const std::string_view line = trim(raw);
    if (line.empty() || line.front() == '#') continue;
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos || equals == 0) {
      return Error(Errc::invalid, format("line %d: must be NAME=value", number));
    }
    const std::string_view name = line.substr(0, equals);
    if (name.starts_with(kPrefix)) changes.push_back({std::string(name), std::string(line.substr(equals + 1))});
  }
  return changes;
}

EnvChanges without_other_pod(const std::vector<std::string_view>& names) {
  EnvChanges changes;
  for (const std::string_view name : names) {
    if (name.starts_with(kPrefix) && name != kOfSteps) changes.push_back({std::string(name), std::nullopt});
  }
  return changes;
}

}  // namespace slurmk8s
