// SPDX-License-Identifier: GPL-2.0-or-later
// A hostlist that is expanded, compressed and expanded again names the same hosts.
#include "slurm/hostlist.hpp"

#include <set>

#include "fuzz/target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace slurmk8s;
  const auto names = expand_hostlist(as_text(data, size));
  if (!names.ok()) {
    require(names.error().code() == Errc::invalid, "an error of another code");
    return 0;
  }
  require(names->size() <= kMaxHosts, "more names than allowed");
  const auto again = expand_hostlist(compress_hostlist(*names));
  require(again.ok(), "a compressed list is refused");
  const std::set<std::string> before(names->begin(), names->end());
  const std::set<std::string> after(again->begin(), again->end());
  require(before == after, "other names than before");
  require(again->size() == after.size(), "a compressed list has duplicates");
  return 0;
}
