// SPDX-License-Identifier: GPL-2.0-or-later
// Look-ups of claims.
#include "bridge/claim_cache.hpp"

#include "base/strings.hpp"

namespace slurmk8s {
namespace {

const kube::Resource& resource_of(ClaimKind kind) {
  switch (kind) {
    case ClaimKind::device: return kube::kResourceClaims;
    case ClaimKind::device_template: return kube::kResourceClaimTemplates;
    case ClaimKind::volume: break;
  }
  return kube::kVolumeClaims;
}

}  // namespace

std::string describe_claim(const Json& claim) {
  if (!claim.at({"spec", "volumeName"}).text().empty()) return {};
  return "claim " + std::string(claim.at({"metadata", "name"}).text()) +
         " is not bound; only kube-scheduler binds claims of a storage class with WaitForFirstConsumer";
}

ClaimCache::ClaimCache(kube::Reader& client, const Clock& clock, DeviceClasses classes, Changed changed)
    : classes_(std::move(classes)),
      claims_(client, clock,
              {.locate =
                   [](const Key& key) {
                     return kube::ObjectRef{resource_of(key.first), key.second.name_space, key.second.name};
                   },
               .decode = [this](const Key& key, const Json& claim) { return decode(key, claim); },
               .is_finished = [](const Claim& claim) { return claim.why.empty(); },
               .changed =
                   [this, changed = std::move(changed)](const Key& key) {
                     const auto pods = waiting_.extract(key);
                     if (!pods.empty()) changed(pods.mapped());
                   }}) {}

ClaimCache::Claim ClaimCache::decode(const Key& key, const Json& claim) const {
  if (key.first == ClaimKind::volume) return {describe_claim(claim), {}};
  const Json spec = claim["spec"];
  Result<BridgeDevices> devices =
      count_devices(key.first == ClaimKind::device_template ? spec["spec"] : spec, classes_);
  if (!devices) return {"resource claim " + key.second.name + ": " + devices.error().message(), {}};
  return {{}, *std::move(devices)};
}

void ClaimCache::look_at(const std::vector<PodClaim>& claims, const WorkloadPod& pod, Answer& answer) {
  for (const PodClaim& claim : claims) {
    const Key key{claim.kind, {pod.name_space, claim.name}};
    const Claims::Answer& read = claims_.find(key);
    const bool is_known = read.value || !read.absent.empty();
    const std::string& why = read.value ? read.value->why : read.absent;
    if (!is_known || !why.empty()) waiting_[key].insert(pod.uid);
    answer.is_known = answer.is_known && is_known;
    if (answer.why.empty() && !why.empty()) answer.why = claim.field + ": Forbidden: " + why;
    if (answer.unread.empty() && !is_known && !read.error.empty()) {
      answer.unread =
          format("%s: claim %s cannot be read: %s", claim.field.c_str(), claim.name.c_str(), read.error.c_str());
    }
    if (!read.value) continue;
    for (const auto& [name, milli] : read.value->devices) answer.devices[name] += milli;
  }
}

ClaimCache::Answer ClaimCache::judge(const WorkloadPod& pod) {
  Answer answer;
  look_at(pod.claims, pod, answer);
  if (!classes_.empty()) look_at(pod.device_claims, pod, answer);
  return answer;
}

Result<BridgeDevices> ClaimCache::devices_of(const WorkloadPod& pod) {
  Answer answer;
  if (!classes_.empty()) look_at(pod.device_claims, pod, answer);
  if (!answer.why.empty()) return Error(Errc::invalid, answer.why);
  if (!answer.unread.empty()) return Error(Errc::invalid, answer.unread);
  if (!answer.is_known) return Error(Errc::unavailable, "resource claims are being read");
  return std::move(answer.devices);
}

void ClaimCache::forget_devices(const WorkloadPod& pod) {
  for (const PodClaim& claim : pod.device_claims) claims_.forget({claim.kind, {pod.name_space, claim.name}});
}

void ClaimCache::prune() {
  claims_.prune();
  std::erase_if(waiting_, [&](const auto& one) { return !claims_.contains(one.first); });
}

}  // namespace slurmk8s
