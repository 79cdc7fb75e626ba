// SPDX-License-Identifier: GPL-2.0-or-later
// Parses the arguments of the scripts' line.
#include "spank/scripts/script_settings.hpp"

#include <utility>

#include "base/strings.hpp"
#include "spank/choices.hpp"

namespace slurmk8s {
namespace {

constexpr int kMaxTimeout = 3600;

Status apply(ScriptSettings& settings, std::string_view name, std::string_view value) {
  if (name == "timeout") {
    const auto seconds = parse_int(value);
    if (!seconds || *seconds < 1 || *seconds > kMaxTimeout) {
      return Error(Errc::invalid, format("must be seconds from 1 to %d", kMaxTimeout));
    }
    settings.timeout = std::chrono::seconds(*seconds);
    return {};
  }
  const std::pair<std::string_view, std::string*> scripts[] = {{"pod_setup", &settings.pod_setup},
                                                               {"pod_cleanup", &settings.pod_cleanup},
                                                               {"job_setup", &settings.job_setup},
                                                               {"job_cleanup", &settings.job_cleanup}};
  for (const auto& [known, script] : scripts) {
    if (known != name) continue;
    *script = SLURMK8S_TRY(parse_path(value));
    return {};
  }
  return Error(Errc::not_found, "unknown argument");
}

}  // namespace

Result<ScriptSettings> parse_script_settings(const std::vector<std::string_view>& arguments) {
  ScriptSettings settings;
  SLURMK8S_CHECK(read_arguments(
      arguments, [&](std::string_view name, std::string_view value) { return apply(settings, name, value); }));
  return settings;
}

}  // namespace slurmk8s
