// SPDX-License-Identifier: GPL-2.0-or-later
// The lines "hosts:", "passwd:" and "group:" of slurmctld, and the names that slurm_k8s does not serve.
#include "slurmctld/hosts_line.hpp"

#include <arpa/inet.h>
#include <sys/socket.h>

#include <algorithm>
#include <iterator>

#include "slurm/hostlist.hpp"
#include "base/strings.hpp"

namespace slurmk8s {
namespace {

constexpr std::string_view kOurs = "slurm_k8s [!UNAVAIL=return]";
constexpr std::string_view kUsers = "slurm_k8s";
constexpr std::string_view kFiles = "files";

bool is_address(const std::string& text) {
  char bytes[16];
  return inet_pton(AF_INET, text.c_str(), bytes) == 1 || inet_pton(AF_INET6, text.c_str(), bytes) == 1;
}

/** Removes the source "files", with its action, from the front. False: another source is first. */
bool take_files(std::string_view& sources) {
  if (!sources.starts_with(kFiles)) return false;
  std::string_view rest = sources.substr(kFiles.size());
  if (!rest.empty() && rest[0] != ' ' && rest[0] != '\t' && rest[0] != '[') return false;
  rest = trim(rest);
  if (rest.starts_with('[')) rest = trim(rest.substr(std::min(rest.find(']'), rest.size() - 1) + 1));
  sources = rest;
  return true;
}

/** Of the last line of the database; `others` without one. */
std::string_view sources_of(std::string_view nsswitch, std::string_view database, std::string_view others) {
  std::string_view sources = others;
  for (std::string_view line : split(nsswitch, '\n')) {
    line = trim(line.substr(0, line.find('#')));
    if (line.starts_with(database) && line.substr(database.size()).starts_with(':')) {
      sources = trim(line.substr(database.size() + 1));
    }
  }
  return sources;
}

}  // namespace

std::string compose_users(std::string_view nsswitch, std::string_view database) {
  const std::string_view sources = sources_of(nsswitch, database, "files");
  return sources.empty() ? std::string(kUsers) : std::string(sources).append(" ").append(kUsers);
}

std::string compose_hosts(std::string_view nsswitch) {
  std::string_view sources = sources_of(nsswitch, "hosts", "files dns");
  std::string hosts = take_files(sources) ? "files " : "";
  hosts += kOurs;
  if (!sources.empty()) hosts.append(" ").append(sources);
  return hosts;
}

std::vector<std::string> names_of(const char* hostlist) {
  if (!hostlist) return {};
  const auto names = expand_hostlist(hostlist);
  if (!names.ok()) return {};
  std::vector<std::string> found;
  std::copy_if(names->begin(), names->end(), std::back_inserter(found),
               [](const auto& name) { return !is_address(name); });
  return found;
}

}  // namespace slurmk8s
