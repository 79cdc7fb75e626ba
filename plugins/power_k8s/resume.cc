// SPDX-License-Identifier: GPL-2.0-or-later
// slurm-k8s-resume: ResumeProgram. The hostlist has the nodes, SLURM_RESUME_FILE their jobs. For a job with --reboot,
// or with other features, Slurm 22.05 calls it with the features as a second argument and the job in SLURM_JOB_ID
// (power_job_reboot() in its power_save.c). The features are ignored: 22.05 has no variants.
#include <stdio.h>
#include <stdlib.h>

#include "base/file.hpp"
#include "base/random.hpp"
#include "base/strings.hpp"
#include "control/control.hpp"
#include "engine/engine.hpp"
#include "power_k8s/program.hpp"

using namespace slurmk8s;

namespace {

constexpr Program kProgram{"slurm-k8s-resume", "ResumeProgram", "Creates the pods of powered-down Slurm nodes.",
                           " [FEATURES]"};
constexpr std::size_t kMaxResumeFile = 64u << 20;

/** The job for which Slurm 22.05 reboots nodes. */
void read_job(ResumeRequest& request) {
  const char* job = getenv("SLURM_JOB_ID");
  const auto id = parse_int(job ? job : "");
  if (!id || *id <= 0 || *id > UINT32_MAX) return;
  for (const std::string& node : request.nodes) request.jobs[node] = {static_cast<std::uint32_t>(*id)};
}

/**
 * The jobs are only shown on the pod: without a readable resume file the nodes are resumed all the same, with a
 * warning. slurmctld sets the file's name only when the file has content.
 */
void read_jobs(ResumeRequest& request) {
  const char* path = getenv("SLURM_RESUME_FILE");
  if (!path || !*path) return read_job(request);
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
