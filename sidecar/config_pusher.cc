// SPDX-License-Identifier: GPL-2.0-or-later
// ConfigPusher: one step after another, by a timer.
#include "sidecar/config_pusher.hpp"

#include <algorithm>
#include <utility>

#include "base/base64.hpp"
#include "base/log.hpp"
#include "base/strings.hpp"

namespace slurmk8s {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Verb = ConfigInstaller::Verb;

constexpr milliseconds kPoll{100};
constexpr milliseconds kRetry{1000};
/** Each time slurmctld sends all jobs. */
constexpr milliseconds kRetryForJobs{10000};
/** A trial ends after 30 s by itself; the container may be restarting. */
constexpr seconds kTrialFor{60};
/** A slurmctld that is away for so long does not start with the files that it has. */
constexpr seconds kAwayFor{30};
/** slurmctld answers when the new one runs; one that was away starts with the installed files. */
constexpr seconds kReconfigureFor{60};
/** That starts with the pod, and may have a large state to read. */
constexpr seconds kStartFor{180};

constexpr const char* kSourceMissing = "SourceMissing";
constexpr const char* kTrialUnavailable = "TrialUnavailable";
constexpr const char* kSlurmctldAway = "SlurmctldAway";

}  // namespace

Result<ConfigSource> parse_config_source(std::string_view text) {
  const std::size_t slash = text.find('/');
  const std::string_view kind = text.substr(0, slash);
  if (slash == std::string_view::npos || slash + 1 == text.size() || (kind != "configmap" && kind != "secret")) {
    return invalid_value("--config-source", text, "must be configmap/NAME or secret/NAME");
  }
  return ConfigSource{kind == "secret", std::string(text.substr(slash + 1))};
}

ConfigFiles decode_config_files(const Json& object, bool is_secret) {
  ConfigFiles files;
  object["data"].each([&](std::string_view name, const Json& value) {
    const std::string text(value.text());
    files.insert_or_assign(std::string(name), is_secret ? decode_base64(text).value_or("") : text);
  });
  object["binaryData"].each([&](std::string_view name, const Json& value) {
    files.insert_or_assign(std::string(name), decode_base64(value.text()).value_or(""));
  });
  return files;
}

ConfigPusher::ConfigPusher(const ConfigPusherParts& parts, ConfigPusherOptions options)
    : parts_(parts),
      options_(std::move(options)),
      report_({parts.kube_reader, parts.kube_writer, parts.timers, parts.clock, parts.throttle}, options_.name_space,
              options_.pods),
      deleter_(parts.kube_writer, parts.clock, parts.throttle,
               {.resource = kube::kPods, .name_space = options_.name_space, .what = "pod", .action = "delete"}) {
  for (std::size_t i = 0; i < options_.sources.size(); ++i) {
    const ConfigSource& source = options_.sources[i];
    sources_.push_back(
        {source,
         {},
         std::make_unique<kube::Reflector>(parts.kube_reader, parts.timers, parts.clock,
                                           kube::ReflectorOptions{.resource = source.is_secret ? kSecrets : kConfigMaps,
                                                                  .name_space = options_.name_space,
                                                                  .field_selector = "metadata.name=" + source.name},
                                           listen(i))});
  }
}

ConfigPusher::~ConfigPusher() { parts_.timers.cancel(timer_); }

kube::ReflectorListener ConfigPusher::listen(std::size_t index) {
  kube::ReflectorListener listener;
  listener.upsert = [this, index](const Json& object) {
    Source& source = sources_[index];
    source.files = decode_config_files(object, source.source.is_secret);
    if (index == 0) {
      uid_ = object.at({"metadata", "uid"}).text();
      hash_ = object.at({"metadata", "annotations"})[kAnnotationConfigHash].text();
    }
    if (stage_ == Stage::idle) look_after(milliseconds(0));
  };
  listener.remove = [this, index](const kube::ObjectKey&, const std::string&, const Json&) {
    sources_[index].files.reset();
    if (stage_ == Stage::idle) look_after(milliseconds(0));
  };
  listener.synced = [this] { look_after(milliseconds(0)); };
  return listener;
}

void ConfigPusher::start() {
  for (const Source& source : sources_) source.reflector->start();
  report_.start([this] { look_after(milliseconds(0)); });
}

void ConfigPusher::stop() {
  for (const Source& source : sources_) source.reflector->stop();
  report_.stop();
  parts_.timers.cancel(timer_);
}

void ConfigPusher::look_after(milliseconds delay) {
  parts_.timers.cancel(timer_);
  timer_ = parts_.timers.after(delay, [this] { look(); });
}

void ConfigPusher::look() {
  timer_ = 0;
  if (!all_listed() || !report_.is_ready()) return;
  switch (stage_) {
    case Stage::started: compare(); break;
    case Stage::comparing: judge_comparison(); break;
    case Stage::idle: begin(); break;
    case Stage::asked: judge_trial(); break;
    case Stage::installed: reconfigure(); break;
    case Stage::settled: settle(verb_); break;
    case Stage::settling: judge_settling(); break;
  }
  delete_behind();
}

bool ConfigPusher::all_listed() const {
  return std::all_of(sources_.begin(), sources_.end(), [](const Source& one) { return one.reflector->synced(); });
}

std::string ConfigPusher::missing() const {
  std::string names;
  for (const Source& one : sources_) {
    if (one.files) continue;
    names +=
        (names.empty() ? "" : ", ") + std::string(one.source.is_secret ? "Secret " : "ConfigMap ") + one.source.name;
  }
  return names;
}

ConfigFiles ConfigPusher::wanted() const {
  ConfigFiles files;
  for (const Source& one : sources_) {
    for (const auto& [name, text] : *one.files) files.insert_or_assign(name, text);
  }
  return files;
}

void ConfigPusher::compare() {
  if (const Status asked = parts_.installer.ask(Verb::compare, {}); !asked.ok()) return retry(asked.error());
  last_failure_.clear();
  stage_ = Stage::comparing;
  deadline_ = parts_.clock.now() + kTrialFor;
  look_after(milliseconds(10));
}

void ConfigPusher::judge_comparison() {
  const std::optional<std::string> answer = await_answer();
  if (!answer) return;
  stage_ = Stage::idle;
  if (*answer != ConfigInstaller::kNotKept) {
    behind_ = parts_.installer.behind();
    return look_after(milliseconds(0));
  }
  const Result<ConfigFiles> live = parts_.installer.live();
  if (!live.ok()) {
    stage_ = Stage::started;
    return retry(live.error());
  }
  log_info("configuration: installed before this start, slurmctld has yet to take it");
  files_ = *live;
  // One that is away reads the files when it starts, later than now.
  if (has_started_since()) return take();
  const Result<SlurmConfig> config = parts_.slurm_reader.load_config();
  booted_ = config.ok() ? config->booted : std::chrono::system_clock::to_time_t(parts_.clock.wall());
  await_slurmctld(!config.ok());
}

/** Logged once. */
void ConfigPusher::retry(const Error& error) {
  if (last_failure_ != error.message()) log_warning("configuration: %s", error.message().c_str());
  last_failure_ = error.message();
  look_after(kRetry);
}

void ConfigPusher::begin() {
  const std::string absent = missing();
  if (!absent.empty()) return tell(kSourceMissing, absent + ": not found");
  const Result<ConfigFiles> live = parts_.installer.live();
  if (!live.ok()) {
    tell(kTrialUnavailable, live.error().message());
    return look_after(kRetry);
  }
  files_ = wanted();
  const ConfigPlan plan = plan_config(*live, files_, verdict_);
  if (plan.kind == ConfigPlan::Kind::none) {
    if (plan.reason == kConfigApplied && !has_answered()) return;
    if (is_unconfirmed_ && plan.reason == kConfigApplied) return confirm();
    tell(plan.reason, plan.text);
    return is_unkept_ && plan.reason == kConfigApplied ? settle(Verb::keep) : void();
  }
  if (plan.kind == ConfigPlan::Kind::restore) {
    tell(plan.reason, plan.text);
    return settle(Verb::restore);
  }
  if (plan.kind == ConfigPlan::Kind::install && waits_for_jobs(*live)) return;
  if (verdict_ && verdict_->is_passing) verdict_.reset();
  needs_ = plan.text;
  try_files(plan.kind == ConfigPlan::Kind::check ? Verb::check : Verb::install);
}

/** Files that are live say nothing of a slurmctld that has not answered yet: it may not start with them. */
bool ConfigPusher::has_answered() {
  has_answered_ = has_answered_ || parts_.slurm_reader.load_config().ok();
  if (has_answered_) return true;
  tell(kSlurmctldAway, "slurmctld does not answer, see its log");
  look_after(kRetry);
  return false;
}

/** Jobs that slurmctld would end with the files under way, in words; empty: none. */
Result<std::string> ConfigPusher::lost_jobs() {
  return describe_lost_jobs(removals_, SLURMK8S_TRY(parts_.slurm_reader.load_job_needs()));
}

/** Whether slurmctld would end jobs with these files, or it is not known of what they remove. */
bool ConfigPusher::waits_for_jobs(const ConfigFiles& live) {
  removals_ = find_removals(live, files_);
  const Result<std::string> lost = lost_jobs();
  if (lost.ok() ? lost->empty() : removals_.empty()) return false;
  if (!lost.ok()) {
    tell(kSlurmctldAway, "slurmctld does not answer, see its log: whether jobs need what is removed is not known: " +
                             describe_removals(removals_));
    look_after(kRetry);
    return true;
  }
  if (!job_verdict_ || job_verdict_->files != files_) job_verdict_ = ConfigVerdict{files_, kConfigRefused, *lost};
  tell(kConfigRefused, job_verdict_->text);
  look_after(kRetryForJobs);
  return true;
}

/** Jobs that were submitted during the trial: the former files come back. */
bool ConfigPusher::has_jobs_again() {
  const Result<std::string> lost = lost_jobs();
  if (!lost.ok() || lost->empty()) return false;
  verdict_ = ConfigVerdict{files_, kConfigRefused, *lost, true};
  settle(Verb::restore);
  return true;
}

void ConfigPusher::try_files(Verb verb) {
  verb_ = verb;
  // Later than this slurmctld has started, or read the files, when it has taken them.
  const Result<SlurmConfig> config = parts_.slurm_reader.load_config();
  if (config.ok()) away_since_.reset();
  if (!config.ok() && !away_since_) away_since_ = parts_.clock.now();
  const bool waits = away_since_ && parts_.clock.now() < *away_since_ + kAwayFor;
  const Status asked = waits ? config.error() : parts_.installer.ask(verb_, files_);
  if (!asked.ok()) return retry(asked.error());
  last_failure_.clear();
  booted_ = config.ok() ? config->booted : std::chrono::system_clock::to_time_t(parts_.clock.wall());
  stage_ = Stage::asked;
  deadline_ = parts_.clock.now() + kTrialFor;
  look_after(kPoll);
}

/** slurmctld was away when the files were installed: they are not called good before it has started with them. */
void ConfigPusher::confirm() {
  const Result<SlurmConfig> config = parts_.slurm_reader.load_config();
  if (!config.ok()) {
    tell(kSlurmctldAway, "slurmctld does not answer, see its log; it has the files when it starts");
    return look_after(kRetry);
  }
  is_unconfirmed_ = false;
  config->booted > booted_ ? take() : await_slurmctld(false);
}

/** Empty: it is awaited, or at the deadline all begins again: the container may have installed files and ended. */
std::optional<std::string> ConfigPusher::await_answer() {
  std::optional<std::string> answer = parts_.installer.answer();
  if (answer) return answer;
  if (parts_.clock.now() <= deadline_) {
    look_after(kPoll);
  } else {
    tell(kTrialUnavailable, "no answer of container config");
    stage_ = Stage::started;
    look_after(kRetry);
  }
  return answer;
}

void ConfigPusher::judge_trial() {
  const std::optional<std::string> answer = await_answer();
  if (!answer) return;
  if (!answer->empty()) {
    refuse(kConfigRefused, *answer);
  } else if (verb_ == Verb::check) {
    refuse(kConfigNeedsRestart, needs_ + ": changed: delete the controller's pod to apply it");
  } else {
    is_unconfirmed_ = away_since_.has_value();
    is_unconfirmed_ ? look_again() : await_slurmctld(false);
  }
}

void ConfigPusher::await_slurmctld(bool starts) {
  starts_ = starts;
  stage_ = Stage::installed;
  deadline_ = parts_.clock.now() + (starts ? kStartFor : kReconfigureFor);
  look_after(milliseconds(0));
}

void ConfigPusher::refuse(const char* reason, const std::string& text) {
  verdict_ = ConfigVerdict{files_, reason, text};
  look_again();
}

/** Decides what to do with the files in Kubernetes. */
void ConfigPusher::look_again() {
  stage_ = Stage::idle;
  look_after(milliseconds(0));
}

/** Whether slurmctld runs that has started after the files were installed, by itself. */
bool ConfigPusher::has_started_since() {
  const Result<SlurmConfig> config = parts_.slurm_reader.load_config();
  const Result<std::time_t> installed = parts_.installer.installed();
  return config.ok() && installed.ok() && config->booted > *installed;
}

/** Until slurmctld has started after the files were installed: by our request, or by itself. */
void ConfigPusher::reconfigure() {
  if (has_started_since()) return take();
  // Somebody has corrected what slurmctld does not start with.
  if (starts_ && missing().empty() && wanted() != files_) return look_again();
  if (!removals_.empty() && has_jobs_again()) return;
  const Status status = parts_.slurm_writer.restart_slurmctld();
  const Result<SlurmConfig> config = parts_.slurm_reader.load_config();
  if (config.ok() && config->booted > booted_) return take();
  if (!status.ok()) last_failure_ = status.error().message();
  const bool gives_up = parts_.clock.now() > deadline_;
  if (gives_up || (!status.ok() && !status.error().retryable() && status.error().code() != Errc::interrupted)) {
    verdict_ = ConfigVerdict{files_, kConfigRefused, "slurmctld refuses it, see its log: " + last_failure_};
    return settle(Verb::restore);
  }
  look_after(kRetry);
}

/** slurmctld has started with the files: the one of the own pod, not the one that has taken over from it. */
void ConfigPusher::take() {
  if (parts_.is_own_slurmctld && !parts_.is_own_slurmctld()) {
    if (stage_ != Stage::installed) deadline_ = parts_.clock.now() + kReconfigureFor;
    stage_ = Stage::installed;
    return look_after(kRetry);
  }
  if (parts_.applied) parts_.applied();
  has_applied_ = true;
  settle(Verb::keep);
}

void ConfigPusher::settle(Verb verb) {
  stage_ = Stage::settled;
  verb_ = verb;
  if (const Status asked = parts_.installer.ask(verb, {}); !asked.ok()) return retry(asked.error());
  stage_ = Stage::settling;
  deadline_ = parts_.clock.now() + kTrialFor;
  look_after(milliseconds(10));
}

void ConfigPusher::judge_settling() {
  const std::optional<std::string> answer = parts_.installer.answer();
  if (!answer && parts_.clock.now() <= deadline_) return look_after(kPoll);
  if (!answer) return settle(verb_);  // the container has restarted
  stage_ = Stage::idle;
  is_unkept_ = !answer->empty();
  // The next plan keeps or restores once more, or installs other files.
  if (is_unkept_) return retry(Error(Errc::unavailable, *answer));
  last_failure_.clear();
  behind_ = parts_.installer.behind();
  // Another installation would end the same way, each with a reconfiguration.
  const Result<ConfigFiles> live = parts_.installer.live();
  if (verb_ == Verb::keep && live.ok() && *live != files_)
    verdict_ = ConfigVerdict{files_, kConfigDiffers, differing_files(*live, files_) + ": other than Kubernetes has it"};
  look_after(milliseconds(0));
}

void ConfigPusher::delete_behind() {
  for (const OtherController& other : std::exchange(behind_, {})) {
    if (other.uid.empty()) continue;
    if (!deleter_.may_write(other.pod)) {
      behind_.push_back(other);
      continue;
    }
    log_info("configuration: %s started with other files: it is deleted, to be made again", other.pod.c_str());
    deleter_.remove(other.pod, {.uid = other.uid}, [this, other](const Result<Json>& answer) {
      if (answer.ok() || answer.error().code() == Errc::not_found || answer.error().code() == Errc::conflict) return;
      behind_.push_back(other);
      if (timer_ == 0) look_after(kRetry);
    });
  }
  if (!behind_.empty() && timer_ == 0) look_after(kRetry);
}

void ConfigPusher::tell(const std::string& reason, const std::string& text) {
  const std::string whole = hash_.empty() ? text : text + " (configuration " + hash_ + ")";
  report_.tell({reason, whole, has_applied_}, options_.sources.front().name, uid_);
}

}  // namespace slurmk8s
