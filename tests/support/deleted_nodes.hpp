// SPDX-License-Identifier: GPL-2.0-or-later
// DeletedNodes: a slurmctld with nodes c-0 to c-3, which the sidecar deletes while they are being changed.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "support/cmocka.hpp"
#include "support/fake_slurm.hpp"

namespace slurmk8s {

class DeletedNodes {
 public:
  inline static const std::vector<std::string> kNodes = {"c-0", "c-1", "c-2", "c-3"};
  FakeSlurm slurm;

  /** `make` sets each record up. The hostlists `deleted` are deleted in turn, each before another change. */
  DeletedNodes(std::vector<std::string> deleted, const std::function<void(SlurmNode&)>& make) {
    for (const std::string& name : kNodes) make(slurm.node(name));
    slurm.on_update = [this, deleted = std::move(deleted), next = std::size_t{0}]() mutable {
      if (next < deleted.size()) assert_true(slurm.delete_nodes(deleted[next++]).ok());
    };
  }
};

}  // namespace slurmk8s
