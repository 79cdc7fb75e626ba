// SPDX-License-Identifier: GPL-2.0-or-later
// slurm-k8s-suspend: SuspendProgram, and under the name slurm-k8s-resume-fail ResumeFailProgram: the same work.
#include <string_view>

#include "control/control.hpp"
#include "engine/engine.hpp"
#include "power_k8s/program.hpp"

using namespace slurmk8s;

namespace {

constexpr Program kSuspend{"slurm-k8s-suspend", "SuspendProgram", "Deletes the pods of suspended Slurm nodes."};
constexpr Program kResumeFail{"slurm-k8s-resume-fail", "ResumeFailProgram",
                              "Deletes the pods of Slurm nodes that did not come up."};

}  // namespace

int main(int argc, char** argv) {
  const Program& program = std::string_view(argv[0]).ends_with(kResumeFail.name) ? kResumeFail : kSuspend;
  Invocation invocation;
  int exit_code = kExitDone;
  if (!parse_command_line(program, argc, argv, invocation, exit_code)) return exit_code;
  return hand_over(program, invocation, encode_suspend(invocation.nodes),
                   [&](Engine& engine) { engine.suspend(invocation.nodes); });
}
