// SPDX-License-Identifier: GPL-2.0-or-later
// NodeSetStore: the NodeSets of the engine's namespace as the watch shows them, and whose a node is. The engine's
// thread.
#pragma once

#include <map>
#include <string>

#include "nodeset/nodeset.hpp"
#include "engine/plan.hpp"

namespace slurmk8s {

class NodeSetStore {
 public:
  explicit NodeSetStore(std::string name_space) : name_space_(std::move(name_space)) {}

  /** Takes an object of the API. What is wrong with one is logged, and kept: owner() tells it to those who ask. */
  const Result<NodeSet>& set(const Json& object);
  void remove(const std::string& name) { nodesets_.erase(name); }

  /**
   * The NodeSet that a node's pod is made by, valid until it is set or removed. Error: not_found, what is wrong with
   * its spec, or that its nodes have no pods. Its replicas don't count: a node that Slurm resumes has a job, which runs
   * before a scale-in removes the node.
   */
  Owner owner(const std::string& node) const;
  /** The name of a node's NodeSet, also of one that is gone or wrong; the node's own when it tells none. */
  std::string name_of(const std::string& node) const;

 private:
  const Result<NodeSet>* find(const std::string& name) const;

  const std::string name_space_;
  std::map<std::string, Result<NodeSet>> nodesets_;
};

}  // namespace slurmk8s
