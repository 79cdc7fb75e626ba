// SPDX-License-Identifier: GPL-2.0-or-later
// ConfigPusher: brings changed ConfigMaps and Secrets to slurmctld without a restart.
//
// It watches them, has the files tried and installed (config_exchange.hpp), lets slurmctld reconfigure itself, and
// tells the answer (config_report.hpp). When slurmctld does not take what its trial took, the former files come back. A
// sidecar may end between these steps: the next one first asks whether the files of /etc/slurm are the last good ones,
// which slurmctld has taken. If not it goes on from there.
//
// Files that lack a partition or a node of jobs are refused until these have ended: slurmctld would end them
// (config_removals.hpp). That is looked at before the trial, and once more before slurmctld reconfigures itself.
//
// A second controller reads its files when it starts: when others have been kept since, its pod is deleted, and the
// StatefulSet makes another.
// Same thread rules as kube::Client; it blocks while slurmctld reconfigures itself.
#pragma once

#include <chrono>
#include <ctime>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kube/object_writer.hpp"
#include "kube/reflector.hpp"
#include "sidecar/config_exchange.hpp"
#include "sidecar/config_removals.hpp"
#include "sidecar/config_report.hpp"
#include "slurm/slurm.hpp"

namespace slurmk8s {

inline constexpr kube::Resource kConfigMaps{"v1", "configmaps"};
using kube::kSecrets;
/** On the chart's ConfigMap: hash of its files. */
inline constexpr const char* kAnnotationConfigHash = "slurm-k8s.io/config-hash";

/** A ConfigMap or a Secret: each of its keys is a file. */
struct ConfigSource {
  bool is_secret = false;
  std::string name;
};

/** "configmap/NAME", "secret/NAME". */
Result<ConfigSource> parse_config_source(std::string_view text);

/** The files of such an object. */
ConfigFiles decode_config_files(const Json& object, bool is_secret);

struct ConfigPusherOptions {
  std::string name_space;
  std::vector<ConfigSource> sources;  ///< of two files of a name the later one counts; the first is the chart's
  std::vector<std::string> pods;      ///< the controllers' pods, which have the condition
};

/** What a ConfigPusher works with; all must outlive it. */
struct ConfigPusherParts {
  kube::Reader& kube_reader;
  kube::Writer& kube_writer;
  Timers& timers;
  const Clock& clock;
  kube::Throttle& throttle;
  SlurmReader& slurm_reader;
  SlurmWriter& slurm_writer;
  ConfigInstaller& installer;
  std::function<void()> applied = {};  ///< slurmctld has started with other files
  /** Whether the slurmctld that answers is that of the own pod; empty: there is no other. */
  std::function<bool()> is_own_slurmctld = {};
};

class ConfigPusher {
 public:
  ConfigPusher(const ConfigPusherParts& parts, ConfigPusherOptions options);
  ~ConfigPusher();
  ConfigPusher(const ConfigPusher&) = delete;
  ConfigPusher& operator=(const ConfigPusher&) = delete;

  void start();
  void stop();
  const ConfigCounts& counts() const { return report_.counts(); }

 private:
  enum class Stage {
    started,    ///< nothing is known of the files of /etc/slurm
    comparing,  ///< whether they are good is asked, behind what a former sidecar has asked
    idle,
    asked,      ///< the files are being tried
    installed,  ///< slurmctld is to take them
    settled,    ///< it is decided: keep them, or restore the former ones (`verb_`)
    settling,   ///< container config does so
  };
  struct Source {
    ConfigSource source;
    std::optional<ConfigFiles> files;  ///< empty: there is no such object
    std::unique_ptr<kube::Reflector> reflector;
  };

  kube::ReflectorListener listen(std::size_t index);
  void look_after(std::chrono::milliseconds delay);
  void look_again();
  void look();
  void compare();
  void judge_comparison();
  void begin();
  void confirm();
  Result<std::string> lost_jobs();
  bool waits_for_jobs(const ConfigFiles& live);
  bool has_jobs_again();
  void try_files(ConfigInstaller::Verb verb);
  void judge_trial();
  std::optional<std::string> await_answer();
  void await_slurmctld(bool starts);
  bool has_answered();
  bool has_started_since();
  void retry(const Error& error);
  void reconfigure();
  void take();
  void settle(ConfigInstaller::Verb verb);
  void judge_settling();
  void refuse(const char* reason, const std::string& text);
  bool all_listed() const;
  std::string missing() const;
  ConfigFiles wanted() const;
  void delete_behind();
  void tell(const std::string& reason, const std::string& text);

  ConfigPusherParts parts_;
  const ConfigPusherOptions options_;
  std::vector<Source> sources_;
  ConfigReport report_;
  kube::ObjectWriter deleter_;
  Timers::Id timer_ = 0;
  Stage stage_ = Stage::started;
  ConfigInstaller::Verb verb_ = ConfigInstaller::Verb::check;
  ConfigFiles files_;         // under way
  ConfigRemovals removals_;   // what they lack of the live ones
  std::string needs_;         // what of them needs a restart
  TimePoint deadline_{};      // of the stage
  std::time_t booted_ = 0;    // slurmctld, before the files were installed
  std::string last_failure_;  // of the stage
  std::optional<ConfigVerdict> verdict_;
  std::optional<ConfigVerdict> job_verdict_;  // on what waits for jobs: told once, whatever their number becomes
  std::optional<TimePoint> away_since_;       // slurmctld, when files were to be tried
  bool is_unconfirmed_ = false;               // what was installed then
  bool is_unkept_ = false;                    // what slurmctld runs with is not the last good set yet
  bool has_applied_ = false;                  // slurmctld has taken a set from this process
  bool has_answered_ = false;                 // slurmctld, to this process
  bool starts_ = false;                  // it is awaited since the pod began, with files that may keep it from starting
  std::string uid_;                      // of the first source
  std::string hash_;                     // its annotation: which configuration the condition is about
  std::vector<OtherController> behind_;  // to be deleted
};

}  // namespace slurmk8s
