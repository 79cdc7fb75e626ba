// SPDX-License-Identifier: GPL-2.0-or-later
// What job_submit/k8s uses of slurmctld beyond Slurm's public headers. Nothing else in this folder tests versions.
//
// Source: src/slurmctld/job_submit.h and the plugins of that type of Slurm 22.05.8, 24.11.5 and 26.05.3: job_modify()
// has a fourth argument from 23.02 on. Older versions do not pass it, and it is ignored there. src/common/assoc_mgr.h:
// from 24.05 on slurmctld can be told which uid a user of its accounting has; it looks it up in the directory of users
// otherwise. Takes locks that follow those of jobs. Since then jobs have an identity: Slurm sets it with
// AuthInfo=use_client_ids alone, saves it with the job, and frees it with the job. src/common/job_record.c: when
// slurmctld loads a job with an identity, it tells itself the uid of pw_name again.
#pragma once

#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <slurm/slurm_version.h>
#include <sys/types.h>

#include <cstdint>

#include "base/allocation_user.hpp"
#include "slurmctld/identity_compat.hpp"

extern "C" {

struct job_record_t;

extern slurm_conf_t slurm_conf __attribute__((weak));
/** xmalloc'ed copy: what Slurm's callers xfree(). In libslurmfull of every version. */
char* slurm_xstrdup(const char* text);
void slurm_xfree(void** text);

#define SLURMK8S_WEAK __attribute__((weak))
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(24, 5, 0)
/** A deep copy, xmalloc'ed. */
identity_t* copy_identity(identity_t* id) SLURMK8S_WEAK;
void destroy_identity(identity_t* id) SLURMK8S_WEAK;
void assoc_mgr_set_uid(uid_t uid, char* username) SLURMK8S_WEAK;
#endif

}  // extern "C"

namespace slurmk8s::compat {

/** SLURM_AUTH_NOBODY: whom slurmctld takes for the user of a token whose name it does not know. It runs no jobs. */
inline constexpr std::uint32_t kNobody = 99;

inline constexpr bool kModifyHasMessage = SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 2, 0);

/**
 * Makes a new job's user and group those of its ids, whoever submits it. With a name slurmctld finds their associations
 * also after a restart; credentials of the job then have no other groups.
 */
inline void set_identity([[maybe_unused]] job_desc_msg_t& job, [[maybe_unused]] AllocationUser user) {
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(24, 5, 0)
  if (job.id && destroy_identity) destroy_identity(static_cast<identity_t*>(job.id));
  job.id = nullptr;
  // slurmctld would not start again: it saves this identity, and refuses to load it.
  if (user.name.empty() || user.user == kNobody || user.group == kNobody || !copy_identity) return;
  // auth/slurm wants all of it.
  char root[] = "/";
  char shell[] = "/bin/sh";
  gid_t group = user.group;
  identity_t id{user.user, user.group, user.name.data(), user.name.data(), root, shell, 1, &group, nullptr, false};
  job.id = copy_identity(&id);
#endif
}

/** Has slurmctld find the associations of a user whom no directory of its names; nothing when it knows the uid. */
inline void tell_uid([[maybe_unused]] AllocationUser user) {
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(24, 5, 0)
  if (!user.name.empty() && assoc_mgr_set_uid) assoc_mgr_set_uid(user.user, user.name.data());
#endif
}

}  // namespace slurmk8s::compat
