// SPDX-License-Identifier: GPL-2.0-or-later
// sidecar/config_pusher: from a changed ConfigMap to slurmctld's answer, as condition and event.
#include "sidecar/config_pusher.hpp"

#include <algorithm>
#include <ctime>
#include <limits>

#include "support/cmocka.hpp"
#include "support/fake_client.hpp"
#include "support/fake_clock.hpp"
#include "support/fake_slurm.hpp"

namespace slurmk8s {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/** As the container does it, without a slurmctld: a text with "bad" is refused. */
struct FakeInstaller final : ConfigInstaller {
  ConfigFiles now, good;
  std::vector<std::string> asked;
  bool away = false;
  bool cannot_keep = false;
  bool silent = false;
  bool cannot_restore = false;
  bool changes_text = false;             // of what it installs
  bool is_full = false;                  // the volume of the last good set
  std::optional<Verb> unanswered;        // the container ends before it does it
  bool is_former = false;                // it cannot compare
  std::function<void()> on_install;      // while it tries the files
  std::optional<ConfigFiles> under_way;  // an installation that a later request waits for
  std::optional<std::string> last;
  std::vector<OtherController> others;  // that started with other files
  std::vector<OtherController> told;    // of them, with the last answer

  std::time_t installed_at = std::numeric_limits<std::time_t>::max();  ///< later than slurmctld's start

  Result<ConfigFiles> live() override { return now; }
  Result<std::time_t> installed() override { return installed_at; }
  Status ask(Verb verb, const ConfigFiles& files) override {
    if (away || (verb == Verb::keep && cannot_keep))
      return Error(Errc::unavailable, "requests: No such device or address");
    constexpr const char* kWords[] = {"check", "install", "restore", "keep"};
    if (verb != Verb::compare) asked.emplace_back(kWords[static_cast<int>(verb)]);
    last.reset();
    told.clear();
    if (under_way) now = *std::exchange(under_way, {});
    if (silent && verb == Verb::install) under_way = files;
    if (silent || verb == unanswered) return {};
    if (verb == Verb::compare) {
      last = is_former ? "compare: unknown" : now == good ? "" : kNotKept;
      if (last->empty()) told = others;
      return {};
    }
    const auto conf = files.find("slurm.conf");
    const bool bad = conf != files.end() && conf->second.find("bad") != std::string::npos;
    last = bad ? "slurm.conf line 2: bad" : "";
    if (verb == Verb::install && on_install) on_install();
    if (verb == Verb::install && !bad) now = files;
    if (verb == Verb::install && !bad && changes_text) now["slurm.conf"] += "#";
    if (verb == Verb::restore && cannot_restore) last = "slurmctld-config: [Errno 28] No space left on device";
    if (verb == Verb::restore && !cannot_restore) now = good;
    if (verb == Verb::keep && is_full) last = "slurmctld-config: [Errno 28] No space left on device";
    if (verb == Verb::keep && !is_full) {
      good = now;
      told = others;
    }
    return {};
  }
  std::optional<std::string> answer() override { return last; }
  std::vector<OtherController> behind() override { return told; }
};

struct Fixture {
  kube::FakeClient client;
  FakeClock clock;
  Timers timers{clock};
  kube::Throttle throttle{clock};
  FakeSlurm slurm;
  FakeInstaller installer;
  int applied = 0;
  bool is_own_slurmctld = true;
  const std::vector<ConfigSource> sources;
  std::unique_ptr<ConfigPusher> pusher;

  explicit Fixture(std::vector<ConfigSource> from = {{false, "conf"}}) : sources(std::move(from)) {
    client.put(kube::kPods, "slurm", named("pod"));
    installer.now = installer.good = {{"slurm.conf", "ClusterName=a\n"}};
  }
  /** A sidecar, instead of one that ends. */
  void start() {
    pusher.reset();
    pusher = std::make_unique<ConfigPusher>(
        ConfigPusherParts{client, client, timers, clock, throttle, slurm, slurm, installer, [this] { applied++; },
                          [this] { return is_own_slurmctld; }},
        ConfigPusherOptions{"slurm", sources, {"pod"}});
    pusher->start();
  }
  static Json named(const char* name) { return Json::object().set("metadata", Json::object().set("name", name)); }
  void put(const char* conf, const char* hash = "h1") {
    Json object = named("conf");
    Json metadata = object["metadata"].clone();
    metadata.set("annotations", Json::object().set(kAnnotationConfigHash, hash));
    object.set("metadata", metadata).set("data", Json::object().set("slurm.conf", conf));
    client.put(kConfigMaps, "slurm", object);
  }
  void run_for(milliseconds time) {
    for (const TimePoint end = clock.now() + time; clock.now() < end;) {
      if (client.deliver() == 0) clock.advance(milliseconds(50));
      timers.run_due();
    }
  }
  std::string condition() const {
    std::string text;
    client.find(kube::kPods, "slurm", "pod")["status"]["conditions"].each([&](const Json& one) {
      if (one["type"].text() != kConditionConfigApplied) return;
      text.append(one["status"].text()).append(" ").append(one["reason"].text()).append(": ");
      text.append(one["message"].text());
    });
    return text;
  }
  std::string events() const {
    std::string text;
    for (const std::string& name : client.names(kube::kEvents, "slurm")) {
      const Json event = client.find(kube::kEvents, "slurm", name);
      text.append(event["reason"].text()).append(" ").append(event.at({"regarding", "name"}).text()).append("\n");
    }
    return text;
  }
  std::string asked() const {
    std::string text;
    for (const std::string& one : installer.asked) text += (text.empty() ? "" : " ") + one;
    return text;
  }
  long restarts() const { return std::count(slurm.calls.begin(), slurm.calls.end(), "restart"); }
};

void applies_a_change(void**) {
  Fixture f;
  f.put("ClusterName=a\n");
  f.start();
  f.run_for(seconds(1));
  assert_text(f.condition(), "True Applied: slurmctld runs with it (configuration h1)");
  assert_text(f.asked(), "");
  f.put("ClusterName=a\nMaxJobCount=5\n", "h2");
  f.run_for(seconds(1));
  assert_text(f.asked(), "install keep");
  assert_int_equal(f.restarts(), 1);
  assert_int_equal(f.applied, 1);
  assert_text(f.installer.good.at("slurm.conf"), "ClusterName=a\nMaxJobCount=5\n");
  assert_text(f.condition(), "True Applied: slurmctld runs with it (configuration h2)");
  f.run_for(seconds(3));
  assert_text(f.events(), "ConfigApplied conf\n");
}

void deletes_other_controllers_that_are_behind(void**) {
  Fixture f;
  f.put("ClusterName=a\n");
  const auto put_other = [&] {
    f.client.put(kube::kPods, "slurm", Fixture::named("other"));
    const Json pod = f.client.find(kube::kPods, "slurm", "other");
    return OtherController{"other", std::string(pod.at({"metadata", "uid"}).text())};
  };
  f.installer.others = {put_other(), {"gone", "1"}, {"pod", ""}};
  const auto has_other = [&] { return f.client.names(kube::kPods, "slurm").size() == 2; };
  f.client.fail_next(kube::Verb::remove, Error(Errc::unavailable, "no answer"));
  f.start();
  f.run_for(milliseconds(500));
  assert_true(has_other());  // and once more
  f.run_for(seconds(5));
  assert_false(has_other());
  // Another has been made since.
  put_other();
  f.start();
  f.run_for(seconds(5));
  assert_true(has_other());
  // It has what is kept; then a change comes.
  f.installer.others = {};
  f.start();
  f.run_for(seconds(5));
  assert_true(has_other());
  f.installer.others = {put_other()};
  f.put("ClusterName=a\nbad\n");
  f.run_for(seconds(5));
  assert_true(has_other());
  f.put("ClusterName=a\nMaxJobCount=5\n");
  f.run_for(seconds(5));
  assert_false(has_other());
  assert_text(f.client.names(kube::kPods, "slurm").front(), "pod");
}

/** It has taken over, since that of the own pod ended of these files. */
void keeps_nothing_for_the_other_slurmctld(void**) {
  Fixture f;
  f.put("ClusterName=a\n");
  f.is_own_slurmctld = false;
  f.start();
  f.put("ClusterName=a\nMaxJobCount=5\n");
  f.run_for(seconds(20));
  assert_text(f.asked(), "install");
  f.is_own_slurmctld = true;
  f.run_for(seconds(3));
  assert_text(f.asked(), "install keep");
}

void refuses_what_the_trial_refuses(void**) {
  Fixture f;
  f.put("ClusterName=a\nbad\n");
  f.start();
  f.run_for(seconds(3));
  assert_text(f.asked(), "install");
  assert_int_equal(f.restarts(), 0);
  assert_int_equal(f.applied, 0);
  assert_text(f.condition(), "False Refused: slurm.conf line 2: bad (configuration h1)");
  assert_text(f.events(), "ConfigRefused conf\n");
  f.put("ClusterName=a\n", "h2");
  f.run_for(seconds(3));
  assert_text(f.condition(), "True Applied: slurmctld runs with it (configuration h2)");
}

constexpr const char* kWithPartition = "ClusterName=a\nPartitionName=b Nodes=ALL\n";
constexpr const char* kJobs =
    "False Refused: slurm.conf: partition b is removed and has 1 job: slurmctld would end them. It is applied when "
    "they "
    "have ended, or are cancelled: scancel --partition=b (configuration h2)";

/** slurmctld and Kubernetes have a partition b; then Kubernetes has it no more. */
void remove_partition(Fixture& f) {
  f.installer.now = f.installer.good = {{"slurm.conf", kWithPartition}};
  f.put(kWithPartition);
  f.start();
  f.run_for(seconds(1));
  f.put("ClusterName=a\n", "h2");
}

void refuses_a_removal_until_the_jobs_have_ended(void**) {
  Fixture f;
  f.slurm.job_needs = {{7, "b", "", ""}};
  remove_partition(f);
  f.run_for(seconds(5));
  assert_text(f.condition(), kJobs);
  f.slurm.job_needs.push_back({8, "b", "", ""});  // told once
  f.run_for(seconds(30));
  assert_text(f.condition(), kJobs);
  assert_text(f.events(), "ConfigRefused conf\n");
  assert_text(f.asked(), "");
  assert_int_equal(f.restarts(), 0);
  f.slurm.job_needs = {{9, "a", "", ""}};
  f.run_for(seconds(30));
  assert_contains(f.condition().c_str(), "partition b is removed");  // 9's is made at run time
  f.slurm.job_needs.clear();
  f.run_for(seconds(15));
  assert_text(f.condition(), "True Applied: slurmctld runs with it (configuration h2)");
  assert_text(f.asked(), "install keep");
  assert_int_equal(f.restarts(), 1);
}

/** Others are applied at once, without a removal. */
void applies_other_files_instead_of_a_removal(void**) {
  Fixture f;
  f.slurm.job_needs = {{7, "b", "", ""}};
  remove_partition(f);
  f.run_for(seconds(5));
  f.put("ClusterName=a\nPartitionName=b Nodes=ALL MaxTime=1\n", "h3");
  f.run_for(seconds(2));
  assert_text(f.condition(), "True Applied: slurmctld runs with it (configuration h3)");
  f.put("ClusterName=a\n", "h2");
  f.run_for(seconds(2));
  assert_text(f.condition(), kJobs);
}

void takes_a_removal_back_for_a_job_of_meanwhile(void**) {
  Fixture f;
  f.installer.on_install = [&] { f.slurm.job_needs = {{7, "b", "", ""}}; };
  remove_partition(f);
  f.run_for(seconds(3));
  assert_text(f.asked(), "install restore");
  assert_int_equal(f.restarts(), 0);
  assert_text(f.installer.now.at("slurm.conf"), kWithPartition);
  assert_text(f.condition(), kJobs);
  f.installer.on_install = nullptr;
  f.run_for(seconds(30));
  assert_text(f.asked(), "install restore");
  f.slurm.job_needs.clear();
  f.run_for(seconds(15));
  assert_text(f.asked(), "install restore install keep");
  assert_text(f.installer.good.at("slurm.conf"), "ClusterName=a\n");
  assert_text(f.condition(), "True Applied: slurmctld runs with it (configuration h2)");
}

/** Nobody knows of jobs; other corrections are installed (corrects_files_without_a_slurmctld). */
void removes_nothing_without_a_slurmctld(void**) {
  Fixture f;
  remove_partition(f);
  f.slurm.config_error = Error(Errc::unavailable, "slurm: Unable to contact slurm controller");
  f.run_for(seconds(100));
  assert_text(f.asked(), "");
  assert_text(f.condition(),
              "False SlurmctldAway: slurmctld does not answer, see its log: whether jobs need what is removed is not "
              "known: partition b (configuration h2)");
  f.slurm.config_error.reset();
  f.run_for(seconds(5));
  assert_text(f.condition(), "True Applied: slurmctld runs with it (configuration h2)");
}

void says_what_needs_a_restart(void**) {
  Fixture f;
  f.put("ClusterName=b\n");
  f.start();
  f.run_for(seconds(3));
  assert_text(f.asked(), "check");
  assert_text(f.condition(),
              "False RestartRequired: slurm.conf: ClusterName: changed: delete the controller's pod to apply it "
              "(configuration h1)");
  // Broken as well: that is said first, since the next pod would not take it.
  f.put("ClusterName=b\nbad\n");
  f.run_for(seconds(3));
  assert_text(f.condition(), "False Refused: slurm.conf line 2: bad (configuration h1)");
  assert_int_equal(f.restarts(), 0);
}

void comes_back_when_slurmctld_refuses(void**) {
  Fixture f;
  f.put("ClusterName=a\nMaxJobCount=5\n");
  f.slurm.failures.emplace_back(Errc::invalid, "slurm: Unable to reconfigure");
  f.start();
  f.run_for(seconds(3));
  assert_text(f.asked(), "install restore");
  assert_text(f.installer.now.at("slurm.conf"), "ClusterName=a\n");
  assert_contains(f.condition().c_str(), "False Refused: slurmctld refuses it, see its log: slurm: Unable to reconf");
}

// They are still those of /etc/slurm, and wanted: that does not make them applied.
void takes_refused_files_back_until_it_is_done(void**) {
  Fixture f;
  f.put("ClusterName=a\nMaxJobCount=5\n");
  f.slurm.failures.emplace_back(Errc::invalid, "slurm: Unable to reconfigure");
  f.installer.cannot_restore = true;
  f.start();
  f.run_for(seconds(5));
  assert_contains(f.condition().c_str(), "False Refused: slurmctld refuses it, see its log: slurm: Unable to reconf");
  f.installer.cannot_restore = false;
  f.run_for(seconds(3));
  assert_text(f.installer.now.at("slurm.conf"), "ClusterName=a\n");
  assert_contains(f.condition().c_str(), "False Refused: slurmctld refuses it, see its log: slurm: Unable to reconf");
  assert_int_equal(f.restarts(), 1);
}

void keeps_a_set_although_the_container_restarts(void**) {
  Fixture f;
  f.put("ClusterName=a\nMaxJobCount=5\n");
  f.installer.unanswered = ConfigInstaller::Verb::keep;
  f.start();
  f.run_for(seconds(30));
  f.installer.unanswered.reset();
  f.run_for(seconds(60));
  assert_text(f.asked(), "install keep keep");
  assert_text(f.installer.good.at("slurm.conf"), "ClusterName=a\nMaxJobCount=5\n");
  assert_int_equal(f.restarts(), 1);
}

void keeps_a_set_as_soon_as_there_is_room(void**) {
  Fixture f;
  f.installer.is_full = true;
  f.put("ClusterName=a\nMaxJobCount=5\n");
  f.start();
  f.run_for(seconds(10));
  assert_contains(f.condition().c_str(), "True Applied");
  f.put("ClusterName=a\nMaxJobCount=6\n", "h2");
  f.run_for(seconds(5));
  assert_text(f.condition(), "True Applied: slurmctld runs with it (configuration h2)");
  f.installer.is_full = false;
  f.run_for(seconds(5));
  assert_text(f.installer.good.at("slurm.conf"), "ClusterName=a\nMaxJobCount=6\n");
  assert_int_equal(f.restarts(), 2);
  f.installer.asked.clear();
  f.run_for(seconds(10));
  assert_text(f.asked(), "");
}

// What comes next is installed all the same.
void applies_a_change_although_it_cannot_restore(void**) {
  Fixture f;
  f.put("ClusterName=a\nMaxJobCount=5\n");
  f.slurm.failures.emplace_back(Errc::invalid, "slurm: Unable to reconfigure");
  f.installer.cannot_restore = true;
  f.start();
  f.run_for(seconds(5));
  f.put("ClusterName=a\nMaxJobCount=6\n", "h2");
  f.run_for(seconds(5));
  assert_text(f.condition(), "True Applied: slurmctld runs with it (configuration h2)");
  assert_text(f.installer.good.at("slurm.conf"), "ClusterName=a\nMaxJobCount=6\n");
}

/** The pod was made again with other files: they are good once slurmctld has started with them. */
void keeps_what_slurmctld_started_with(void**) {
  Fixture f;
  f.put("ClusterName=a\nMaxJobCount=5\n");
  f.installer.now = {{"slurm.conf", "ClusterName=a\nMaxJobCount=5\n"}};
  f.slurm.config_error = Error(Errc::unavailable, "it reads a large state");
  f.slurm.failures.assign(1000, *f.slurm.config_error);
  f.installer.installed_at = f.slurm.booted - 1;
  f.start();
  f.run_for(seconds(100));
  assert_text(f.asked(), "");
  f.slurm.config_error.reset();
  f.slurm.failures.clear();
  const long restarts = f.restarts();
  f.start();  // a sidecar that began later
  f.run_for(seconds(5));
  assert_text(f.asked(), "keep");
  assert_int_equal(f.restarts(), restarts);
  assert_text(f.condition(), "True Applied: slurmctld runs with it (configuration h1)");
}

/** The pod starts with files that its trial took and slurmctld does not start with. */
void start_with_typo(Fixture& f) {
  f.put("ClusterName=a\nJobCompType=jobcomp/typo\n");
  f.installer.now = {{"slurm.conf", "ClusterName=a\nJobCompType=jobcomp/typo\n"}};
  f.slurm.config_error = Error(Errc::unavailable, "connection refused");
  f.slurm.failures.assign(1000, *f.slurm.config_error);
  f.start();
}

/** The last good ones come back. */
void takes_back_what_slurmctld_does_not_start_with(void**) {
  Fixture f;
  start_with_typo(f);
  f.run_for(seconds(170));
  assert_text(f.asked(), "");
  f.run_for(seconds(30));
  assert_text(f.asked(), "restore");
  assert_true(f.installer.now == f.installer.good);
  assert_contains(f.condition(), "False Refused: slurmctld refuses it, see its log");
}

void corrects_what_slurmctld_does_not_start_with(void**) {
  Fixture f;
  start_with_typo(f);
  f.run_for(seconds(5));
  f.put("ClusterName=a\n", "h2");
  f.run_for(seconds(60));
  assert_text(f.asked(), "install");
  f.slurm.config_error.reset();
  f.slurm.failures.clear();
  f.slurm.booted += 100'000'000'000;  // it starts with them
  f.run_for(seconds(5));
  assert_text(f.asked(), "install keep");
  assert_text(f.condition(), "True Applied: slurmctld runs with it (configuration h2)");
}

/** They are the last good ones, but slurmctld has not said a word. */
void does_not_speak_for_a_silent_slurmctld(void**) {
  Fixture f;
  f.put("ClusterName=a\n");
  f.slurm.config_error = Error(Errc::unavailable, "connection refused");
  f.start();
  f.run_for(seconds(5));
  assert_text(f.condition(), "False SlurmctldAway: slurmctld does not answer, see its log (configuration h1)");
  f.slurm.config_error.reset();
  f.run_for(seconds(5));
  assert_text(f.condition(), "True Applied: slurmctld runs with it (configuration h1)");
}

void restarts_slurmctld_once_while_the_container_is_away(void**) {
  Fixture f;
  f.put("ClusterName=a\n");
  f.start();
  f.run_for(seconds(1));
  f.installer.cannot_keep = true;
  f.put("ClusterName=a\nMaxJobCount=5\n", "h2");
  f.run_for(seconds(10));
  assert_int_equal(f.restarts(), 1);
  assert_int_equal(f.applied, 1);
  f.installer.cannot_keep = false;
  f.run_for(seconds(3));
  assert_text(f.asked(), "install keep");
  assert_int_equal(f.restarts(), 1);
  assert_text(f.condition(), "True Applied: slurmctld runs with it (configuration h2)");
}

void waits_for_what_is_away(void**) {
  Fixture f;
  f.installer.away = true;
  f.put("ClusterName=a\n");
  f.start();
  f.run_for(seconds(5));
  assert_text(f.condition(), "");
  f.installer.away = false;
  f.run_for(seconds(3));
  assert_contains(f.condition().c_str(), "True Applied");
  f.installer.away = true;
  f.put("ClusterName=a\nMaxJobCount=5\n");
  f.run_for(seconds(5));
  assert_text(f.asked(), "");
  f.installer.away = false;
  f.installer.silent = true;  // it ends during the trial
  f.run_for(seconds(50));
  assert_text(f.asked(), "install");
  f.installer.silent = false;
  f.installer.under_way.reset();
  f.run_for(seconds(20));
  assert_text(f.asked(), "install install keep");
  assert_contains(f.condition().c_str(), "True Applied");
}

constexpr const char* kFormer = "ClusterName=a\n";
constexpr const char* kChanged = "ClusterName=a\nMaxJobCount=5\n";

/** A sidecar ends while the container tries the changed files; then the container installs them. */
void end_during_the_trial(Fixture& f) {
  f.put(kFormer);
  f.start();
  f.run_for(seconds(1));
  f.installer.silent = true;
  f.put(kChanged, "h2");
  f.run_for(seconds(1));
  f.pusher.reset();
  f.installer.silent = false;
  assert_text(f.asked(), "install");
}

void confirms_what_a_former_sidecar_had_installed(void**) {
  Fixture f;
  end_during_the_trial(f);
  f.installer.now = *std::exchange(f.installer.under_way, {});
  f.start();
  f.run_for(seconds(3));
  assert_int_equal(f.restarts(), 1);
  assert_int_equal(f.applied, 1);
  assert_text(f.asked(), "install keep");
  assert_text(f.installer.good.at("slurm.conf"), kChanged);
  assert_text(f.condition(), "True Applied: slurmctld runs with it (configuration h2)");
  assert_text(f.events(), "ConfigApplied conf\n");
  f.start();  // that was all
  f.run_for(seconds(3));
  assert_int_equal(f.restarts(), 1);
}

void confirms_what_the_container_installed_before_it_ended(void**) {
  Fixture f;
  f.put(kFormer);
  f.start();
  f.run_for(seconds(1));
  f.installer.silent = true;
  f.put(kChanged, "h2");
  f.run_for(seconds(50));
  f.installer.silent = false;
  f.run_for(seconds(20));
  assert_text(f.asked(), "install keep");
  assert_int_equal(f.restarts(), 1);
  assert_text(f.condition(), "True Applied: slurmctld runs with it (configuration h2)");
}

void takes_back_what_a_former_sidecar_had_installed(void**) {
  Fixture f;
  end_during_the_trial(f);
  f.installer.now = *std::exchange(f.installer.under_way, {});
  f.slurm.failures.emplace_back(Errc::invalid, "slurm: Unable to reconfigure");
  f.start();
  f.run_for(seconds(3));
  assert_text(f.asked(), "install restore");
  assert_text(f.installer.now.at("slurm.conf"), kFormer);
  assert_contains(f.condition().c_str(), "False Refused: slurmctld refuses it, see its log: slurm: Unable to reconf");
}

// slurmctld does not start with these files, so it cannot be asked when it last started.
void takes_back_files_without_a_slurmctld(void**) {
  Fixture f;
  end_during_the_trial(f);
  f.installer.now = *std::exchange(f.installer.under_way, {});
  f.slurm.config_error = Error(Errc::unavailable, "slurm: Unable to contact slurm controller");
  f.slurm.failures.assign(1000, *f.slurm.config_error);
  f.start();
  f.run_for(seconds(190));
  assert_text(f.asked(), "install restore");
  assert_text(f.installer.now.at("slurm.conf"), kFormer);
}

/** slurmctld goes, and then its files change. */
void change_without_a_slurmctld(Fixture& f) {
  f.put(kFormer);
  f.start();
  f.run_for(seconds(1));
  f.slurm.config_error = Error(Errc::unavailable, "slurm: Unable to contact slurm controller");
  f.put(kChanged, "h2");
}
/** slurmctld answers: it has started so long after now. */
void answer_again(Fixture& f, int seconds_later) {
  f.slurm.config_error.reset();
  f.slurm.booted = std::chrono::system_clock::to_time_t(f.clock.wall()) + seconds_later;
}

// It does not start with the files that it has: only others let it.
void corrects_files_without_a_slurmctld(void**) {
  Fixture f;
  change_without_a_slurmctld(f);
  f.run_for(seconds(25));
  assert_text(f.asked(), "");
  f.run_for(seconds(100));
  assert_text(f.asked(), "install");
  assert_text(f.installer.now.at("slurm.conf"), kChanged);
  assert_text(f.installer.good.at("slurm.conf"), kFormer);
  assert_text(f.condition(),
              "False SlurmctldAway: slurmctld does not answer, see its log; it has the files when it starts "
              "(configuration h2)");
  // The correction was wrong, too.
  constexpr const char* kLater = "ClusterName=a\nMaxJobCount=6\n";
  f.put(kLater, "h3");
  f.run_for(seconds(5));
  assert_text(f.installer.now.at("slurm.conf"), kLater);
  answer_again(f, 1);
  f.run_for(seconds(5));
  assert_text(f.asked(), "install install keep");
  assert_text(f.installer.good.at("slurm.conf"), kLater);
  assert_int_equal(f.restarts(), 0);
  assert_int_equal(f.applied, 1);
  assert_text(f.condition(), "True Applied: slurmctld runs with it (configuration h3)");
}

// It was only silent: it has to be told.
void reconfigures_a_slurmctld_that_was_silent(void**) {
  Fixture f;
  change_without_a_slurmctld(f);
  f.run_for(seconds(40));
  answer_again(f, -60);
  f.run_for(seconds(1));
  assert_true(f.restarts() > 0);
  answer_again(f, 1);
  f.run_for(seconds(3));
  assert_text(f.asked(), "install keep");
  assert_text(f.condition(), "True Applied: slurmctld runs with it (configuration h2)");
}

void installs_once_although_the_files_stay_different(void**) {
  Fixture f;
  f.installer.changes_text = true;
  f.put(kChanged);
  f.start();
  f.run_for(seconds(30));
  assert_text(f.asked(), "install keep");
  assert_int_equal(f.restarts(), 1);
  assert_text(f.condition(), "False FilesDiffer: slurm.conf: other than Kubernetes has it (configuration h1)");
}

void trusts_a_former_container(void**) {
  Fixture f;
  f.installer.is_former = true;
  f.installer.good.clear();
  f.put(kFormer);
  f.start();
  f.run_for(seconds(3));
  assert_int_equal(f.restarts(), 0);
  assert_text(f.condition(), "True Applied: slurmctld runs with it (configuration h1)");
}

void says_so_when_nobody_compares(void**) {
  Fixture f;
  f.installer.silent = true;
  f.put(kFormer);
  f.start();
  f.run_for(seconds(65));
  assert_text(f.condition(), "False TrialUnavailable: no answer of container config (configuration h1)");
  f.installer.silent = false;
  f.run_for(seconds(65));
  assert_contains(f.condition().c_str(), "True Applied");
}

// The files that are wanted now are those that are live until the trial ends.
void waits_for_the_trial_of_a_former_sidecar(void**) {
  Fixture f;
  end_during_the_trial(f);
  f.put(kFormer, "h3");
  f.start();
  f.run_for(seconds(5));
  assert_text(f.asked(), "install keep install keep");
  assert_text(f.installer.now.at("slurm.conf"), kFormer);
  assert_text(f.installer.good.at("slurm.conf"), kFormer);
  assert_text(f.condition(), "True Applied: slurmctld runs with it (configuration h3)");
}

void joins_its_sources(void**) {
  Fixture f({{false, "conf"}, {true, "secret"}});
  f.put("ClusterName=a\n");
  f.start();
  f.run_for(seconds(1));
  assert_contains(f.condition().c_str(), "False SourceMissing: Secret secret: not found");
  Json secret = Fixture::named("secret");
  secret.set("data", Json::object().set("prolog.sh", "IyEvYmluL3NoCg=="));
  f.client.put(kSecrets, "slurm", secret);
  f.run_for(seconds(2));
  assert_text(f.installer.now.at("prolog.sh"), "#!/bin/sh\n");
  assert_contains(f.condition().c_str(), "True Applied");
}

void reads_sources(void**) {
  assert_true(parse_config_source("secret/a").value().is_secret);
  assert_text(parse_config_source("configmap/b").value().name, "b");
  for (const char* bad : {"", "a", "secret/", "pod/a"}) assert_false(parse_config_source(bad).ok());
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(applies_a_change),
      SLURMK8S_TEST(deletes_other_controllers_that_are_behind),
      SLURMK8S_TEST(keeps_nothing_for_the_other_slurmctld),
      SLURMK8S_TEST(refuses_what_the_trial_refuses),
      SLURMK8S_TEST(refuses_a_removal_until_the_jobs_have_ended),
      SLURMK8S_TEST(applies_other_files_instead_of_a_removal),
      SLURMK8S_TEST(takes_a_removal_back_for_a_job_of_meanwhile),
      SLURMK8S_TEST(removes_nothing_without_a_slurmctld),
      SLURMK8S_TEST(says_what_needs_a_restart),
      SLURMK8S_TEST(comes_back_when_slurmctld_refuses),
      SLURMK8S_TEST(takes_refused_files_back_until_it_is_done),
      SLURMK8S_TEST(keeps_a_set_although_the_container_restarts),
      SLURMK8S_TEST(keeps_a_set_as_soon_as_there_is_room),
      SLURMK8S_TEST(applies_a_change_although_it_cannot_restore),
      SLURMK8S_TEST(keeps_what_slurmctld_started_with),
      SLURMK8S_TEST(takes_back_what_slurmctld_does_not_start_with),
      SLURMK8S_TEST(corrects_what_slurmctld_does_not_start_with),
      SLURMK8S_TEST(does_not_speak_for_a_silent_slurmctld),
      SLURMK8S_TEST(restarts_slurmctld_once_while_the_container_is_away),
      SLURMK8S_TEST(waits_for_what_is_away),
      SLURMK8S_TEST(confirms_what_a_former_sidecar_had_installed),
      SLURMK8S_TEST(confirms_what_the_container_installed_before_it_ended),
      SLURMK8S_TEST(takes_back_what_a_former_sidecar_had_installed),
      SLURMK8S_TEST(takes_back_files_without_a_slurmctld),
      SLURMK8S_TEST(corrects_files_without_a_slurmctld),
      SLURMK8S_TEST(reconfigures_a_slurmctld_that_was_silent),
      SLURMK8S_TEST(installs_once_although_the_files_stay_different),
      SLURMK8S_TEST(trusts_a_former_container),
      SLURMK8S_TEST(says_so_when_nobody_compares),
      SLURMK8S_TEST(waits_for_the_trial_of_a_former_sidecar),
      SLURMK8S_TEST(joins_its_sources),
      SLURMK8S_TEST(reads_sources),
  };
  return cmocka_run_group_tests_name("sidecar_config_pusher", tests, nullptr, nullptr);
}
