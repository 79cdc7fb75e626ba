// SPDX-License-Identifier: GPL-2.0-or-later
// pod.env sets variables of slurm-k8s and no others.
#include "fuzz/target.hpp"
#include "spank/pod_env.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace slurmk8s;
  const auto changes = parse_pod_env(as_text(data, size));
  if (!changes.ok()) {
    require(changes.error().code() == Errc::invalid, "an error of another code");
    return 0;
  }
  for (const EnvChange& change : *changes) {
    require(change.name.starts_with("SLURM_K8S_"), "a variable of somebody else");
    require(change.name.find('=') == std::string::npos, "a name with '='");
    require(change.value && change.value->find('\n') == std::string::npos, "a value of two lines");
  }
  return 0;
}
