// SPDX-License-Identifier: GPL-2.0-or-later
// WorkloadCache: the Jobs and PodGroups of pods, asked of the API server once each. Same thread rules as kube::Client.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "bridge/object_cache.hpp"
#include "bridge/workload.hpp"

namespace slurmk8s {

class WorkloadCache {
 public:
  /** An answer has come about this one. */
  using Changed = std::function<void(const WorkloadRef& workload)>;

  /** One that is absent is read again at least this often: kubectl creates the pods of a file before its PodGroup. */
  static constexpr std::chrono::seconds kMaxRetry{10};

  /** References must outlive it. */
  WorkloadCache(kube::Reader& client, const Clock& clock, Changed changed);

  /** Empty: it can't be read, which `why` tells; or it is being read, and `why` is empty. */
  std::optional<Workload> find(const WorkloadRef& workload, std::string& why);
  /** The next find() asks: an object that is created afterwards may have the same name. */
  void forget(const WorkloadRef& workload) { workloads_.forget(workload); }
  /** Forgets workloads without a find() for ObjectCache::kKeep. */
  void prune() { workloads_.prune(); }

 private:
  ObjectCache<WorkloadRef, Workload> workloads_;
};

}  // namespace slurmk8s
