// SPDX-License-Identifier: GPL-2.0-or-later
// Arguments in plugstack.conf are taken, or refused with a word about which. One a line.
#include "base/strings.hpp"
#include "fuzz/target.hpp"
#include "spank/scripts/script_settings.hpp"
#include "spank/settings.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace slurmk8s;
  const std::vector<std::string_view> arguments = split(as_text(data, size), '\n');
  const auto settings = parse_settings(arguments);
  if (settings.ok()) {
    require(settings->login_env.count() >= 0 && settings->login_env.count() <= 60, "a time limit out of range");
    require(!settings->oom_score_adj || (*settings->oom_score_adj >= 0 && *settings->oom_score_adj <= 1000),
            "an oom_score_adj out of range");
    for (const std::string& path : settings->hidden) require(path.starts_with('/'), "a path that is relative");
  } else {
    require(!settings.error().message().empty(), "an error without words");
  }
  const auto scripts = parse_script_settings(arguments);
  if (scripts.ok()) {
    require(scripts->timeout.count() > 0, "no time for scripts");
  } else {
    require(!scripts.error().message().empty(), "an error without words");
  }
  return 0;
}
