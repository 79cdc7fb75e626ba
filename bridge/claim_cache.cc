// SPDX-License-Identifier: GPL-2.0-or-later
// Look-ups of PersistentVolumeClaims.
#include "bridge/claim_cache.hpp"

#include <utility>

#include "base/strings.hpp"

namespace slurmk8s {

std::string describe_claim(const Json& claim) {
  if (!claim.at({"spec", "volumeName"}).text().empty()) return {};
  return "claim " + std::string(claim.at({"metadata", "name"}).text()) +
         " is not bound; only kube-scheduler binds claims of a storage class with WaitForFirstConsumer";
}

ClaimCache::ClaimCache(kube::Reader& client, const Clock& clock, Changed changed)
    : claims_(client, clock,
              {.locate =
                   [](const kube::ObjectKey& key) {
                     return kube::ObjectRef{kube::kVolumeClaims, key.name_space, key.name};
                   },
               .decode = [](const kube::ObjectKey&, const Json& claim) { return describe_claim(claim); },
               .is_finished = [](const std::string& why) { return why.empty(); },
               .changed =
                   [this, changed = std::move(changed)](const kube::ObjectKey& key) {
                     const auto pods = waiting_.extract(key);
                     if (!pods.empty()) changed(pods.mapped());
                   }}) {}

ClaimCache::Answer ClaimCache::judge(const WorkloadPod& pod) {
  Answer answer;
  for (const PodClaim& claim : pod.claims) {
    const kube::ObjectKey key{pod.name_space, claim.name};
    const Claims::Answer& read = claims_.find(key);
    const bool is_known = read.value || !read.absent.empty();
    const std::string& why = read.value ? *read.value : read.absent;
    if (!is_known || !why.empty()) waiting_[key].insert(pod.uid);
    answer.is_known = answer.is_known && is_known;
    if (answer.why.empty() && !why.empty()) answer.why = claim.field + ": Forbidden: " + why;
    if (answer.unread.empty() && !is_known && !read.error.empty()) {
      answer.unread =
          format("%s: claim %s cannot be read: %s", claim.field.c_str(), claim.name.c_str(), read.error.c_str());
    }
  }
  return answer;
}

void ClaimCache::prune() {
  claims_.prune();
  std::erase_if(waiting_, [&](const auto& one) { return !claims_.contains(one.first); });
}

}  // namespace slurmk8s
