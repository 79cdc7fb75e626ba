// SPDX-License-Identifier: GPL-2.0-or-later
// TmpDisk of a node: the local storage that Kubernetes reserves for its pod. Pure; any thread.
#pragma once

#include <cstdint>

#include "base/result.hpp"
#include "json/json.hpp"

namespace slurmk8s {

/**
 * TmpDisk of a node in MiB, from its slurmd container: the request of ephemeral-storage, or the limit without one. 0:
 * none, less than 1 MiB, or /tmp is a volume, whose size we don't know. Error (invalid): a quantity that is none.
 *
 * Not the limit where the request is smaller: kube-scheduler looks for a machine that has the request, and slurmctld
 * drains a node whose file system of /tmp is smaller than TmpDisk. It can be smaller where containerd has a disk of its
 * own: images/slurmd/entrypoint.sh looks.
 */
Result<std::uint32_t> tmp_disk_mib(const Json& slurmd_container);

}  // namespace slurmk8s
