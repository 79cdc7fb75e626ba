// SPDX-License-Identifier: GPL-2.0-or-later
// Telling slurmctld that a node is lost: DOWN first, so that its jobs are requeued, then powered down.
#include "core/reporter.hpp"

#include "base/log.hpp"

namespace slurmk8s {

Result<Verdict> fail_node(Slurm& slurm, const std::string& node, const std::string& reason, bool vanished) {
  // A fresh look: the view that led here may be older than a new resume of the node.
  auto record = slurm.load_node(node);
  if (!record && record.error().code() != Errc::not_found) return record.error();
  const Verdict verdict = judge_failure(record ? &*record : nullptr, vanished);
  if (verdict != Verdict::give_up) return verdict;

  SlurmNodeUpdate down;
  down.state = SlurmNodeUpdate::State::down;
  down.reason = "slurm-k8s: " + reason;
  SLURMK8S_CHECK(slurm.update_nodes(node, down));
  SlurmNodeUpdate power_down;
  power_down.state = SlurmNodeUpdate::State::power_down;
  SLURMK8S_CHECK(slurm.update_nodes(node, power_down));
  log_warning("node %s: set down: %s", node.c_str(), reason.c_str());
  return verdict;
}

}  // namespace slurmk8s
