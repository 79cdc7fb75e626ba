// SPDX-License-Identifier: GPL-2.0-or-later
// A user in glibc's form. Any thread.
#pragma once

#include <nss.h>
#include <pwd.h>
#include <sys/types.h>

#include <cstddef>

#include "nss/control.h"

namespace slurmk8s {

/** Fills `entry`, with texts in `data`. TRYAGAIN with ERANGE when the buffer is too small. */
nss_status fill_passwd(const slurm_k8s_user& user, passwd& entry, char* data, std::size_t size, int* error);

/** glibc's list of the groups of a user: `*list` has room for `*size` and holds `*start`; it was made by malloc(). */
struct GroupList {
  long* start;
  long* size;
  gid_t** list;
  long limit;  ///< at most so many; 0 or less: as many as there are
};

/** Adds the user's groups, each once, and never `own`, which the caller has. Enlarges the list. */
nss_status add_groups(const slurm_k8s_user& user, gid_t own, const GroupList& groups, int* error);

}  // namespace slurmk8s
