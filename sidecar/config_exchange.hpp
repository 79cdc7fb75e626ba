// SPDX-License-Identifier: GPL-2.0-or-later
// ConfigInstaller: what tries files of /etc/slurm with a slurmctld, and installs them. ConfigExchange asks the
// container beside slurmctld that does so (images/slurmctld/config/main.py).
#pragma once

#include <ctime>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "sidecar/config_plan.hpp"

namespace slurmk8s {

/** The pod of another controller that shares the state. */
struct OtherController {
  std::string pod;
  std::string uid;
  bool operator==(const OtherController&) const = default;
};

class ConfigInstaller {
 public:
  enum class Verb {
    check,    ///< try the files
    install,  ///< try them, and make them those of /etc/slurm
    restore,  ///< the last good files are those of /etc/slurm again
    keep,     ///< those of /etc/slurm are good
    compare,  ///< are they the last good ones? If not, the answer is kNotKept; a former container knows no such verb
  };
  static constexpr const char* kNotKept = "not kept";
  virtual ~ConfigInstaller() = default;
  /** The files of /etc/slurm. */
  virtual Result<ConfigFiles> live() = 0;
  /** When they got there, in seconds since 1970; error: there are none. */
  virtual Result<std::time_t> installed() = 0;
  /** Sends one request; the next one only after its answer. Error (unavailable): the container does not run yet. */
  virtual Status ask(Verb verb, const ConfigFiles& files) = 0;
  /** The answer to the last ask(): empty while there is none, an empty text when all is well, else why not. */
  virtual std::optional<std::string> answer() = 0;
  /**
   * With the last answer, to keep or to compare: those that started, with other files, before the last good ones were
   * kept.
   */
  virtual std::vector<OtherController> behind() = 0;
};

/** One thread. Nothing blocks but reads and writes of small files. */
class ConfigExchange final : public ConfigInstaller {
 public:
  /** `folder` is shared with the container, `live` is /etc/slurm. */
  ConfigExchange(std::string folder, std::string live) : folder_(std::move(folder)), live_(std::move(live)) {}

  Result<ConfigFiles> live() override;
  Result<std::time_t> installed() override;
  Status ask(Verb verb, const ConfigFiles& files) override;
  std::optional<std::string> answer() override;
  std::vector<OtherController> behind() override { return behind_; }

 private:
  const std::string folder_;
  const std::string live_;
  std::string id_;
  std::vector<OtherController> behind_;
};

}  // namespace slurmk8s
