// SPDX-License-Identifier: GPL-2.0-or-later
// node_features/k8s: variants of NodeSets are features that slurmctld may change. It doesn't change them itself: when a
// job gets a node that is powered down it only notes the variant as active (job_xlate), and the engine, which reads
// that, makes the pod accordingly. slurmd in the pod says at its registration which variant it runs (node_state), and
// slurmctld refuses one that isn't what it noted; when the node is powered down it takes the variant back.
//
// In slurmctld these are called under its locks: everything is in memory.
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>

#include <slurm/spank.h>  // slurm_info() and its siblings

#include "base/guarded.hpp"
#include "base/words.hpp"
#include "slurmctld/host.hpp"
#include "node_features_k8s/compat.hpp"
#include "slurm/rpc/compat.hpp"

using namespace slurmk8s;

namespace {

std::unique_ptr<Variants> variants;  // in slurmctld only

bool is_variant(const char* feature) { return variants && feature && variants->has(feature); }

char* copy(const std::string& text) { return text.empty() ? nullptr : slurm_xstrdup(text.c_str()); }

bool has_variant(const Words& words) {
  return std::any_of(words.begin(), words.end(), [](const std::string& word) { return is_variant(word.c_str()); });
}

/**
 * A node's active features after a change of them. A variant takes the place of the one before, and leaves the rest as
 * it was: so slurmctld notes a job's, and takes slurmd's. A list without one is a new list, but for the variant: who
 * writes it, the sidecar or an administrator, may not know what slurmctld has noted in the meantime.
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

/** The nodes are looked at only when it depends on them: their names are as long as the job is large. */
std::string choose(const char* constraint, bitstr_t* nodes) {
  if (!variants || !constraint) return {};
  if (const auto variant = variants->choose(constraint, nullptr)) return *variant;
  char* names = nodes ? bitmap2node_name(nodes) : nullptr;
  std::string variant = variants->choose(constraint, names ? names : "").value_or(std::string());
  slurm_xfree(reinterpret_cast<void**>(&names));
  return variant;
}

/** Without job_submit/k8s Slurm multiplies alternatives with variants out, without a limit, before it asks us. */
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
      slurm_error("slurm-k8s: node_features/k8s needs Slurm 23.02: no feature is a variant");
      return;
    }
    if (!has_job_submit()) {
      slurm_error("slurm-k8s: node_features/k8s needs JobSubmitPlugins=k8s: no feature is a variant");
      return;
    }
    variants = std::make_unique<Variants>();
    if (!variants->open(slurm_conf.state_save_location)) {
      slurm_error("slurm-k8s: the engine's library can't be opened: no feature is a variant");
    }
  });
  return SLURM_SUCCESS;
}

SLURMK8S_EXPORT int fini(void) {
  guarded_void("node_features/k8s fini", [] { variants.reset(); });
  return SLURM_SUCCESS;
}

SLURMK8S_EXPORT int node_features_p_reconfig(void) { return SLURM_SUCCESS; }

/** Whether a feature is one that we switch by making another pod. */
SLURMK8S_EXPORT bool node_features_p_changeable_feature(char* feature) {
  return guarded("node_features_p_changeable_feature", false, [&] { return is_variant(feature); });
}

/** Whether a job's constraint is one that we can do; who asks is job_submit/k8s' business. */
SLURMK8S_EXPORT int node_features_p_job_valid(char* constraint, void*) {
  return guarded("node_features_p_job_valid", SLURM_SUCCESS, [&] {
    if (!variants || !constraint || is_too_long(constraint)) return SLURM_SUCCESS;  // too long: Slurm refuses it
    const Variants::Answer answer = variants->judge(constraint, nullptr);
    if (answer.refused) slurm_info("slurm-k8s: %s: %s", constraint, answer.text.c_str());
    return answer.refused ? ESLURM_INVALID_FEATURE : SLURM_SUCCESS;
  });
}

/** The variant that a job's nodes are to be booted with. */
SLURMK8S_EXPORT char* node_features_p_job_xlate(char* constraint, void*, bitstr_t* nodes) {
  return guarded("node_features_p_job_xlate", static_cast<char*>(nullptr),
                 [&] { return copy(choose(constraint, compat::kXlateHasNodes ? nodes : nullptr)); });
}

/** Only what is in the answer of node_features_p_job_xlate() comes here. */
SLURMK8S_EXPORT bool node_features_p_job_features_need_reboot(char*) { return true; }

/** The nodes whose features we manage: a node without variants is never asked to change. */
SLURMK8S_EXPORT bitstr_t* node_features_p_get_node_bitmap(void) {
  return node_conf_get_active_bitmap ? node_conf_get_active_bitmap() : nullptr;
}
SLURMK8S_EXPORT int node_features_p_overlap(bitstr_t* nodes) {
  return nodes && bit_set_count ? bit_set_count(nodes) : 0;
}
SLURMK8S_EXPORT int node_features_p_get_node(char*) { return SLURM_SUCCESS; }
SLURMK8S_EXPORT bool node_features_p_node_power(void) { return false; }

/** In slurmd: a variant isn't changed while its pod runs. */
SLURMK8S_EXPORT int node_features_p_node_set(char*, bool*) { return SLURM_SUCCESS; }

/** In slurmd: the variant of the pod that it runs in. What else the node could be is the controller's to know. */
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

/** Nothing given: as it was. */
SLURMK8S_EXPORT char* node_features_p_node_xlate(char* fresh, char* before, char*, int) {
  return guarded("node_features_p_node_xlate", static_cast<char*>(nullptr),
                 [&] { return fresh ? copy(merge(fresh, before)) : copy(before ? before : ""); });
}
SLURMK8S_EXPORT char* node_features_p_node_xlate2(char* features) {
  return features ? slurm_xstrdup(features) : nullptr;
}

/** Everybody's jobs may have nodes booted with a variant. */
SLURMK8S_EXPORT bool node_features_p_user_update(uid_t) { return true; }

/** Seconds that backfill counts for a node's change of variant, beside its resume. */
SLURMK8S_EXPORT uint32_t node_features_p_boot_time(void) { return 0; }
SLURMK8S_EXPORT uint32_t node_features_p_reboot_weight(void) { return 1; }

/** Shown by `scontrol show config`. */
SLURMK8S_EXPORT void node_features_p_get_config(config_plugin_params_t* config) {
  if (config && !config->name) config->name = slurm_xstrdup(plugin_type);
}

}  // extern "C"
