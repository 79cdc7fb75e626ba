// SPDX-License-Identifier: GPL-2.0-or-later
// slurm-k8s.conf is taken, or refused with its name.
#include "fuzz/target.hpp"
#include "settings/options.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace slurmk8s;
  const auto options = parse_options(as_text(data, size), "slurm-k8s.conf");
  if (!options.ok()) {
    require(options.error().message().starts_with("slurm-k8s.conf"), "an error that does not name the file");
    return 0;
  }
  require(options->max_requests > 0 && options->launch_timeout.count() >= 0, "a number out of range");
  require(!options->engine_socket.empty(), "no socket");
  return 0;
}
