// SPDX-License-Identifier: GPL-2.0-or-later
// Look-ups of claims.
#include "bridge/claim_cache.hpp"

#include "base/strings.hpp"

namespace slurmk8s {

const kube::Resource& ClaimCache::resource_of(Kind kind) {
  switch (kind) {
    case Kind::volume: return kube::kVolumes;
    case Kind::device_claim: return kube::kResourceClaims;
    case Kind::device_template: return kube::kResourceClaimTemplates;
    case Kind::volume_claim: break;
  }
  return kube::kVolumeClaims;
}

ClaimCache::Kind ClaimCache::kind_of(const PodClaim& claim) {
  switch (claim.kind) {
    case ClaimKind::device: return Kind::device_claim;
    case ClaimKind::device_template: return Kind::device_template;
    case ClaimKind::volume: break;
  }
  return Kind::volume_claim;
}

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
                     return kube::ObjectRef{resource_of(key.kind), key.object.name_space, key.object.name};
                   },
               .decode = [this](const Key& key, const Json& object) { return decode(key, object); },
               .is_finished = [](const Claim& claim) { return claim.why.empty(); },
               .changed =
                   [this, changed = std::move(changed)](const Key& key) {
                     const auto pods = waiting_.extract(key);
                     if (!pods.empty()) changed(pods.mapped());
                   }}) {}

ClaimCache::Claim ClaimCache::decode(const Key& key, const Json& object) const {
  const Json spec = object["spec"];
  if (key.kind == Kind::volume_claim) {
    return {.why = describe_claim(object), .volume = std::string(spec["volumeName"].text())};
  }
  if (key.kind == Kind::volume) {
    Result<NodeSelector> selector = decode_volume_affinity(spec);
    if (!selector) return {.why = "volume " + key.object.name + ": " + selector.error().message()};
    return {.selector = *std::move(selector)};
  }
  Result<BridgeDevices> devices = count_devices(key.kind == Kind::device_template ? spec["spec"] : spec, classes_);
  if (!devices) return {.why = "resource claim " + key.object.name + ": " + devices.error().message()};
  return {.devices = *std::move(devices)};
}

/** Null: it is not known, or not there. */
const ClaimCache::Claim* ClaimCache::read(const Key& key, const PodClaim& claim, const WorkloadPod& pod,
                                          Answer& answer) {
  const Claims::Answer& found = claims_.find(key);
  const bool is_known = found.value || !found.absent.empty();
  const std::string& why = found.value ? found.value->why : found.absent;
  if (!is_known || !why.empty()) waiting_[key].insert(pod.uid);
  answer.is_known = answer.is_known && is_known;
  // kube-scheduler waits for the claims of a pod with the gate, and binds them.
  const bool is_of_scheduler = pod.has_gate && key.kind == Kind::volume_claim;
  if (answer.why.empty() && !why.empty() && !is_of_scheduler) answer.why = claim.field + ": Forbidden: " + why;
  if (answer.unread.empty() && !is_known && !found.error.empty()) {
    answer.unread = format("%s: %s %s cannot be read: %s", claim.field.c_str(),
                           key.kind == Kind::volume ? "volume" : "claim", key.object.name.c_str(), found.error.c_str());
  }
  return found.value ? &*found.value : nullptr;
}

void ClaimCache::look_at(const std::vector<PodClaim>& claims, const WorkloadPod& pod, Answer& answer) {
  for (const PodClaim& claim : claims) {
    const Claim* const found = read({kind_of(claim), {pod.name_space, claim.name}}, claim, pod, answer);
    if (found == nullptr) continue;
    for (const auto& [name, milli] : found->devices) answer.devices[name] += milli;
    if (found->volume.empty()) continue;
    const Claim* const volume = read({Kind::volume, {"", found->volume}}, claim, pod, answer);
    if (volume != nullptr && !volume->selector.empty()) answer.selectors.push_back(&volume->selector);
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

Result<std::vector<const NodeSelector*>> ClaimCache::volume_selectors_of(const WorkloadPod& pod) {
  Answer answer;
  look_at(pod.claims, pod, answer);
  if (!answer.unread.empty()) return Error(Errc::invalid, answer.unread);
  if (!answer.is_known) return Error(Errc::unavailable, "claims are being read");
  return std::move(answer.selectors);
}

void ClaimCache::forget_devices(const WorkloadPod& pod) {
  for (const PodClaim& claim : pod.device_claims) claims_.forget({kind_of(claim), {pod.name_space, claim.name}});
}

void ClaimCache::prune() {
  claims_.prune();
  std::erase_if(waiting_, [&](const auto& one) { return !claims_.contains(one.first); });
}

}  // namespace slurmk8s
