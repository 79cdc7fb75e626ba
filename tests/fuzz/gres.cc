// SPDX-License-Identifier: GPL-2.0-or-later
// A Gres that slurmctld is shown has names.
#include "fuzz/target.hpp"
#include "nodeset/gres.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace slurmk8s;
  const std::string_view value = as_text(data, size);
  const Status checked = check_gres(value);
  if (!checked.ok()) {
    require(checked.error().code() == Errc::invalid && !checked.error().message().empty(), "an error of another kind");
    return 0;
  }
  for (const std::string& name : gres_names(value)) {
    require(!name.empty() && value.find(name) != std::string_view::npos, "a name that is not in the value");
  }
  return 0;
}
