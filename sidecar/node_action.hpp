// SPDX-License-Identifier: GPL-2.0-or-later
// NodeAction: one change of Slurm's node records. A value.
#pragma once

#include <string>

#include "slurm/records.hpp"

namespace slurmk8s {

/** One call to slurmctld. */
struct NodeAction {
  /**
   * In the order in which they are to be done. `resume`: ends a power-down, and a drain with it. `exempt`: keeps nodes
   * from being suspended when they are idle; `subject`: takes that back. `recycle`: powers down as soon as no job is
   * left, and takes no further one. `features`: those of the Kubernetes node come or go. `topology`: its Kubernetes
   * node's. `recover`: has slurmctld drop records that it has lost, so that they are made again. `clear_reason`: that
   * of a drain which is over. `weigh`: gives another Weight. `abandon`: powers down what is powering up, and requeues
   * its jobs.
   */
  enum class Kind {
    recover,
    undrain,
    clear_reason,
    resume,
    remove,
    create,
    features,
    topology,
    weigh,
    exempt,
    power_up,
    drain,
    power_down,
    recycle,
    abandon,
    subject
  };
  Kind kind;
  std::string nodeset;
  std::string nodes;            ///< hostlist
  std::string line;             ///< of create: "NodeName=c-[0-7] State=CLOUD …"
  std::string reason;           ///< of drain, recycle and abandon; of power_down only what events say
  SlurmNodeUpdate change = {};  ///< of clear_reason, features, topology and weigh
};

/** "create", "power_down" …: as metrics and logs show it. */
const char* to_string(NodeAction::Kind kind);

}  // namespace slurmk8s
