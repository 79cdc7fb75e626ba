// SPDX-License-Identifier: GPL-2.0-or-later
// slurm-k8s-resume: ResumeProgram. The hostlist says which nodes; SLURM_RESUME_FILE says for which jobs.
#include <stdio.h>
#include <stdlib.h>

#include "base/file.hpp"
#include "base/text.hpp"
#include "core/control.hpp"
#include "core/engine.hpp"
#include "power_k8s/program.hpp"

using namespace slurmk8s;

namespace {

constexpr Program kProgram{"slurm-k8s-resume", "ResumeProgram", "Makes the pods of powered-down Slurm nodes."};
constexpr std::size_t kMaxResumeFile = 64u << 20;

/**
 * The jobs are for people who look at a pod: a resume file that can't be read is reported, and the nodes are resumed
 * all the same. slurmctld gives the file's name only when there is something in it.
 */
void read_jobs(ResumeRequest& request) {
  const char* path = getenv("SLURM_RESUME_FILE");
  if (!path || !*path) return;
  const auto text = read_file(path, kMaxResumeFile);
  auto jobs = text ? parse_resume_file(*text) : Result<decltype(request.jobs)>(text.error());
  if (jobs) {
    request.jobs = std::move(*jobs);
  } else {
    request.warning = format("resume file %s: %s", path, jobs.error().message().c_str());
    fprintf(stderr, "%s: %s; resuming without it\n", kProgram.name, request.warning.c_str());
  }
}

}  // namespace

int main(int argc, char** argv) {
  Invocation invocation;
  int exit_code = kExitDone;
  if (!parse_command_line(kProgram, argc, argv, invocation, exit_code)) return exit_code;
  ResumeRequest request;
  request.id = random_id();
  request.nodes = invocation.nodes;
  read_jobs(request);
  return hand_over(kProgram, invocation, encode_resume(request), [&](Engine& engine) { engine.resume(request); });
}
