// SPDX-License-Identifier: GPL-2.0-or-later
// Any SLURM_RESUME_FILE is taken or refused with an error that says something; what is taken names nodes.
#include "control/resume_request.hpp"
#include "fuzz/target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace slurmk8s;
  const auto jobs = parse_resume_file(as_text(data, size));
  if (!jobs) {
    require(!jobs.error().message().empty(), "an error without words");
    return 0;
  }
  for (const auto& [node, ids] : *jobs) {
    require(!node.empty(), "a node without a name");
    require(!ids.empty(), "a node that no job waits for");
  }
  return 0;
}
