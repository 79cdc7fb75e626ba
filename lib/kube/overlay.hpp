// SPDX-License-Identifier: GPL-2.0-or-later
// Overlay: a part of a pod laid over another. Pure; any thread.
#pragma once

#include "json/json.hpp"

namespace slurmk8s {

/**
 * `overlay` over `base`, both objects of the same kind: objects member by member (null removes a member); lists of
 * objects with a key (containers, volumes and env by `name`, volumeMounts by `mountPath`, ports by `containerPort`)
 * element by element; everything else is replaced. This is what strategic merge does to the lists that pods have.
 */
Json merge_overlay(const Json& base, const Json& overlay);

}  // namespace slurmk8s
