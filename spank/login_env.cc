// SPDX-License-Identifier: GPL-2.0-or-later
// Arguments of a login shell, and parsing of its output.
#include "spank/login_env.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "base/strings.hpp"

namespace slurmk8s {
namespace {

constexpr std::string_view kDefaultPath = "/usr/local/bin:/usr/bin:/bin:/usr/local/games:/usr/games";
/** Variables of the shell itself, or of a terminal and a host that are not the job's. */
constexpr std::array<std::string_view, 8> kNotOfJobs{"_",       "PWD",  "OLDPWD",      "SHLVL",
                                                     "DISPLAY", "TERM", "ENVIRONMENT", "HOSTNAME"};

}  // namespace

EnvChanges basic_environment(const Account& account) {
  return {{"HOME", account.home},
          {"LOGNAME", account.name},
          {"PATH", std::string(kDefaultPath)},
          {"SHELL", account.shell},
          {"USER", account.name}};
}

std::vector<std::string> login_arguments(const std::string& shell, const std::string& mark) {
  const std::string name = shell.substr(shell.rfind('/') + 1);
  std::vector<std::string> arguments{"-" + name};
  // The dash makes it a login shell. bash needs the option as well; csh accepts it only alone.
  if (!name.ends_with("csh")) arguments.emplace_back("-l");
  arguments.emplace_back("-c");
  arguments.emplace_back("echo " + mark + "; /usr/bin/env -0; echo " + mark);
  return arguments;
}

Result<EnvChanges> parse_login_output(std::string_view output, const std::string& mark) {
  const std::string line = mark + "\n";
  const std::size_t first = output.find(line);
  const std::size_t last = output.rfind(line);
  if (first == std::string_view::npos || last == first) {
    return Error(Errc::invalid, "the login shell did not print its environment");
  }
  EnvChanges login;
  for (const std::string_view variable : split(output.substr(first + line.size(), last - first - line.size()), '\0')) {
    const std::size_t equals = variable.find('=');
    if (equals == std::string_view::npos || equals == 0) continue;
    const std::string_view name = variable.substr(0, equals);
    if (std::find(kNotOfJobs.begin(), kNotOfJobs.end(), name) != kNotOfJobs.end()) continue;
    login.push_back({std::string(name), std::string(variable.substr(equals + 1))});
  }
  return login;
}

EnvChanges without_names(EnvChanges login, const std::vector<std::string_view>& names) {
  const std::set<std::string_view> known(names.begin(), names.end());
  std::erase_if(login, [&](const EnvChange& variable) { return known.contains(variable.name); });
  return login;
}

}  // namespace slurmk8s
