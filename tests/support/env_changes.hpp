// SPDX-License-Identifier: GPL-2.0-or-later
// Changes of an environment as text, for tests of SPANK's parts. Pure.
#pragma once

#include <string>

#include "spank/service_env.hpp"

namespace slurmk8s {

/** "NAME=VALUE -NAME": what is set, and what is removed. */
inline std::string shown(const EnvChanges& changes) {
  std::string text;
  for (const auto& [name, value] : changes) {
    text += (text.empty() ? "" : " ") + (value ? name + "=" + *value : "-" + name);
  }
  return text;
}

}  // namespace slurmk8s
