// SPDX-License-Identifier: GPL-2.0-or-later
// What a user's login shell prints becomes variables, or nothing.
#include "fuzz/target.hpp"
#include "spank/login_env.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace slurmk8s;
  const auto changes = parse_login_output(as_text(data, size), "MARK");
  if (!changes.ok()) {
    require(changes.error().code() == Errc::invalid, "an error of another code");
    return 0;
  }
  for (const EnvChange& change : *changes) {
    require(!change.name.empty() && change.name.find('=') == std::string::npos, "a name that is none");
    require(change.value.has_value(), "a login that removes a variable");
  }
  without_names(*changes, {"HOME"});
  return 0;
}
