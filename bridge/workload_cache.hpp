// SPDX-License-Identifier: GPL-2.0-or-later
// WorkloadCache: the Jobs and PodGroups of pods, asked of the API server once each. Same thread rules as kube::Client.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "base/clock.hpp"
#include "bridge/workload.hpp"
#include "kube/client.hpp"

namespace slurmk8s {

class WorkloadCache {
 public:
  /** After an error it is asked again. */
  static constexpr std::chrono::seconds kRetry{5};
  /** An answer is believed for so long: parallelism can be changed. */
  static constexpr std::chrono::seconds kKeep{60};

  /** An answer has come about this one. */
  using Changed = std::function<void(const WorkloadRef& workload)>;

  /** References must outlive it. */
  WorkloadCache(kube::Reader& client, const Clock& clock, Changed changed);
  ~WorkloadCache();
  WorkloadCache(const WorkloadCache&) = delete;
  WorkloadCache& operator=(const WorkloadCache&) = delete;

  /** Empty: it can't be read, which `why` tells; or it is being read, and `why` is empty. */
  std::optional<Workload> find(const WorkloadRef& workload, std::string& why);
  /** Forgets workloads without a find() for kKeep. */
  void prune();

 private:
  struct Entry {
    http::RequestId request = 0;
    std::optional<Workload> workload;
    std::string error;
    TimePoint at{};     // of the answer
    TimePoint asked{};  // by find()
  };
  void ask(const WorkloadRef& workload, const kube::Resource& resource);

  kube::Reader& client_;
  const Clock& clock_;
  const Changed changed_;
  std::map<WorkloadRef, Entry> entries_;
};

}  // namespace slurmk8s
