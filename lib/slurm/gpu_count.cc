// SPDX-License-Identifier: GPL-2.0-or-later
// GPUs in Slurm's text of Gres.
#include "slurm/gpu_count.hpp"

#include <algorithm>
#include <string>

#include "base/strings.hpp"

namespace slurmk8s {

std::uint64_t count_gpus(std::string_view gres) {
  std::uint64_t count = 0;
  int depth = 0;
  std::string entry;
  const auto add = [&] {
    const bool is_gpu = entry == "gpu" || entry.starts_with("gpu:");
    const std::string last = entry.substr(entry.rfind(':') + 1);
    if (is_gpu) count += static_cast<std::uint64_t>(std::max<std::int64_t>(0, parse_int(last).value_or(1)));
    entry.clear();
  };
  for (const char c : gres) {
    if (c == '(') depth++;
    if (depth == 0 && c == ',') {
      add();
    } else if (depth == 0) {
      entry += c;
    }
    if (c == ')') depth--;
  }
  add();
  return count;
}

}  // namespace slurmk8s
