// SPDX-License-Identifier: GPL-2.0-or-later
// Reading pod.env.
#include "pod_env.hpp"

#include "base/text.hpp"

namespace slurmk8s {

Result<Environment> parse_pod_env(std::string_view text) {
  Environment environment;
  int number = 0;
  for (const std::string_view raw : split(text, '\n')) {
    ++number;
    const std::string_view line = trim(raw);
    if (line.empty() || line.front() == '#') continue;
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos || equals == 0) {
      return Error(Errc::invalid, format("line %d: NAME=value was expected", number));
    }
    const std::string_view name = line.substr(0, equals);
    if (name.starts_with("SLURM_K8S_")) environment.emplace_back(name, line.substr(equals + 1));
  }
  return environment;
}

}  // namespace slurmk8s
