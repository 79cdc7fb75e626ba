// SPDX-License-Identifier: GPL-2.0-or-later
// Options of a partition are refused, or have one spelling: they are the same when they are read again.
#include <string>

#include "fuzz/target.hpp"
#include "slurm/partition_options.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace slurmk8s;
  const auto options = parse_partition_options(as_text(data, size));
  if (!options.ok()) {
    require(options.error().code() == Errc::invalid && !options.error().message().empty(), "an error of another kind");
    return 0;
  }
  std::string text;
  for (const auto& [key, value] : *options) {
    require(!key.empty(), "an option without a name");
    if (!value.empty()) text += key + "=" + value + " ";
  }
  const auto again = parse_partition_options(text);
  require(again.ok(), "its own spelling is refused");
  for (const auto& [key, value] : *options) {
    require(value.empty() || again->at(key) == value, "another spelling the second time");
  }
  return 0;
}
