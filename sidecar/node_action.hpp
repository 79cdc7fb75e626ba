// SPDX-License-Identifier: GPL-2.0-or-later
// NodeAction: one change of Slurm's node records. A value.
#pragma once

#include <string>

#include "slurm/records.hpp"

namespace slurmk8s {

/** One call to slurmctld. */
struct NodeAction {
  /**
   * In the order in which they are to be done. `resume`: ends a power-down, and a drain with it. `exempt_from_suspend`:
   * keeps nodes from being suspended when they are idle; `unexempt`: takes that back. `recycle`: powers down as soon as
   * no job is left, and takes no further one. `features`: those of the Kubernetes node come or go. `topology`: its
   * Kubernetes node's. `drop_lost`: has slurmctld drop records that it has lost, so that they are made again.
   * `clear_reason`: that of a drain which is over. `set_weight`: gives another Weight. `force_power_down`: powers down
   * what is powering up, and requeues its jobs.
   */
  enum class Kind {
    drop_lost,
    undrain,
    clear_reason,
    resume,
    remove,
    create,
    features,
    topology,
    set_weight,
    exempt_from_suspend,
    power_up,
    drain,
    power_down,
    recycle,
    force_power_down,
    unexempt
  };
  Kind kind;
  std::string nodeset;
  std::string nodes;            ///< hostlist
  std::string line;             ///< of create: "NodeName=c-[0-7] State=CLOUD …"
  std::string reason;           ///< of drain, recycle and force_power_down; of power_down only what events say
  SlurmNodeUpdate change = {};  ///< of clear_reason, features, topology, set_weight and power_up
};

/** "create", "power_down" …: as metrics and logs show it. */
const char* to_string(NodeAction::Kind kind);

}  // namespace slurmk8s
