// SPDX-License-Identifier: GPL-2.0-or-later
// gres.conf of the nodes whose GPUs come from their NodeSet's limits. slurmctld ignores a GPU for which gres.conf has
// no File, and drains its node: it needs these lines before it makes a node, and at each start.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "slurm/records.hpp"
#include "sidecar/known_nodeset.hpp"
#include "sidecar/node_action.hpp"

namespace slurmk8s {

/**
 * Lines for the records that are there, as they are, and for those that `actions` make. Pure. Files have the names that
 * the pods give their devices (images/slurmd/entrypoint.sh); slurmctld does not look for them. `former` are the nodes
 * that have lines now: a node that has lost its NodeSet, or its limits, keeps them.
 */
std::string build_gres_conf(const NodeSets& nodesets, const std::vector<SlurmNode>& nodes,
                            const std::vector<NodeAction>& actions, const std::set<std::string>& former = {});

/** First line of the file: slurmctld reads it for each node, and logs each time that an empty one is empty. */
inline constexpr char kGresConfHead[] = "# Kept by slurm-k8s-sidecar\n";

/** The file, which slurmctld's gres.conf includes. One thread. */
class GresConfFile {
 public:
  /** An empty path: nothing is written. */
  explicit GresConfFile(std::string path) : path_(std::move(path)) {}

  /** Replaces the file with kGresConfHead and these lines, unless it has them already. Errors name the path. */
  Status write(const std::string& lines);

  /** The nodes that the file has lines for. None when it cannot be read. */
  std::set<std::string> nodes();

 private:
  const std::optional<std::string>& text_of_file();

  std::string path_;
  std::optional<std::string> written_;
};

}  // namespace slurmk8s
