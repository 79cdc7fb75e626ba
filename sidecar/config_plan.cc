// SPDX-License-Identifier: GPL-2.0-or-later
// plan_config(): settings of slurm.conf, line by line.
#include "sidecar/config_plan.hpp"

#include <array>
#include <set>
#include <string_view>

#include "base/strings.hpp"

namespace slurmk8s {
namespace {

constexpr const char* kSlurmConf = "slurm.conf";
/** Read once, by the engine and the sidecar. */
constexpr const char* kOwnConf = "slurm-k8s.conf";

/**
 * Listening ports, authentication, the place and name of the state, and what slurmctld's container prepares before it
 * starts slurmctld with slurmdbd.
 */
constexpr std::array<std::string_view, 11> kRestartSettings{"AccountingStorageHost",
                                                            "AccountingStoragePort",
                                                            "AccountingStorageType",
                                                            "AuthType",
                                                            "ClusterName",
                                                            "CredType",
                                                            "SlurmUser",
                                                            "SlurmctldHost",
                                                            "SlurmctldPort",
                                                            "SlurmdPort",
                                                            "StateSaveLocation"};

std::string_view file_of(const ConfigFiles& files, const char* name) {
  const auto found = files.find(name);
  return found == files.end() ? std::string_view() : std::string_view(found->second);
}

/** The values of `name`, one after another: there may be several SlurmctldHost. Of others Slurm takes the last. */
std::string values_of(std::string_view text, std::string_view name) {
  const bool is_list = name == "SlurmctldHost";
  std::string values;
  for (std::string_view line : split(text, '\n')) {
    line = line.substr(0, line.find('#'));
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos || to_lower(trim(line.substr(0, equals))) != to_lower(name)) continue;
    if (!is_list) values.clear();
    values.append(trim(line.substr(equals + 1))).append("\n");
  }
  return values;
}

}  // namespace

std::string differing_files(const ConfigFiles& live, const ConfigFiles& wanted) {
  std::set<std::string> names;
  for (const auto& [name, text] : live) {
    const auto other = wanted.find(name);
    if (other == wanted.end() || other->second != text) names.insert(name);
  }
  for (const auto& [name, text] : wanted) {
    if (!live.contains(name)) names.insert(name);
  }
  std::string list;
  for (const std::string& name : names) list.append(list.empty() ? "" : ", ").append(name);
  return list;
}

std::string needs_restart(const ConfigFiles& live, const ConfigFiles& wanted) {
  std::string settings;
  for (const std::string_view name : kRestartSettings) {
    if (values_of(file_of(live, kSlurmConf), name) == values_of(file_of(wanted, kSlurmConf), name)) continue;
    settings.append(settings.empty() ? "slurm.conf: " : ", ").append(name);
  }
  if (file_of(live, kOwnConf) != file_of(wanted, kOwnConf))
    settings.append(settings.empty() ? "" : "; ").append(kOwnConf);
  return settings;
}

ConfigPlan plan_config(const ConfigFiles& live, const ConfigFiles& wanted,
                       const std::optional<ConfigVerdict>& verdict) {
  const bool is_refused = verdict && verdict->reason == kConfigRefused && verdict->files == live;
  const std::string restart = needs_restart(live, wanted);
  if (is_refused && (live == wanted || !restart.empty())) {
    return {ConfigPlan::Kind::restore, verdict->reason, verdict->text};
  }
  if (live == wanted) return {ConfigPlan::Kind::none, kConfigApplied, "slurmctld runs with it"};
  if (verdict && verdict->files == wanted && !verdict->is_passing)
    return {ConfigPlan::Kind::none, verdict->reason, verdict->text};
  if (!restart.empty()) return {ConfigPlan::Kind::check, {}, restart};
  return {ConfigPlan::Kind::install, {}, {}};
}

}  // namespace slurmk8s
