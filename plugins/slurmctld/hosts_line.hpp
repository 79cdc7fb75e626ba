// SPDX-License-Identifier: GPL-2.0-or-later
// Where slurmctld looks names up. Pure; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace slurmk8s {

/**
 * The sources of hosts that slurmctld gets, given the content of /etc/nsswitch.conf: those of its line "hosts:", with
 * slurm_k8s after files, or first where files is not first.
 */
std::string compose_hosts(std::string_view nsswitch);

/**
 * The sources of users (`database` "passwd") or groups ("group"): those of the file, or files without such a line, and
 * then slurm_k8s.
 */
std::string compose_users(std::string_view nsswitch, std::string_view database);

/** The names of a hostlist without addresses; none if it is null or invalid. */
std::vector<std::string> names_of(const char* hostlist);

}  // namespace slurmk8s
