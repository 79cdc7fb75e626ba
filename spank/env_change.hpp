// SPDX-License-Identifier: GPL-2.0-or-later
// EnvChange: a change of one variable of a job's environment. Values; any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace slurmk8s {

struct EnvChange {
  std::string name;
  std::optional<std::string> value;  ///< empty: the variable is removed
};

using EnvChanges = std::vector<EnvChange>;

}  // namespace slurmk8s
