// SPDX-License-Identifier: GPL-2.0-or-later
// Program: what slurm-k8s-resume, slurm-k8s-suspend and slurm-k8s-resume-fail have in common.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "settings/options.hpp"

namespace slurmk8s {

class Engine;

/** How a program ends. */
// NOLINTNEXTLINE(cppcoreguidelines-use-enum-class): main() returns them
enum ExitCode { kExitDone = 0, kExitError = 1, kExitUsage = 2 };

struct Program {
  const char* name;         ///< "slurm-k8s-resume"
  const char* setting;      ///< "ResumeProgram": the parameter in slurm.conf
  const char* purpose;      ///< one line for --help
  const char* unused = "";  ///< one more argument that slurmctld may pass, for --help; ignored
};

/** A parsed command line. */
struct Invocation {
  Options options;
  std::vector<std::string> nodes;
  bool direct = false;  ///< --direct: do not ask the engine
};

/**
 * Reads arguments and slurm-k8s.conf, answers --help and --version. Returns false, with the exit code, when
 * there is nothing more to do.
 */
bool parse_command_line(const Program& program, int argc, char** argv, Invocation& invocation, int& exit_code);

/**
 * Hands `message` to the engine; where there is none, runs `ask` on an engine of this process until `nodes` are
 * done. Returns the exit code; errors go to stderr, which slurmctld logs.
 */
int hand_over(const Program& program, const Invocation& invocation, const class Json& message,
              const std::function<void(Engine&)>& ask);

}  // namespace slurmk8s
