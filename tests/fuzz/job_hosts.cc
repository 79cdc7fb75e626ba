// SPDX-License-Identifier: GPL-2.0-or-later
// /etc/hosts, whatever it says: a job's lines come and go, all others stay.
#include "base/job_hosts.hpp"

#include <string>

#include "fuzz/target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace slurmk8s;
  const std::string_view text = as_text(data, size);
  constexpr std::uint32_t kJob = 7;
  const std::vector<Host> hosts = {{"compute-0", "10.0.0.1"}, {"compute-1", "fd00::1"}};
  const std::string with = with_job_hosts(text, kJob, hosts);
  require(with_job_hosts(with, kJob, hosts) == with, "the job's lines twice");
  const std::string without = without_job_hosts(with, kJob);
  require(without_job_hosts(without, kJob) == without, "a line of the job is left");
  require(without.find("# slurm-k8s job 7\n") == std::string::npos, "a mark of the job is left");
  if (text.find('#') != std::string_view::npos || text.empty()) return 0;
  require(without == (text.back() == '\n' ? std::string(text) : std::string(text) + "\n"), "another line is lost");
  return 0;
}
