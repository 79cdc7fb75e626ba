// SPDX-License-Identifier: GPL-2.0-or-later
// Condition: one of a NodeSet's conditions, beside those that NodeSetState makes. A value.
#pragma once

#include <string>
#include <vector>

namespace slurmk8s {

struct Condition {
  const char* type;  ///< CamelCase, static
  bool status = false;
  std::string reason;  ///< CamelCase
  std::string message;
};
using Conditions = std::vector<Condition>;

}  // namespace slurmk8s
