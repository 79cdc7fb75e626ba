// SPDX-License-Identifier: GPL-2.0-or-later
// Slurm's own state as metrics: names, paths and labels of metrics/openmetrics of Slurm 25.11, for every Slurm.
//
// Where Slurm's plugin has MiB under a name or help that says bytes, these are bytes.
#pragma once

#include <cstddef>
#include <ctime>
#include <map>
#include <string>
#include <vector>

#include "slurm/slurm_state.hpp"

namespace slurmk8s {

/** The texts of all pages, by their paths: "/metrics/jobs" and so on. */
using StatePages = std::map<std::string, std::string>;

/** The paths of all pages. */
std::vector<std::string> state_pages();

/**
 * All pages, in Prometheus' text format. Users, and accounts, beyond the `max_users` with most jobs are together in
 * "other". Nodes that are powered down or FUTURE have no metrics of their own. `now`: for how long jobs have waited.
 * Pure; any thread.
 */
StatePages encode_state_metrics(const SlurmState& state, std::time_t now, std::size_t max_users);

}  // namespace slurmk8s
