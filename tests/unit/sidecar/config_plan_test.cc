// SPDX-License-Identifier: GPL-2.0-or-later
// sidecar/config_plan: what is done with a changed configuration, and what of it needs a restart.
#include "sidecar/config_plan.hpp"

#include "support/cmocka.hpp"

namespace slurmk8s {
namespace {

using Kind = ConfigPlan::Kind;

ConfigFiles with(const std::string& slurm_conf, const std::string& own = "LogLevel=info\n") {
  return {{"slurm.conf", slurm_conf}, {"slurm-k8s.conf", own}};
}

void tells_what_needs_a_restart(void**) {
  const char* kLive = "ClusterName=a\nSlurmctldHost=c-0(c)\nSlurmctldPort=6817\nMaxJobCount=1\n";
  const struct {
    const char* what;
    ConfigFiles wanted;
    const char* expected;
  } cases[] = {
      {"the same", with(kLive), ""},
      {"a setting that slurmctld reads again", with(std::string(kLive) + "MaxJobCount=2\n"), ""},
      {"a port", with(std::string(kLive) + "SlurmctldPort=6818\n"), "slurm.conf: SlurmctldPort"},
      {"in other letters", with(std::string(kLive) + " slurmctldport = 6818 # moved\n"), "slurm.conf: SlurmctldPort"},
      {"the same value again", with(std::string(kLive) + "SlurmctldPort=6817 # as before\n"), ""},
      {"in a comment", with(std::string(kLive) + "#SlurmctldPort=6818\n"), ""},
      {"a second controller", with(std::string(kLive) + "SlurmctldHost=c-1\n"), "slurm.conf: SlurmctldHost"},
      {"a setting of another name", with(std::string(kLive) + "XSlurmctldPort=1\n"), ""},
      {"two settings", with("ClusterName=b\nSlurmctldHost=c-0(c)\nSlurmctldPort=1\n"),
       "slurm.conf: ClusterName, SlurmctldPort"},
      {"our file", with(kLive, "LogLevel=debug\n"), "slurm-k8s.conf"},
      {"both", with("ClusterName=b\nSlurmctldHost=c-0(c)\nSlurmctldPort=6817\n", ""),
       "slurm.conf: ClusterName; slurm-k8s.conf"},
      {"no slurm.conf",
       {{"slurm-k8s.conf", "LogLevel=info\n"}},
       "slurm.conf: ClusterName, SlurmctldHost, SlurmctldPort"},
  };
  for (const auto& c : cases) {
    const std::string found = needs_restart(with(kLive), c.wanted);
    if (found != c.expected) fail_msg("%s: \"%s\"", c.what, found.c_str());
  }
}

void plans_a_changed_configuration(void**) {
  const ConfigFiles live = with("ClusterName=a\n");
  const ConfigFiles changed = with("ClusterName=a\nMaxJobCount=2\n");
  const ConfigFiles renamed = with("ClusterName=b\n");
  ConfigFiles more = live;
  more.emplace("prolog.sh", "#!/bin/sh\n");
  const ConfigVerdict refused{changed, kConfigRefused, "slurm.conf line 2: no"};
  const struct {
    const char* what;
    ConfigFiles wanted;
    std::optional<ConfigVerdict> verdict;
    Kind kind;
    const char* reason;
    const char* text;
  } cases[] = {
      {"the same", live, {}, Kind::none, kConfigApplied, "slurmctld runs with it"},
      {"the same after a refusal", live, refused, Kind::none, kConfigApplied, "slurmctld runs with it"},
      {"changed", changed, {}, Kind::install, "", ""},
      {"a further file", more, {}, Kind::install, "", ""},
      {"refused before", changed, refused, Kind::none, kConfigRefused, "slurm.conf line 2: no"},
      {"refused for jobs", changed, ConfigVerdict{changed, kConfigRefused, "t", true}, Kind::install, "", ""},
      {"another one was refused", more, refused, Kind::install, "", ""},
      {"needs a restart", renamed, {}, Kind::check, "", "slurm.conf: ClusterName"},
      {"needs a restart, was checked", renamed, ConfigVerdict{renamed, kConfigNeedsRestart, "t"}, Kind::none,
       kConfigNeedsRestart, "t"},
  };
  for (const auto& c : cases) {
    const ConfigPlan plan = plan_config(live, c.wanted, c.verdict);
    if (plan.kind != c.kind || plan.reason != c.reason || plan.text != c.text) {
      fail_msg("%s: %d %s %s", c.what, static_cast<int>(plan.kind), plan.reason.c_str(), plan.text.c_str());
    }
  }
  assert_int_equal(static_cast<int>(plan_config(more, live, {}).kind), static_cast<int>(Kind::install));
  // slurmctld refused what the trial took, and the former files have not come back.
  const ConfigPlan back = plan_config(changed, changed, refused);
  assert_int_equal(static_cast<int>(back.kind), static_cast<int>(Kind::restore));
  assert_text(back.reason, kConfigRefused);
  assert_text(back.text, "slurm.conf line 2: no");
  assert_int_equal(static_cast<int>(plan_config(changed, renamed, refused).kind), static_cast<int>(Kind::restore));
  assert_int_equal(static_cast<int>(plan_config(changed, live, refused).kind), static_cast<int>(Kind::install));
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(tells_what_needs_a_restart),
      SLURMK8S_TEST(plans_a_changed_configuration),
  };
  return cmocka_run_group_tests_name("sidecar_config_plan", tests, nullptr, nullptr);
}
