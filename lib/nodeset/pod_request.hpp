// SPDX-License-Identifier: GPL-2.0-or-later
// PodRequest: what kube-scheduler and the kubelet count of a pod's resources. Pure; any thread.
#pragma once

#include <cstdint>
#include <string_view>

#include "json/json.hpp"

namespace slurmk8s {

/**
 * Of a list such as `requests` or `allocatable`: thousandths of the resource's unit, rounded up. 0 for what isn't
 * there, is no quantity, or is too large.
 */
std::int64_t quantity_milli(const Json& quantities, std::string_view resource);

/**
 * Thousandths of the resource's unit, for a pod's spec. Containers and sidecars together, or a larger init container
 * beside the sidecars that start before it; and the overhead. A request of the pod itself counts instead of its
 * containers'. The largest number instead of an overflow.
 */
std::int64_t pod_request_milli(const Json& spec, std::string_view resource);

}  // namespace slurmk8s
