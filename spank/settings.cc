// SPDX-License-Identifier: GPL-2.0-or-later
// Parses the plugin's arguments.
#include "spank/settings.hpp"

#include "base/strings.hpp"

namespace slurmk8s {
namespace {

constexpr int kMaxOomScoreAdj = 1000;
constexpr int kMaxLoginSeconds = 60;

Result<std::chrono::seconds> parse_login_env(std::string_view text) {
  if (text == "off") return std::chrono::seconds(0);
  const auto seconds = parse_int(text);
  if (seconds && *seconds >= 1 && *seconds <= kMaxLoginSeconds) return std::chrono::seconds(*seconds);
  return Error(Errc::invalid, format("must be off, or seconds from 1 to %d", kMaxLoginSeconds));
}

Result<int> parse_oom_score_adj(std::string_view text) {
  const auto number = parse_int(text);
  if (number && *number >= 0 && *number <= kMaxOomScoreAdj) return static_cast<int>(*number);
  return Error(Errc::invalid, format("must be a number from 0 to %d", kMaxOomScoreAdj));
}

Result<bool> parse_switch(std::string_view text) {
  if (text == "on" || text == "off") return text == "on";
  return Error(Errc::invalid, "must be on or off");
}

Status apply(Settings& settings, std::string_view name, std::string_view value) {
  if (name == "env") {
    settings.pod_env.clear();
    if (value != "off") settings.pod_env = SLURMK8S_TRY(parse_path(value));
  } else if (name == "login_env") {
    settings.login_env = SLURMK8S_TRY(parse_login_env(value));
  } else if (name == "hosts") {
    settings.host_names = SLURMK8S_TRY(parse_switch(value));
  } else if (name == "service_env") {
    settings.keep_service_env = SLURMK8S_TRY(parse_service_env(value));
  } else if (name == "threads") {
    settings.threads = SLURMK8S_TRY(parse_threads(value));
  } else if (name == "gpus") {
    if (value != "ids" && value != "off") return Error(Errc::invalid, "must be ids or off");
    settings.pod_gpus = value == "ids";
  } else if (name == "oom_score_adj") {
    settings.oom_score_adj = SLURMK8S_TRY(parse_oom_score_adj(value));
  } else if (name == "memory_limit") {
    settings.memory_limit = SLURMK8S_TRY(parse_switch(value));
  } else if (name == "cpu_bind") {
    settings.cpu_bind = SLURMK8S_TRY(parse_switch(value));
  } else if (name == "hide") {
    settings.hidden.clear();
    for (const std::string_view path : split(value, ',')) settings.hidden.push_back(SLURMK8S_TRY(parse_path(path)));
  } else {
    return Error(Errc::not_found, "unknown argument");
  }
  return {};
}

}  // namespace

Result<Settings> parse_settings(const std::vector<std::string_view>& arguments) {
  Settings settings;
  SLURMK8S_CHECK(read_arguments(
      arguments, [&](std::string_view name, std::string_view value) { return apply(settings, name, value); }));
  return settings;
}

}  // namespace slurmk8s
