// SPDX-License-Identifier: GPL-2.0-or-later
// ConfigReport: the condition is patched where a pod has another one.
#include "sidecar/config_report.hpp"

#include <algorithm>
#include <utility>

#include "base/log.hpp"
#include "daemon/condition.hpp"
#include "sidecar/config_plan.hpp"
#include "slurm/hostlist.hpp"

namespace slurmk8s {
namespace {

using Kind = kube::EventRecorder::Kind;

constexpr std::chrono::seconds kRetry{1};

const char* status_of(const std::string& reason) { return reason == kConfigApplied ? "True" : "False"; }

Kind kind_of(const std::string& reason) {
  if (reason == kConfigApplied) return {"Normal", "ConfigApplied", "Reconfigure"};
  if (reason == kConfigRefused) return {"Warning", "ConfigRefused", "KeepPreviousConfig"};
  if (reason == kConfigNeedsRestart) return {"Warning", "ConfigNeedsRestart", "KeepPreviousConfig"};
  return {"Warning", "ConfigNotApplied", "KeepPreviousConfig"};
}

}  // namespace

ConfigReport::ConfigReport(const ConfigReportParts& parts, const std::string& name_space,
                           const std::vector<std::string>& pods)
    : parts_(parts),
      events_(parts.kube_writer, parts.timers, parts.clock, parts.throttle, name_space, "slurm-k8s.io/sidecar",
              compress_hostlist),
      writer_(
          parts.kube_writer, parts.clock, parts.throttle,
          {.resource = kube::kPods, .name_space = name_space, .what = "pod", .action = "tell of the configuration"}) {
  for (const std::string& name : pods) pods_.push_back({.name = name});
  for (Pod& pod : pods_) {  // their places are final
    kube::ReflectorOptions options{
        .resource = kube::kPods, .name_space = name_space, .field_selector = "metadata.name=" + pod.name};
    pod.reflector = std::make_unique<kube::Reflector>(parts.kube_reader, parts.timers, parts.clock, std::move(options),
                                                      listen(pod));
  }
}

ConfigReport::~ConfigReport() { parts_.timers.cancel(timer_); }

kube::ReflectorListener ConfigReport::listen(Pod& pod) {
  kube::ReflectorListener listener;
  listener.upsert = [this, &pod](const Json& object) {
    pod.exists = true;
    pod.condition = find_condition(object["status"], kConditionConfigApplied);
    write_to(pod);
  };
  listener.remove = [&pod](const kube::ObjectKey&, const std::string&, const Json&) { pod.exists = false; };
  listener.synced = [this] {
    if (is_ready()) ready_();
  };
  return listener;
}

void ConfigReport::start(std::function<void()> ready) {
  ready_ = std::move(ready);
  for (const Pod& pod : pods_) pod.reflector->start();
}

void ConfigReport::stop() {
  for (const Pod& pod : pods_) pod.reflector->stop();
  parts_.timers.cancel(timer_);
}

bool ConfigReport::is_ready() const {
  return std::all_of(pods_.begin(), pods_.end(), [](const Pod& pod) { return pod.reflector->synced(); });
}

bool ConfigReport::has_it(const Pod& pod) const {
  return pod.condition["reason"].text() == news_.reason && pod.condition["message"].text() == news_.text;
}

/** The first that this process tells may have been told by a former one. A new cluster's first set is no news. */
bool ConfigReport::is_news() const {
  if (news_.is_change) return true;
  const bool was_told =
      std::any_of(pods_.begin(), pods_.end(), [](const Pod& pod) { return !pod.condition.is_null(); });
  if (!was_told) return news_.reason != kConfigApplied;
  return std::none_of(pods_.begin(), pods_.end(), [this](const Pod& pod) { return has_it(pod); });
}

void ConfigReport::tell(const ConfigNews& news, const std::string& name, const std::string& uid) {
  if (news.reason == news_.reason && news.text == news_.text) return;
  const bool is_first = news_.reason.empty();
  news_ = news;
  counts_.told[news.reason]++;
  counts_.is_applied = news.reason == kConfigApplied;
  if (counts_.is_applied) counts_.applied_at = parts_.clock.wall();
  log_info("configuration: %s: %s", news.reason.c_str(), news.text.c_str());
  if (!is_first || is_news()) events_.record({"v1", "ConfigMap", name, uid}, kind_of(news.reason), {}, news.text);
  write();
}

void ConfigReport::write() {
  for (Pod& pod : pods_) write_to(pod);
}

void ConfigReport::write_later() {
  if (timer_ != 0) return;
  timer_ = parts_.timers.after(kRetry, [this] {
    timer_ = 0;
    write();
  });
}

void ConfigReport::write_to(Pod& pod) {
  if (news_.reason.empty() || !pod.exists || has_it(pod)) return;
  if (!writer_.may_write(pod.name)) return write_later();
  const char* status = status_of(news_.reason);
  Json condition = Json::object();
  condition.set("type", kConditionConfigApplied)
      .set("status", status)
      .set("reason", news_.reason)
      .set("message", news_.text)
      .set("lastTransitionTime", transition_time(pod.condition, status, parts_.clock.wall()));
  Json patch = Json::object();
  patch.set("status", Json::object().set("conditions", Json::array().push(condition)));
  // The other conditions are kubelet's: a strategic merge keeps them.
  writer_.patch(
      pod.name, kube::PatchType::strategic_merge, patch,
      [this, &pod, condition](const Result<Json>& answer) {
        if (!answer.ok()) return write_later();
        pod.condition = condition;
        write_to(pod);  // other news have come meanwhile
      },
      "status");
}

}  // namespace slurmk8s
