// SPDX-License-Identifier: GPL-2.0-or-later
// Look-ups of PersistentVolumeClaims.
#include "bridge/claim_cache.hpp"

#include <algorithm>
#include <utility>

namespace slurmk8s {

std::string describe_claim(const Json& claim) {
  if (!claim.at({"spec", "volumeName"}).text().empty()) return {};
  return "claim " + std::string(claim.at({"metadata", "name"}).text()) +
         " is not bound; only kube-scheduler binds claims of a storage class with WaitForFirstConsumer";
}

ClaimCache::ClaimCache(kube::Reader& client, const Clock& clock, std::function<void()> changed)
    : client_(client), clock_(clock), changed_(std::move(changed)) {}

ClaimCache::~ClaimCache() {
  for (const auto& [key, entry] : entries_) {
    if (entry.request != 0) client_.cancel(entry.request);
  }
}

ClaimCache::Answer ClaimCache::judge(const WorkloadPod& pod) {
  Answer answer;
  const TimePoint now = clock_.now();
  for (const PodClaim& claim : pod.claims) {
    const kube::ObjectKey key{pod.name_space, claim.name};
    Entry& entry = entries_[key];
    entry.asked = now;
    const bool has_answer = entry.at != TimePoint{};
    const bool is_fresh = has_answer && now < entry.at + (entry.why.empty() ? kKeep : kRetry);
    if (!is_fresh && entry.request == 0) ask(key);
    answer.is_known = answer.is_known && has_answer;
    if (answer.why.empty() && !entry.why.empty()) answer.why = claim.field + ": Forbidden: " + entry.why;
  }
  return answer;
}

void ClaimCache::ask(const kube::ObjectKey& key) {
  entries_[key].request =
      client_.get({kube::kVolumeClaims, key.name_space, key.name}, [this, key](const Result<Json>& answer) {
        Entry& entry = entries_[key];
        entry.request = 0;
        entry.at = clock_.now();
        entry.why = answer ? describe_claim(*answer) : answer.error().message();
        changed_();
      });
}

void ClaimCache::prune() {
  std::erase_if(entries_,
                [&](const auto& one) { return one.second.request == 0 && clock_.now() >= one.second.asked + kKeep; });
}

}  // namespace slurmk8s
