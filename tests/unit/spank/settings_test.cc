// SPDX-License-Identifier: GPL-2.0-or-later
// Arguments of plugstack.conf and values of users' options: valid ones, and errors.
#include <string>
#include <string_view>
#include <vector>

#include "base/strings.hpp"
#include "spank/choices.hpp"
#include "spank/scripts/script_settings.hpp"
#include "spank/settings.hpp"

#include "support/cmocka.hpp"

using namespace slurmk8s;

namespace {

/** The words of a line, as Slurm passes them. */
std::vector<std::string_view> words(std::string_view line) {
  return line.empty() ? std::vector<std::string_view>() : split(line, ' ');
}

std::string shown(const Threads& threads) {
  if (threads.mode == Threads::Mode::off) return "off";
  return threads.mode == Threads::Mode::automatic ? "auto" : std::to_string(threads.count);
}

std::string shown(const Settings& settings) {
  std::string text = settings.pod_env + (settings.keep_service_env ? " keep " : " remove ") + shown(settings.threads);
  if (settings.login_env.count() != 5) text += " login=" + std::to_string(settings.login_env.count());
  if (!settings.host_names) text += " no-hosts";
  if (settings.pod_gpus) text += " ids";
  if (settings.oom_score_adj) text += " oom=" + std::to_string(*settings.oom_score_adj);
  if (settings.memory_limit) text += " memory";
  if (settings.cpu_bind) text += " bind";
  for (const std::string& path : settings.hidden) text += " -" + path;
  return text;
}

void arguments_of_steps(void**) {
  const struct {
    const char* line;
    const char* expected;
  } cases[] = {
      {"", "/run/slurm-k8s/pod.env remove off"},  // nothing is on that wasn't asked for
      {"env=off", " remove off"},
      {"env=/etc/pod", "/etc/pod remove off"},
      {"service_env=keep threads=auto", "/run/slurm-k8s/pod.env keep auto"},
      {"service_env=keep service_env=remove threads=3", "/run/slurm-k8s/pod.env remove 3"},
      {"gpus=ids oom_score_adj=0", "/run/slurm-k8s/pod.env remove off ids oom=0"},
      {"oom_score_adj=1000 hide=/a,/b/c", "/run/slurm-k8s/pod.env remove off oom=1000 -/a -/b/c"},
      {"memory_limit=on", "/run/slurm-k8s/pod.env remove off memory"},
      {"memory_limit=on memory_limit=off", "/run/slurm-k8s/pod.env remove off"},
      {"cpu_bind=on", "/run/slurm-k8s/pod.env remove off bind"},
      {"cpu_bind=on cpu_bind=off", "/run/slurm-k8s/pod.env remove off"},
      {"cpu_bind=cores", "error: cpu_bind: invalid value \"cores\": must be on or off"},
      {"memory_limit=100", "error: memory_limit: invalid value \"100\": must be on or off"},
      {"hosts=off", "/run/slurm-k8s/pod.env remove off no-hosts"},
      {"hosts=off hosts=on", "/run/slurm-k8s/pod.env remove off"},
      {"hosts=compute-0", "error: hosts: invalid value \"compute-0\": must be on or off"},
      {"login_env=5", "/run/slurm-k8s/pod.env remove off"},
      {"login_env=60", "/run/slurm-k8s/pod.env remove off login=60"},
      {"login_env=off", "/run/slurm-k8s/pod.env remove off login=0"},
      {"login_env=0", "error: login_env: invalid value \"0\": must be off, or seconds from 1 to 60"},
      {"login_env=61", "error: login_env: invalid value \"61\": must be off, or seconds from 1 to 60"},
      {"oom_score_adj=1001", "error: oom_score_adj: invalid value \"1001\": must be a number from 0 to 1000"},
      {"oom_score_adj=-5", "error: oom_score_adj: invalid value \"-5\": must be a number from 0 to 1000"},
      {"oom_score_adj=", "error: oom_score_adj: invalid value \"\": must be a number from 0 to 1000"},
      {"hide=key", "error: hide: invalid value \"key\": must be an absolute path"},
      {"hide=/a,", "error: hide: invalid value \"/a,\": must be an absolute path"},
      {"hide=/a/../b", "error: hide: invalid value \"/a/../b\": must be an absolute path"},
      {"hide=/", "error: hide: invalid value \"/\": must be an absolute path"},
      {"env=pod.env", "error: env: invalid value \"pod.env\": must be an absolute path"},
      {"gpus=all", "error: gpus: invalid value \"all\": must be ids or off"},
      {"service_env", "error: service_env: invalid value \"\": must be keep or remove"},
      {"threads=0", "error: threads: invalid value \"0\": must be auto, off, or a number from 1 to 65535"},
      {"job_setup=/a", "error: job_setup: unknown argument"},
      {"=", "error: : unknown argument"},
  };
  for (const auto& row : cases) {
    const auto settings = parse_settings(words(row.line));
    assert_text(settings ? shown(*settings) : "error: " + settings.error().message(), row.expected);
  }
}

std::string shown(const ScriptSettings& settings) {
  return settings.pod_setup + ";" + settings.pod_cleanup + ";" + settings.job_setup + ";" + settings.job_cleanup + ";" +
         std::to_string(settings.timeout.count());
}

void arguments_of_scripts(void**) {
  const struct {
    const char* line;
    const char* expected;
  } cases[] = {
      {"", ";;;;60"},
      {"pod_setup=/a pod_cleanup=/b job_setup=/c job_cleanup=/d timeout=5", "/a;/b;/c;/d;5"},
      {"timeout=0", "error: timeout: invalid value \"0\": must be seconds from 1 to 3600"},
      {"timeout=3601", "error: timeout: invalid value \"3601\": must be seconds from 1 to 3600"},
      {"timeout=5s", "error: timeout: invalid value \"5s\": must be seconds from 1 to 3600"},
      {"job_setup=setup.sh", "error: job_setup: invalid value \"setup.sh\": must be an absolute path"},
      {"setup=/a", "error: setup: unknown argument"},
  };
  for (const auto& row : cases) {
    const auto settings = parse_script_settings(words(row.line));
    assert_text(settings ? shown(*settings) : "error: " + settings.error().message(), row.expected);
  }
}

void users_options(void**) {
  for (const char* good : {"auto", "off", "1", "65535"}) assert_text(shown(parse_threads(good).value()), good);
  for (const char* bad : {"", "0", "65536", "-1", "four", "1 ", "99999999999999999999", "AUTO"}) {
    if (parse_threads(bad)) fail_msg("threads: %s", bad);
  }
  assert_true(parse_service_env("keep").value());
  assert_false(parse_service_env("remove").value());
  for (const char* bad : {"", "yes", "keep,remove"}) {
    if (parse_service_env(bad)) fail_msg("service_env: %s", bad);
  }
}

}  // namespace

int main() {
  const CMUnitTest tests[] = {SLURMK8S_TEST(arguments_of_steps), SLURMK8S_TEST(arguments_of_scripts),
                              SLURMK8S_TEST(users_options)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
