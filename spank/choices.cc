// SPDX-License-Identifier: GPL-2.0-or-later
// Parses values of arguments.
#include "spank/choices.hpp"

#include <algorithm>

#include "base/strings.hpp"

namespace slurmk8s {

Result<bool> parse_service_env(std::string_view text) {
  if (text == "keep") return true;
  if (text == "remove") return false;
  return Error(Errc::invalid, "must be keep or remove");
}

Result<Threads> parse_threads(std::string_view text) {
  if (text == "off") return Threads{};
  if (text == "auto") return Threads{Threads::Mode::automatic, 0};
  const auto count = parse_int(text);
  if (!count || *count < 1 || *count > kMaxThreads) {
    return Error(Errc::invalid, format("must be auto, off, or a number from 1 to %u", kMaxThreads));
  }
  return Threads{Threads::Mode::fixed, static_cast<unsigned>(*count)};
}

Result<std::string> parse_path(std::string_view text) {
  const auto parts = split(text, '/');
  const bool climbs = std::find(parts.begin(), parts.end(), "..") != parts.end();
  if (!text.starts_with('/') || text.size() < 2 || climbs) return Error(Errc::invalid, "must be an absolute path");
  return std::string(text);
}

Status read_arguments(const std::vector<std::string_view>& arguments,
                      const std::function<Status(std::string_view name, std::string_view value)>& take) {
  for (const std::string_view argument : arguments) {
    const std::size_t equals = std::min(argument.find('='), argument.size());
    const std::string_view value = argument.substr(std::min(equals + 1, argument.size()));
    const std::string_view name = argument.substr(0, equals);
    const Status status = take(name, value);
    if (status) continue;
    if (status.error().code() == Errc::not_found) return Error(Errc::invalid, std::string(name) + ": unknown argument");
    return invalid_value(name, value, status.error().message());
  }
  return {};
}

}  // namespace slurmk8s
