// SPDX-License-Identifier: GPL-2.0-or-later
// Look-ups of PersistentVolumeClaims.
#include "bridge/claim_cache.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/strings.hpp"

namespace slurmk8s {

std::string describe_claim(const Json& claim) {
  if (!claim.at({"spec", "volumeName"}).text().empty()) return {};
  return "claim " + std::string(claim.at({"metadata", "name"}).text()) +
         " is not bound; only kube-scheduler binds claims of a storage class with WaitForFirstConsumer";
}

ClaimCache::ClaimCache(kube::Reader& client, const Clock& clock, Changed changed)
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
    if (now >= entry.next && entry.request == 0 && !std::exchange(entry.is_queued, true)) queue_.push_back(key);
    if (!entry.is_known || !entry.why.empty()) entry.pods.insert(pod.uid);
    answer.is_known = answer.is_known && entry.is_known;
    if (answer.why.empty() && !entry.why.empty()) answer.why = claim.field + ": Forbidden: " + entry.why;
    if (answer.unread.empty() && !entry.is_known && !entry.error.empty()) {
      answer.unread =
          format("%s: claim %s cannot be read: %s", claim.field.c_str(), claim.name.c_str(), entry.error.c_str());
    }
  }
  read_next();
  return answer;
}

void ClaimCache::read_next() {
  while (reading_ < kMaxReads && !queue_.empty()) {
    const kube::ObjectKey key = std::move(queue_.front());
    queue_.pop_front();
    ask(key);
  }
}

void ClaimCache::ask(const kube::ObjectKey& key) {
  ++reading_;
  Entry& entry = entries_[key];
  entry.is_queued = false;
  entry.request = client_.get({kube::kVolumeClaims, key.name_space, key.name}, [this, key](const Result<Json>& answer) {
    --reading_;
    Entry& read = entries_[key];
    answered(read, answer);
    read_next();
    changed_(std::exchange(read.pods, {}));
  });
}

/** A failed read says nothing of the claim: what was known of it stays. That it isn't there is an answer. */
void ClaimCache::answered(Entry& entry, const Result<Json>& answer) {
  entry.request = 0;
  entry.error = answer ? "" : answer.error().message();
  const bool is_absent = !answer && answer.error().code() == Errc::not_found;
  if (answer || is_absent) {
    entry.is_known = true;
    entry.why = answer ? describe_claim(*answer) : entry.error;
  }
  const bool has_volume = answer && entry.why.empty();
  entry.failures = has_volume ? 0 : entry.failures + 1;
  const std::optional<std::chrono::seconds> wanted = answer ? std::nullopt : answer.error().retry_after();
  const std::chrono::seconds wait = has_volume ? kKeep : kRetry * (1U << std::min(entry.failures - 1, 4U));
  entry.next = clock_.now() + std::min(kKeep, std::max(wait, wanted.value_or(std::chrono::seconds(0))));
}

void ClaimCache::prune() {
  std::erase_if(entries_, [&](const auto& one) {
    const Entry& entry = one.second;
    return entry.request == 0 && !entry.is_queued && clock_.now() >= entry.asked + kKeep;
  });
}

}  // namespace slurmk8s
