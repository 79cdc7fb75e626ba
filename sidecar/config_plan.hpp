// SPDX-License-Identifier: GPL-2.0-or-later
// plan_config(): whether a changed configuration is installed, only tried, or left. Pure; any thread.
#pragma once

#include <map>
#include <optional>
#include <string>

namespace slurmk8s {

/** The files of /etc/slurm: text by name. */
using ConfigFiles = std::map<std::string, std::string>;

/** What became of files that are not live: reason and message of the condition. */
struct ConfigVerdict {
  ConfigFiles files;
  std::string reason;
  std::string text;
  bool is_passing = false;  ///< the files are tried again: jobs needed what they remove
};

struct ConfigPlan {
  enum class Kind {
    none,     ///< neither: see `reason` and `text`
    check,    ///< to be tried, but not installed: `text` tells what needs a restart
    install,  ///< to be tried and installed, then slurmctld is reconfigured
    restore,  ///< slurmctld refused what is live: the last good files are to come back
  };
  Kind kind = Kind::none;
  std::string reason = {};
  std::string text = {};
};

inline constexpr const char* kConfigApplied = "Applied";
inline constexpr const char* kConfigRefused = "Refused";
inline constexpr const char* kConfigNeedsRestart = "RestartRequired";
/** What is installed is not what was to be installed. */
inline constexpr const char* kConfigDiffers = "FilesDiffer";

/**
 * What `scontrol reconfigure` does not change: "slurm.conf: SlurmctldPort; slurm-k8s.conf"; empty for nothing. The
 * chart recreates the controller's pod when one of these changes (slurm.restartSettings).
 */
std::string needs_restart(const ConfigFiles& live, const ConfigFiles& wanted);

/** "cgroup.conf, slurm.conf": names of files that are not the same in both, or not in both. */
std::string differing_files(const ConfigFiles& live, const ConfigFiles& wanted);

/** `verdict`: the last one, on whatever files. */
ConfigPlan plan_config(const ConfigFiles& live, const ConfigFiles& wanted, const std::optional<ConfigVerdict>& verdict);

}  // namespace slurmk8s
