// SPDX-License-Identifier: GPL-2.0-or-later
// What node_features/k8s uses of Slurm beyond its public headers. Nothing else in this folder tests versions.
//
// Source: src/interfaces/node_features.{h,c}, src/common/{node_conf.h,read_config.h} of Slurm 22.05.8 (src/common
// there), 24.11.5 and 26.05.3. The set of required functions differs by version; we export the union, and extra ones do
// no harm. Arguments that a version does not pass are ignored.
#pragma once

#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <slurm/slurm_version.h>

#include <cstdint>

extern "C" {

/** A name for `scontrol show config`, and a list of key and value. */
struct config_plugin_params_t {
  char* name;
  void* key_pairs;
};

/** xmalloc'ed copy: what Slurm's callers xfree(). In libslurmfull of every version. */
char* slurm_xstrdup(const char* text);
void slurm_xfree(void** text);

#define SLURMK8S_WEAK __attribute__((weak))
extern slurm_conf_t slurm_conf SLURMK8S_WEAK;
/** Of all node records; the caller frees it. slurmd doesn't call what needs these. */
bitstr_t* node_conf_get_active_bitmap(void) SLURMK8S_WEAK;
/** xmalloc'ed hostlist. */
char* bitmap2node_name(bitstr_t* bits) SLURMK8S_WEAK;
int32_t bit_set_count(bitstr_t* bits) SLURMK8S_WEAK;

}  // extern "C"

namespace slurmk8s::compat {

/** Whether node_features_p_job_valid() and _job_xlate() have more arguments than the job's constraint. */
inline constexpr bool kXlateHasNodes = SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 2, 0);

}  // namespace slurmk8s::compat
