// SPDX-License-Identifier: GPL-2.0-or-later
// PodOrder: which pod a node is to get, as far as its job decides it. A value.
#pragma once

#include <optional>
#include <string>

#include "slurm/records.hpp"

namespace slurmk8s {

struct PodOrder {
  std::string variant;          ///< empty: none
  std::optional<SlurmJob> job;  ///< the first one that waits for the node; what a template's placeholders stand for
};

}  // namespace slurmk8s
