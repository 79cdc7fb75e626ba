// SPDX-License-Identifier: GPL-2.0-or-later
// Prometheus' text format, as tests compare it.
#pragma once

#include <string>
#include <string_view>

#include "base/strings.hpp"

namespace slurmk8s {

/** Without the help texts, which may be reworded, and without empty lines. */
inline std::string without_help(const std::string& text) {
  std::string rest;
  for (const std::string_view line : split(text, '\n')) {
    if (!line.empty() && !line.starts_with("# HELP ")) rest.append(line).append("\n");
  }
  return rest;
}

}  // namespace slurmk8s
