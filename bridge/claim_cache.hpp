// SPDX-License-Identifier: GPL-2.0-or-later
// ClaimCache: whether the PersistentVolumeClaims of pods are bound to volumes, asked of the API server. Same thread
// rules as kube::Client.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>

#include "bridge/object_cache.hpp"
#include "bridge/workload_pod.hpp"
#include "kube/reflector.hpp"

namespace slurmk8s {

/** Error of a claim that has no volume, without the field; empty: it has one. */
std::string describe_claim(const Json& claim);

class ClaimCache {
 public:
  /** Of the uids of pods for which the last judge() found no volume of the claim that is answered now. */
  using Changed = std::function<void(const std::set<std::string>& pods)>;

  /** References must outlive it. */
  ClaimCache(kube::Reader& client, const Clock& clock, Changed changed);

  struct Answer {
    bool is_known = true;  ///< false: claims are being read, or can't be read
    std::string why;       ///< of the first claim without a volume, with its field; empty: all that are known are bound
    std::string unread;    ///< why the first claim that isn't known can't be read, with its field; empty: being read
  };
  Answer judge(const WorkloadPod& pod);
  /** Forgets claims without a judge() for ObjectCache::kKeep. */
  void prune();

 private:
  using Claims = ObjectCache<kube::ObjectKey, std::string>;  // why a claim has no volume; empty: it has one

  std::map<kube::ObjectKey, std::set<std::string>> waiting_;  // uids of pods
  Claims claims_;
};

}  // namespace slurmk8s
