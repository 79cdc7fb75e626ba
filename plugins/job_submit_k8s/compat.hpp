// SPDX-License-Identifier: GPL-2.0-or-later
// What job_submit/k8s uses of slurmctld beyond Slurm's public headers. Nothing else in this folder tests versions.
//
// Source: src/slurmctld/job_submit.h and the plugins of that type of Slurm 22.05.8, 24.11.5 and 26.05.3: job_modify()
// has a fourth argument from 23.02 on. Older versions do not pass it, and it is ignored there.
#pragma once

#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <slurm/slurm_version.h>

#include <cstdint>

extern "C" {

struct job_record_t;

extern slurm_conf_t slurm_conf __attribute__((weak));
/** xmalloc'ed copy: what Slurm's callers xfree(). In libslurmfull of every version. */
char* slurm_xstrdup(const char* text);
void slurm_xfree(void** text);

}  // extern "C"

namespace slurmk8s::compat {

inline constexpr bool kModifyHasMessage = SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 2, 0);

}  // namespace slurmk8s::compat
