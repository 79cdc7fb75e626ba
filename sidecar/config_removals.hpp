// SPDX-License-Identifier: GPL-2.0-or-later
// find_removals(): which jobs slurmctld would end because a changed configuration lacks their partition or node. Pure;
// any thread.
//
// slurmctld ends a job that names a partition, or a node, that it does not know when it reads its configuration:
// _sync_jobs_to_conf() in Slurm's slurmctld/read_config.c. Nodes and partitions made at run time are in no file: such
// nodes are kept, and such partitions with ReconfigFlags=KeepPartInfo.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "sidecar/config_plan.hpp"
#include "slurm/records.hpp"

namespace slurmk8s {

/** What a slurm.conf defines, with the files of the set that it includes. */
struct ConfigDefinitions {
  std::set<std::string> partitions;
  std::set<std::string> nodes;
  bool keeps_partitions = false;  ///< ReconfigFlags has KeepPartInfo
  bool is_whole = true;           ///< false: it includes a file that is not in the set
};

ConfigDefinitions parse_definitions(const ConfigFiles& files);

/** What files lack that the live ones define. */
struct ConfigRemovals {
  ConfigDefinitions wanted;
  std::set<std::string> partitions;
  std::set<std::string> nodes;

  bool empty() const { return partitions.empty() && nodes.empty(); }
  /** Also one made at run time that no file defines. */
  bool removes_partition(const std::string& name) const;
};

ConfigRemovals find_removals(const ConfigFiles& live, const ConfigFiles& wanted);

/** "partition gpu is removed and has 3 jobs": with what can be done; empty when no job would end. */
std::string describe_lost_jobs(const ConfigRemovals& removals, const std::vector<SlurmJobNeeds>& jobs);

/** "partition gpu, node n-1": of what is removed. */
std::string describe_removals(const ConfigRemovals& removals);

}  // namespace slurmk8s
