// SPDX-License-Identifier: GPL-2.0-or-later
// ConfigReport: what became of a configuration, as the condition slurm-k8s.io/ConfigApplied of each controller's pod
// and as an event on the chart's ConfigMap.
//
// The pods are watched, so one that is made again gets the condition, too. They remember what was told: a sidecar that
// starts while slurmctld reconfigures itself records the event if no pod has that condition yet, and not once more.
// Same thread rules as kube::Client.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kube/event_recorder.hpp"
#include "kube/object_writer.hpp"
#include "kube/reflector.hpp"

namespace slurmk8s {

/** Of a controller's pod: whether slurmctld runs with the configuration that Kubernetes has. */
inline constexpr const char* kConditionConfigApplied = "slurm-k8s.io/ConfigApplied";

/** What a ConfigReport works with; all must outlive it. */
struct ConfigReportParts {
  kube::Reader& kube_reader;
  kube::Writer& kube_writer;
  Timers& timers;
  const Clock& clock;
  kube::Throttle& throttle;
};

/** What there is to tell. */
struct ConfigNews {
  std::string reason;  ///< of the condition: kConfigApplied makes its status True
  std::string text;
  bool is_change = false;  ///< slurmctld has taken other files since this process began
};

/** What a ConfigReport has told, for metrics. */
struct ConfigCounts {
  std::map<std::string, std::uint64_t> told = {};      ///< how often, by reason
  bool is_applied = false;                             ///< what was told last
  std::chrono::system_clock::time_point applied_at{};  ///< when that was told last; zero: never
};

class ConfigReport {
 public:
  /** `pods`: names of the controllers' pods; without any there are events alone. */
  ConfigReport(const ConfigReportParts& parts, const std::string& name_space, const std::vector<std::string>& pods);
  ~ConfigReport();
  ConfigReport(const ConfigReport&) = delete;
  ConfigReport& operator=(const ConfigReport&) = delete;

  /** `ready` is called once what the pods have is known; tell() only then. */
  void start(std::function<void()> ready);
  void stop();
  bool is_ready() const;

  /** The event is about the ConfigMap `name` with this uid. What was told last is told once. */
  void tell(const ConfigNews& news, const std::string& name, const std::string& uid);
  const ConfigCounts& counts() const { return counts_; }

 private:
  struct Pod {
    std::string name;
    bool exists = false;
    Json condition = {};  ///< null: it has none
    std::unique_ptr<kube::Reflector> reflector = {};
  };

  kube::ReflectorListener listen(Pod& pod);
  bool is_news() const;
  bool has_it(const Pod& pod) const;
  void write();
  void write_to(Pod& pod);
  void write_later();

  ConfigReportParts parts_;
  std::vector<Pod> pods_;
  kube::EventRecorder events_;
  kube::ObjectWriter writer_;
  std::function<void()> ready_;
  Timers::Id timer_ = 0;
  ConfigNews news_;  // told last; without a reason: nothing was told
  ConfigCounts counts_;
};

}  // namespace slurmk8s
