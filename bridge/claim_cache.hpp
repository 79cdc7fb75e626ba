// SPDX-License-Identifier: GPL-2.0-or-later
// ClaimCache: whether the PersistentVolumeClaims of pods are bound to volumes, asked of the API server. Same thread
// rules as kube::Client.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "base/clock.hpp"
#include "bridge/workload_pod.hpp"
#include "kube/reflector.hpp"

namespace slurmk8s {

/** Error of a claim that has no volume, without the field; empty: it has one. */
std::string describe_claim(const Json& claim);

class ClaimCache {
 public:
  /** Of the uids of pods for which the last judge() found no volume of the claim that is answered now. */
  using Changed = std::function<void(const std::set<std::string>& pods)>;

  /** A claim without a volume, or that could not be read, is read again after this time; then after twice as long. */
  static constexpr std::chrono::seconds kRetry{5};
  /** Reads under way; further claims wait for these, first in first out. */
  static constexpr std::size_t kMaxReads = 16;
  /** A bound claim is believed for so long: another may have its name by then. No claim is read less often. */
  static constexpr std::chrono::seconds kKeep{60};

  /** References must outlive it. */
  ClaimCache(kube::Reader& client, const Clock& clock, Changed changed);
  ~ClaimCache();
  ClaimCache(const ClaimCache&) = delete;
  ClaimCache& operator=(const ClaimCache&) = delete;

  struct Answer {
    bool is_known = true;  ///< false: claims are being read, or can't be read
    std::string why;       ///< of the first claim without a volume, with its field; empty: all that are known are bound
    std::string unread;    ///< why the first claim that isn't known can't be read, with its field; empty: being read
  };
  Answer judge(const WorkloadPod& pod);
  /** Forgets claims without a judge() for kKeep. */
  void prune();

 private:
  struct Entry {
    http::RequestId request = 0;
    bool is_queued = false;      // in queue_
    std::string why;             // of a claim that was read
    std::string error;           // the last read has failed
    bool is_known = false;       // it was read
    unsigned failures = 0;       // reads that found no volume
    TimePoint next{};            // when it is read again
    TimePoint asked{};           // by judge()
    std::set<std::string> pods;  // uids of those that wait for it
  };
  void read_next();
  void ask(const kube::ObjectKey& key);
  void answered(Entry& entry, const Result<Json>& answer);

  kube::Reader& client_;
  const Clock& clock_;
  const Changed changed_;
  std::map<kube::ObjectKey, Entry> entries_;
  std::deque<kube::ObjectKey> queue_;
  std::size_t reading_ = 0;
};

}  // namespace slurmk8s
