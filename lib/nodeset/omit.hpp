// SPDX-License-Identifier: GPL-2.0-or-later
// Omit: the members of large objects that the engine and the sidecar do not read. Parsing them is most of what the
// engine would do (docs/developer/performance.md).
#pragma once

#include "kube/resource.hpp"

namespace slurmk8s {

/** Of the pods of nodes. */
inline constexpr std::array<std::string_view, 6> kOmitOfPods{"managedFields",       "containers", "initContainers",
                                                             "ephemeralContainers", "volumes",    "tolerations"};
/** Of other pods, whose requests alone are read: conditions have a `status` too. */
inline constexpr std::array<std::string_view, 15> kOmitOfOtherPods{"managedFields", "ephemeralContainers",
                                                                   "volumes",       "volumeMounts",
                                                                   "tolerations",   "affinity",
                                                                   "env",           "envFrom",
                                                                   "command",       "args",
                                                                   "status",        "lifecycle",
                                                                   "livenessProbe", "readinessProbe",
                                                                   "startupProbe"};
/** Of Kubernetes nodes: the images that are there are most of its object. */
inline constexpr std::array<std::string_view, 4> kOmitOfKubernetesNodes{"managedFields", "images", "volumesInUse",
                                                                        "volumesAttached"};

}  // namespace slurmk8s
