// SPDX-License-Identifier: GPL-2.0-or-later
// Any kubeconfig is taken whole or refused with an error that names the file.
#include "fuzz/target.hpp"
#include "kube/config.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace slurmk8s;
  // Relative paths in it lead into a folder that isn't there: nothing of this machine is read.
  const std::string path = "/nonexistent/slurm-k8s/config";
  const auto config = kube::parse_kubeconfig(as_text(data, size), path);
  if (!config.ok()) {
    require(config.error().message().find(path) != std::string::npos, "an error that doesn't name the file");
    return 0;
  }
  require(!config->server.empty(), "no server");
  require(!config->name_space.empty(), "no namespace");
  return 0;
}
