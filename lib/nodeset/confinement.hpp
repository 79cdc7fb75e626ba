// SPDX-License-Identifier: GPL-2.0-or-later
// Confinement of jobs: spec.confinement of a NodeSet, and what it changes in the pods. Pure; any thread.
#pragma once

#include <string>

#include "base/result.hpp"
#include "json/json.hpp"

namespace slurmk8s {

/** How the processes of a job are kept to its CPUs and memory. */
enum class Confinement {
  none,        ///< the SPANK plugin watches; the container needs nothing
  cgroup,      ///< control groups, in a cgroup that the pod's RuntimeClass makes writable
  privileged,  ///< control groups, in a cgroup that slurmd's entrypoint makes writable
};

/** spec.confinement; none when it is absent. Error (invalid): another value. */
Result<Confinement> decode_confinement(const Json& spec);

/** "Cgroup" or "Privileged"; empty for none. */
std::string confinement_name(Confinement confinement);

/**
 * Over `spec`, a pod's: with Privileged container slurmd gets CAP_SYS_ADMIN, and no AppArmor profile unless the
 * template has one: the default one allows no mounts. The entrypoint gives CAP_SYS_ADMIN up
 * (images/slurmd/confinement.sh).
 */
Json confinement_overlay(const Json& spec, Confinement confinement);

/** Whether a container's securityContext has CAP_SYS_ADMIN. */
bool has_sys_admin(const Json& security);

}  // namespace slurmk8s
