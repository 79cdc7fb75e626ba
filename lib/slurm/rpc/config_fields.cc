// SPDX-License-Identifier: GPL-2.0-or-later
// slurmctld's configuration out of libslurm's struct.
#include "slurm/rpc/config_fields.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "base/strings.hpp"
#include "base/words.hpp"
#include "slurm/rpc/text.hpp"

namespace slurmk8s {
namespace {

constexpr std::int64_t kMaxNodes = 65536;  // what slurmctld stops at without a MaxNodeCount

/** A number of seconds behind `key` in a list of options of slurm.conf. */
std::optional<std::int64_t> find_seconds(const std::string& options, std::string_view key) {
  for (const std::string_view word : split(options, ',')) {
    if (word.starts_with(key)) return parse_int(word.substr(key.size()));
  }
  return std::nullopt;
}

/** As cred_expire of slurmctld (src/interfaces/cred.c), and _requeue_delay() of 26.05. */
std::chrono::seconds requeue_delay(const slurm_conf_t& conf) {
  constexpr std::int64_t kMin = 5;
  constexpr std::int64_t kDefault = 120;
  const auto own = compat::kHasRequeueDelay ? find_seconds(text_of(conf.sched_params), "requeue_delay=") : std::nullopt;
  const std::int64_t expire = find_seconds(text_of(conf.authinfo), "cred_expire=").value_or(kDefault);
  return std::chrono::seconds(own.value_or(expire < kMin ? kDefault : expire));
}

}  // namespace

SlurmConfig decode_config(const slurm_conf_t& conf) {
  SlurmConfig config;
  config.max_nodes = conf.max_node_cnt == NO_VAL ? kMaxNodes : std::int64_t{conf.max_node_cnt};
  const std::string features = text_of(conf.node_features_plugins), submit = text_of(conf.job_submit_plugins);
  config.has_node_features = compat::kKnowsVariants &&
                             (has_word(features, "node_features/k8s") || has_word(features, "k8s")) &&
                             (has_word(submit, "job_submit/k8s") || has_word(submit, "k8s"));
  config.has_external_nodes = compat::kHasExternalNodes;
  config.requeue_delay = requeue_delay(conf);
  config.batch_start_timeout = std::chrono::seconds(conf.batch_start_timeout);
  config.message_timeout = std::chrono::seconds(conf.msg_timeout);
  config.gres_types = text_of(conf.gres_plugins);
  config.booted = conf.boot_time;
  if (compat::kCanExempt) config.suspend_exc_nodes = text_of(conf.suspend_exc_nodes);
  return config;
}

}  // namespace slurmk8s
