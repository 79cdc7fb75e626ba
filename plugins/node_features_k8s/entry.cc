// SPDX-License-Identifier: GPL-2.0-or-later
// node_features/k8s: the place where pod template variants become node features that a job can ask for.
//
// There are no variants yet: no feature is changeable, every constraint is left to slurmctld's own check against the
// nodes' features, and a node's features stay as the sidecar wrote them.
#include "common/host.hpp"
#include "node_features_k8s/compat.hpp"

extern "C" {

SLURMK8S_EXPORT extern const char plugin_name[] = "node features of Kubernetes pods";
SLURMK8S_EXPORT extern const char plugin_type[] = "node_features/k8s";
SLURMK8S_EXPORT extern const uint32_t plugin_version = SLURM_VERSION_NUMBER;

SLURMK8S_EXPORT int init(void) { return SLURM_SUCCESS; }
SLURMK8S_EXPORT int fini(void) { return SLURM_SUCCESS; }
SLURMK8S_EXPORT int node_features_p_reconfig(void) { return SLURM_SUCCESS; }

/** Whether a feature is one that we switch by making another pod. */
SLURMK8S_EXPORT bool node_features_p_changeable_feature(char*) { return false; }

/** Whether a job's constraint is one that we accept. */
SLURMK8S_EXPORT int node_features_p_job_valid(char*, void*) { return SLURM_SUCCESS; }

/** The part of a job's features that a node must be booted with; none. */
SLURMK8S_EXPORT char* node_features_p_job_xlate(char*, void*, void*) { return nullptr; }
SLURMK8S_EXPORT bool node_features_p_job_features_need_reboot(char*) { return false; }

/** The nodes whose features we manage; none. */
SLURMK8S_EXPORT bitstr_t* node_features_p_get_node_bitmap(void) { return nullptr; }
SLURMK8S_EXPORT int node_features_p_overlap(bitstr_t*) { return 0; }
SLURMK8S_EXPORT int node_features_p_get_node(char*) { return SLURM_SUCCESS; }
SLURMK8S_EXPORT bool node_features_p_node_power(void) { return false; }

/** In slurmd: nothing to set and nothing to add to what the controller knows. */
SLURMK8S_EXPORT int node_features_p_node_set(char*, bool*) { return SLURM_SUCCESS; }
SLURMK8S_EXPORT void node_features_p_node_state(char**, char**) {}
SLURMK8S_EXPORT void node_features_p_step_config(bool, bitstr_t*) {}

SLURMK8S_EXPORT int node_features_p_node_update(char*, bitstr_t*) { return SLURM_SUCCESS; }
SLURMK8S_EXPORT bool node_features_p_node_update_valid(void*, update_node_msg_t*) { return true; }

/** New features of a node as its record is to have them: as given, or what it had before. */
SLURMK8S_EXPORT char* node_features_p_node_xlate(char* new_features, char* orig_features, char*, int) {
  const char* features = new_features ? new_features : orig_features;
  return features ? slurm_xstrdup(features) : nullptr;
}
SLURMK8S_EXPORT char* node_features_p_node_xlate2(char* new_features) {
  return new_features ? slurm_xstrdup(new_features) : nullptr;
}

/** Anybody who may update the node's features in Slurm may do so. */
SLURMK8S_EXPORT bool node_features_p_user_update(uid_t) { return true; }

SLURMK8S_EXPORT uint32_t node_features_p_boot_time(void) { return 0; }
SLURMK8S_EXPORT uint32_t node_features_p_reboot_weight(void) { return 1; }

/** Shown by `scontrol show config`; without a name Slurm leaves the plugin out of the listing. */
SLURMK8S_EXPORT void node_features_p_get_config(config_plugin_params_t*) {}

}  // extern "C"
