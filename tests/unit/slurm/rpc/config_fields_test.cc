// SPDX-License-Identifier: GPL-2.0-or-later
// slurm/rpc/config_fields: what is read of slurmctld's configuration.
#include "slurm/rpc/config_fields.hpp"

#include <string>

#include "support/cmocka.hpp"

namespace slurmk8s {
namespace {

void how_many_nodes(void**) {
  slurm_conf_t conf{};
  conf.max_node_cnt = NO_VAL;
  assert_int_equal(decode_config(conf).max_nodes, 65536);
  conf.max_node_cnt = 10;
  assert_int_equal(decode_config(conf).max_nodes, 10);
}

void both_plugins_make_variants(void**) {
  const struct {
    const char* features;
    const char* submit;
    bool has;
  } cases[] = {
      {"node_features/k8s", "job_submit/k8s", true},
      {"k8s", "k8s", true},
      {"node_features/helpers,node_features/k8s", "lua,k8s", true},
      {"node_features/k8s", nullptr, false},
      {nullptr, "job_submit/k8s", false},
      {"node_features/k8sx", "job_submit/k8s", false},
  };
  for (const auto& c : cases) {
    slurm_conf_t conf{};
    std::string features = c.features ? c.features : "", submit = c.submit ? c.submit : "";
    if (c.features) conf.node_features_plugins = features.data();
    if (c.submit) conf.job_submit_plugins = submit.data();
    assert_int_equal(decode_config(conf).has_node_features, c.has && compat::kKnowsVariants);
  }
}

void how_long_a_requeued_job_waits(void**) {
  const struct {
    const char* authinfo;
    int seconds;
  } cases[] = {
      {nullptr, 120},         {"", 120},
      {"cred_expire=30", 30}, {"use_client_ids,cred_expire=300,ttl=60", 300},
      {"cred_expire=4", 120},  // slurmctld takes 5 at least
      {"cred_expire=5", 5},   {"cred_expire=soon", 120},
      {"ttl=60", 120},
  };
  for (const auto& c : cases) {
    slurm_conf_t conf{};
    std::string authinfo = c.authinfo ? c.authinfo : "";
    if (c.authinfo) conf.authinfo = authinfo.data();
    assert_int_equal(decode_config(conf).requeue_delay.count(), c.seconds);
    std::string parameters = "bf_continue,requeue_delay=7";
    conf.sched_params = parameters.data();
    assert_int_equal(decode_config(conf).requeue_delay.count(), compat::kHasRequeueDelay ? 7 : c.seconds);
  }
}

void time_limits_of_messages_and_launches(void**) {
  slurm_conf_t conf{};
  conf.batch_start_timeout = 130;
  conf.msg_timeout = 7;
  assert_int_equal(decode_config(conf).batch_start_timeout.count(), 130);
  assert_int_equal(decode_config(conf).message_timeout.count(), 7);
}

void gres_types_and_the_start(void**) {
  slurm_conf_t conf{};
  std::string gres = "gpu,mps";
  conf.gres_plugins = gres.data();
  conf.boot_time = 1'700'000'000;
  const SlurmConfig config = decode_config(conf);
  assert_text(config.gres_types.value_or("?"), "gpu,mps");
  assert_int_equal(config.booted, 1'700'000'000);
  assert_int_equal(config.suspend_exc_nodes.has_value(), compat::kCanExempt);
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(how_many_nodes),
      SLURMK8S_TEST(both_plugins_make_variants),
      SLURMK8S_TEST(how_long_a_requeued_job_waits),
      SLURMK8S_TEST(time_limits_of_messages_and_launches),
      SLURMK8S_TEST(gres_types_and_the_start),
  };
  return cmocka_run_group_tests_name("slurm_rpc_config_fields", tests, nullptr, nullptr);
}
