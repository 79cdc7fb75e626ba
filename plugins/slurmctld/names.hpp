// SPDX-License-Identifier: GPL-2.0-or-later
// Names: slurmctld never blocks on a name (nss/control.h).
#pragma once

#include "nss/control.h"

namespace slurmk8s {

/**
 * Adds libnss_slurm_k8s to the sources of host names, users and groups of this slurmctld. Call it in init() of a
 * plugin, after slurm.conf has been read. Does not serve the names of slurm.conf: slurmctld keeps their addresses, so a
 * wrong one would stay. A second call does nothing. Errors are logged; slurmctld then looks names up as without it.
 */
void serve_names();

/** While it exists, this thread of slurmctld finds the user by id and name. After serve_names(), else no effect. */
class ThreadUser {
 public:
  /** `user`: not copied, must outlive this object. */
  explicit ThreadUser(const slurm_k8s_user& user);
  ~ThreadUser();
  ThreadUser(const ThreadUser&) = delete;
  ThreadUser& operator=(const ThreadUser&) = delete;
};

}  // namespace slurmk8s
