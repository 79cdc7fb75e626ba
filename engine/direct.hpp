// SPDX-License-Identifier: GPL-2.0-or-later
// Direct: the engine's work done by a program itself, when slurmctld has no engine. Blocking.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "engine/engine.hpp"

namespace slurmk8s {

/**
 * Connects to the API server, calls `ask` (which resumes or suspends `nodes`), and works until all of them are settled.
 * `slurm` hears of nodes that can't come up. Error: the configuration, or timeout with the number of nodes left.
 */
Status run_direct(Options options, Slurm& slurm, const std::vector<std::string>& nodes,
                  const std::function<void(Engine&)>& ask, std::chrono::seconds timeout);

}  // namespace slurmk8s
