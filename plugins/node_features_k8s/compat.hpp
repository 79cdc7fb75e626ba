// SPDX-License-Identifier: GPL-2.0-or-later
// What node_features/k8s uses of Slurm beyond its public headers.
//
// Source: src/interfaces/node_features.{h,c} of Slurm 22.05.8 (src/common there), 24.11.5 and 26.05.3. The set of
// required functions differs by version; we export the union, and extra ones do no harm. Arguments that a version
// doesn't pass are not looked at.
#pragma once

#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <slurm/slurm_version.h>

#include <cstdint>

extern "C" {

struct config_plugin_params_t;

/** xmalloc'ed copy: what Slurm's callers xfree(). In libslurmfull of every version. */
char* slurm_xstrdup(const char* text);

}  // extern "C"
