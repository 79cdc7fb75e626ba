// SPDX-License-Identifier: GPL-2.0-or-later
// ResumeRequest: what one call of ResumeProgram asks for. Pure; values; any thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "json/json.hpp"

namespace slurmk8s {

struct ResumeRequest {
  /** Names the request for ever: pods carry it, so that a pod of an older request is told from one of this. */
  std::string id;
  std::vector<std::string> nodes;
  /** Nodes that jobs wait for, with those jobs' ids; nodes that an administrator powers up have none. */
  std::map<std::string, std::vector<std::uint32_t>> jobs;
  /** What was wrong with the resume file, to be logged where administrators look: in slurmctld's log. Mostly empty. */
  std::string warning;
};

/**
 * The jobs of a SLURM_RESUME_FILE, by node. Understands the layouts of Slurm 22.05 ("all_nodes", "nodes") and 23.02 to
 * 26.05 ("all_nodes_resume", "nodes_resume"); keys that it does not know are of a later version and don't matter.
 * Error (invalid): what is wrong with which key.
 */
Result<std::map<std::string, std::vector<std::uint32_t>>> parse_resume_file(std::string_view text);

}  // namespace slurmk8s
