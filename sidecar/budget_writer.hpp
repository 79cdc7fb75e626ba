// SPDX-License-Identifier: GPL-2.0-or-later
// BudgetWriter: keeps one PodDisruptionBudget for each NodeSet that protects its busy pods: no pod that is marked busy
// (pod_marker.hpp) may be evicted. Pods of idle nodes match no budget of ours.
//
// Same thread rules as kube::Client. A budget belongs to its NodeSet, with which Kubernetes removes it.
#pragma once

#include <map>
#include <string>

#include "daemon/condition.hpp"
#include "kube/object_writer.hpp"
#include "sidecar/node_plan.hpp"

namespace slurmk8s {

/** What the watch of budgets is to select. */
inline constexpr const char* kBudgetSelector = "app.kubernetes.io/managed-by=slurm-k8s,slurm-k8s.io/nodeset";

/** The budget of a NodeSet: NAME-busy. */
Json build_budget(const NodeSet& nodeset);

class BudgetWriter {
 public:
  /** References must outlive it. */
  BudgetWriter(kube::Writer& client, const Clock& clock, kube::Throttle& throttle, std::string name_space,
               Jitter jitter = random_unit);

  /** A budget as a watch or an answer has just shown it. */
  void observe(const Json& budget);
  void forget(const std::string& name);
  /** All budgets have been handed over once, or can't be: `error`. Before this nothing is written. */
  void set_listed() { listed_ = true; }

  /** Brings the budgets to what the NodeSets say; to be called once a second, and costs nothing when all is well. */
  void round(const NodeSets& nodesets);
  /** DisruptionProtected, of a NodeSet; `watch_error`: why the budgets can't be read, or empty. */
  Condition condition(const std::string& nodeset, const KnownNodeSet& known, const std::string& watch_error) const;

 private:
  struct Entry {
    Json known;  // null: there is none
    std::string failure;
  };

  void reconcile(const std::string& name, Entry& entry, const NodeSet* wanted);
  void on_answer(const std::string& name, bool removal, const Result<Json>& answer);

  std::map<std::string, Entry> entries_;  // by the budget's name
  bool listed_ = false;
  kube::ObjectWriter writer_;
};

}  // namespace slurmk8s
