// SPDX-License-Identifier: GPL-2.0-or-later
// Resource: a kind of object of the API and its paths. Pure; any thread.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

namespace slurmk8s::kube {

struct Resource {
  std::string_view api;     ///< "v1", "slurm-k8s.io/v1alpha1"
  std::string_view plural;  ///< "pods"
};

inline constexpr Resource kNodes{"v1", "nodes"};
inline constexpr Resource kPods{"v1", "pods"};
inline constexpr Resource kSecrets{"v1", "secrets"};
inline constexpr Resource kEvents{"events.k8s.io/v1", "events"};
inline constexpr Resource kVolumeClaims{"v1", "persistentvolumeclaims"};
inline constexpr Resource kVolumes{"v1", "persistentvolumes"};
inline constexpr Resource kResourceClaims{"resource.k8s.io/v1", "resourceclaims"};
inline constexpr Resource kResourceClaimTemplates{"resource.k8s.io/v1", "resourceclaimtemplates"};
inline constexpr Resource kDisruptionBudgets{"policy/v1", "poddisruptionbudgets"};
inline constexpr Resource kLeases{"coordination.k8s.io/v1", "leases"};
inline constexpr Resource kNodeSets{"slurm-k8s.io/v1alpha1", "nodesets"};

/**
 * Members, at any depth, that the reader does not read: the client leaves them out of the objects that it delivers.
 * The array is a constant of the program.
 */
using Omit = std::span<const std::string_view>;
inline constexpr std::array<std::string_view, 1> kManagedFields{"managedFields"};

/** "/api/v1/namespaces/NS/pods[/NAME[/SUBRESOURCE]]" or "/apis/GROUP/…"; each segment percent-encoded. */
std::string resource_path(const Resource& resource, std::string_view name_space, std::string_view name = {},
                          std::string_view subresource = {});
/** Percent-encodes everything but unreserved characters (RFC 3986). */
std::string escape(std::string_view text);

}  // namespace slurmk8s::kube
