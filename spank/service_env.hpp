// SPDX-License-Identifier: GPL-2.0-or-later
// Kubernetes' service variables. Pure; any thread.
#pragma once

#include <string_view>
#include <vector>

#include "spank/env_change.hpp"

namespace slurmk8s {

/**
 * Removes such variables among `names`: KUBERNETES_SERVICE_*, KUBERNETES_PORT*, and for each service X with both
 * X_SERVICE_HOST and X_SERVICE_PORT these two, X_SERVICE_PORT_*, X_PORT and X_PORT_*. A job has those of the
 * pod from which it was submitted.
 */
EnvChanges without_services(const std::vector<std::string_view>& names);

}  // namespace slurmk8s
