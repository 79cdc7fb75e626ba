// SPDX-License-Identifier: GPL-2.0-or-later
// ClaimCache: of the claims of pods, whether volumes are bound to them, where these can be mounted, and which GPUs they
// ask for; asked of the API server. Same thread rules as kube::Client.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "bridge/device_classes.hpp"
#include "bridge/object_cache.hpp"
#include "bridge/workload_pod.hpp"
#include "kube/reflector.hpp"

namespace slurmk8s {

/** Error of a PersistentVolumeClaim that has no volume, without the field; empty: it has one. */
std::string describe_claim(const Json& claim);

class ClaimCache {
 public:
  /** Of the uids of pods that lacked what is answered now, a claim or its volume, when they were last looked at. */
  using Changed = std::function<void(const std::set<std::string>& pods)>;

  /** References must outlive it. Without `classes` no resource claim is read. */
  ClaimCache(kube::Reader& client, const Clock& clock, DeviceClasses classes, Changed changed);

  struct Answer {
    bool is_known = true;  ///< false: claims or their volumes are being read, or can't be read
    std::string why;       ///< what keeps the first claim from being used, with its field; empty: nothing that is known
    std::string unread;    ///< why the first one that isn't known can't be read, with its field; empty: being read
    BridgeDevices devices = {};                       ///< what the resource claims that are known ask for
    std::vector<const NodeSelector*> selectors = {};  ///< of known volumes; until the loop's next turn
  };
  /** All claims of the pod. */
  Answer judge(const WorkloadPod& pod);
  /** GPUs of its resource claims. Error (unavailable) while they are being read, (invalid) when they cannot be told. */
  Result<BridgeDevices> devices_of(const WorkloadPod& pod);
  /**
   * Which Kubernetes nodes can mount its volumes: those that all of these select. Valid until the loop's next turn.
   * Error (unavailable) while claims are being read, (invalid) when they cannot be read.
   */
  Result<std::vector<const NodeSelector*>> volume_selectors_of(const WorkloadPod& pod);
  /** Its resource claims are read again at the next look. */
  void forget_devices(const WorkloadPod& pod);
  /** Forgets claims and volumes without a judge() for ObjectCache::kKeep. */
  void prune();

 private:
  enum class Kind { volume_claim, volume, device_claim, device_template };
  struct Key {
    Kind kind;
    kube::ObjectKey object;
    auto operator<=>(const Key&) const = default;
  };
  /** A claim, or a volume. */
  struct Claim {
    std::string why = {};  // it cannot be used; empty: it can
    BridgeDevices devices = {};
    std::string volume = {};     // of a claim that is bound
    NodeSelector selector = {};  // of a volume
  };
  using Claims = ObjectCache<Key, Claim>;

  static const kube::Resource& resource_of(Kind kind);
  static Kind kind_of(const PodClaim& claim);
  Claim decode(const Key& key, const Json& object) const;
  void look_at(const std::vector<PodClaim>& claims, const WorkloadPod& pod, Answer& answer);
  const Claim* read(const Key& key, const PodClaim& claim, const WorkloadPod& pod, Answer& answer);

  const DeviceClasses classes_;
  std::map<Key, std::set<std::string>> waiting_;  // uids of pods
  Claims claims_;
};

}  // namespace slurmk8s
