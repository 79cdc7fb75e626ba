// SPDX-License-Identifier: GPL-2.0-or-later
// node_features/k8s: variants of NodeSets are changeable features. When a job gets a powered-down node, slurmctld sets
// the variant as an active feature (job_xlate); the engine reads that and creates the pod accordingly. slurmd in the
// pod registers with its variant (node_state), and slurmctld refuses another one. At power down slurmctld removes the
// variant.
//
// slurmctld calls these functions under its locks: everything is in memory.
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>

#include <slurm/spank.h>  // slurm_info() and its siblings

#include "base/guarded.hpp"
#include "base/undestroyed.hpp"
#include "base/words.hpp"
#include "slurmctld/host.hpp"
#include "node_features_k8s/compat.hpp"
#include "slurm/rpc/compat.hpp"

using namespace slurmk8s;

namespace {

Undestroyed<std::unique_ptr<Variants>> variants;  // in slurmctld only

bool is_variant(const char* feature) { return *variants && feature && (*variants)->has(feature); }

char* copy(const std::string& text) { return text.empty() ? nullptr : slurm_xstrdup(text.c_str()); }

bool has_variant(const Words& words) {
  return std::any_of(words.begin(), words.end(), [](const std::string& word) { return is_variant(word.c_str()); });
}

/**
 * A node's active features after a change. A variant replaces the previous variant and keeps the other features:
 * slurmctld sets a job's and slurmd's in this way. A list without a variant replaces the other features and keeps the
 * variant: its writer, the sidecar or an administrator, may not know the one that slurmctld has set meanwhile.
 */
std::string merge(const char* fresh, const char* before) {
  const Words given = words_of(fresh), old = words_of(before ? before : "");
  const bool is_switch = has_variant(given);
  Words merged = is_switch ? Words() : given;
  for (const std::string& word : old) {
    if (is_variant(word.c_str()) != is_switch) merged.push_back(word);
  }
  for (const std::string& word : given) add_word(merged, word);
  return join_words(merged);
}

/** Lists the nodes only if the variant depends on them: a large job has many. */
std::string choose(const char* constraint, bitstr_t* nodes) {
  if (!*variants || !constraint) return {};
  if (const auto variant = (*variants)->choose(constraint, nullptr)) return *variant;
  char* names = nodes ? bitmap2node_name(nodes) : nullptr;
  std::string variant = (*variants)->choose(constraint, names ? names : "").value_or(std::string());
  slurm_xfree(reinterpret_cast<void**>(&names));
  return variant;
}

/** Without job_submit/k8s Slurm expands alternatives with variants, without a limit, before it calls this plugin. */
bool has_job_submit() {
  const std::string plugins = slurm_conf.job_submit_plugins ? slurm_conf.job_submit_plugins : "";
  return has_word(plugins, "k8s") || has_word(plugins, "job_submit/k8s");
}

}  // namespace

extern "C" {

SLURMK8S_EXPORT extern const char plugin_name[] = "node features of Kubernetes pods";
SLURMK8S_EXPORT extern const char plugin_type[] = "node_features/k8s";
SLURMK8S_EXPORT extern const uint32_t plugin_version = SLURM_VERSION_NUMBER;

SLURMK8S_EXPORT int init(void) {
  guarded_void("node_features/k8s init", [] {
    if (!in_slurmctld()) return;
    if (!compat::kKnowsVariants) {
      slurm_error("slurm-k8s: node_features/k8s requires Slurm 23.02 or later: variants disabled");
      return;
    }
    if (!has_job_submit()) {
      slurm_error("slurm-k8s: node_features/k8s requires JobSubmitPlugins=k8s: variants disabled");
      return;
    }
    *variants = std::make_unique<Variants>();
    if (!(*variants)->open(slurm_conf.state_save_location)) {
      slurm_error("slurm-k8s: engine library cannot be opened: variants disabled");
    }
  });
  return SLURM_SUCCESS;
}

SLURMK8S_EXPORT int fini(void) {
  guarded_void("node_features/k8s fini", [] { variants->reset(); });
  return SLURM_SUCCESS;
}

SLURMK8S_EXPORT int node_features_p_reconfig(void) { return SLURM_SUCCESS; }

/** Whether a feature is a variant, changed by recreating the pod. */
SLURMK8S_EXPORT bool node_features_p_changeable_feature(char* feature) {
  return guarded("node_features_p_changeable_feature", false, [&] { return is_variant(feature); });
}

/** Whether nodes can fulfil a job's constraint; job_submit/k8s checks the user. */
SLURMK8S_EXPORT int node_features_p_job_valid(char* constraint, void*) {
  return guarded("node_features_p_job_valid", SLURM_SUCCESS, [&] {
    if (!*variants || !constraint || is_too_long(constraint)) return SLURM_SUCCESS;  // too long: Slurm refuses it
    const Variants::Answer answer = (*variants)->judge(constraint, nullptr);
    if (answer.refused) slurm_info("slurm-k8s: %s: %s", constraint, answer.text.c_str());
    return answer.refused ? ESLURM_INVALID_FEATURE : SLURM_SUCCESS;
  });
}

/** The variant of a job's nodes. */
SLURMK8S_EXPORT char* node_features_p_job_xlate(char* constraint, void*, bitstr_t* nodes) {
  return guarded("node_features_p_job_xlate", static_cast<char*>(nullptr),
                 [&] { return copy(choose(constraint, compat::kXlateHasNodes ? nodes : nullptr)); });
}

/** Called with results of node_features_p_job_xlate() only. */
SLURMK8S_EXPORT bool node_features_p_job_features_need_reboot(char*) { return true; }

/** The nodes whose features this plugin manages. Nodes without variants are never changed. */
SLURMK8S_EXPORT bitstr_t* node_features_p_get_node_bitmap(void) {
  return node_conf_get_active_bitmap ? node_conf_get_active_bitmap() : nullptr;
}
SLURMK8S_EXPORT int node_features_p_overlap(bitstr_t* nodes) {
  return nodes && bit_set_count ? bit_set_count(nodes) : 0;
}
SLURMK8S_EXPORT int node_features_p_get_node(char*) { return SLURM_SUCCESS; }
SLURMK8S_EXPORT bool node_features_p_node_power(void) { return false; }

/** In slurmd: a running pod keeps its variant. */
SLURMK8S_EXPORT int node_features_p_node_set(char*, bool*) { return SLURM_SUCCESS; }

/** In slurmd: its pod's variant. slurmctld knows the others. */
SLURMK8S_EXPORT void node_features_p_node_state(char**, char** current) {
  guarded_void("node_features_p_node_state", [&] {
    const char* variant = std::getenv("SLURM_K8S_VARIANT");
    if (!current || !variant || !variant[0]) return;
    slurm_xfree(reinterpret_cast<void**>(current));
    *current = slurm_xstrdup(variant);
  });
}
SLURMK8S_EXPORT void node_features_p_step_config(bool, bitstr_t*) {}

SLURMK8S_EXPORT int node_features_p_node_update(char*, bitstr_t*) { return SLURM_SUCCESS; }
SLURMK8S_EXPORT bool node_features_p_node_update_valid(void*, update_node_msg_t*) { return true; }

/** Without new features: unchanged. */
SLURMK8S_EXPORT char* node_features_p_node_xlate(char* fresh, char* before, char*, int) {
  return guarded("node_features_p_node_xlate", static_cast<char*>(nullptr),
                 [&] { return fresh ? copy(merge(fresh, before)) : copy(before ? before : ""); });
}
SLURMK8S_EXPORT char* node_features_p_node_xlate2(char* features) {
  return features ? slurm_xstrdup(features) : nullptr;
}

/** Any user's job may change variants. */
SLURMK8S_EXPORT bool node_features_p_user_update(uid_t) { return true; }

/** Seconds that backfill adds to a node's resume for a change of variant. */
SLURMK8S_EXPORT uint32_t node_features_p_boot_time(void) { return 0; }
SLURMK8S_EXPORT uint32_t node_features_p_reboot_weight(void) { return 1; }

/** Shown by `scontrol show config`. */
SLURMK8S_EXPORT void node_features_p_get_config(config_plugin_params_t* config) {
  if (config && !config->name) config->name = slurm_xstrdup(plugin_type);
}

}  // extern "C"
