// SPDX-License-Identifier: GPL-2.0-or-later
// ClaimCache: whether the PersistentVolumeClaims of pods are bound to volumes, asked of the API server. Same thread
// rules as kube::Client.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "base/clock.hpp"
#include "bridge/workload_pod.hpp"
#include "kube/reflector.hpp"

namespace slurmk8s {

/** Error of a claim that has no volume, without the field; empty: it has one. */
std::string describe_claim(const Json& claim);

class ClaimCache {
 public:
  /** A claim without a volume is read again after this time, and so is one that could not be read. */
  static constexpr std::chrono::seconds kRetry{5};
  /** A bound claim is believed for so long: another claim may have its name by then. */
  static constexpr std::chrono::seconds kKeep{60};

  /** References must outlive it. `changed`: an answer has come. */
  ClaimCache(kube::Reader& client, const Clock& clock, std::function<void()> changed);
  ~ClaimCache();
  ClaimCache(const ClaimCache&) = delete;
  ClaimCache& operator=(const ClaimCache&) = delete;

  struct Answer {
    bool is_known = true;  ///< false: claims are being read
    std::string why;       ///< names the field of the first claim without a volume; empty: all are bound
  };
  Answer judge(const WorkloadPod& pod);
  /** Forgets claims without a judge() for kKeep. */
  void prune();

 private:
  struct Entry {
    http::RequestId request = 0;
    std::string why;
    TimePoint at{};     // of the answer
    TimePoint asked{};  // by judge()
  };
  void ask(const kube::ObjectKey& key);

  kube::Reader& client_;
  const Clock& clock_;
  const std::function<void()> changed_;
  std::map<kube::ObjectKey, Entry> entries_;
};

}  // namespace slurmk8s
