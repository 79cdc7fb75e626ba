// SPDX-License-Identifier: GPL-2.0-or-later
// Slurm's identity_t: src/common/identity.h of Slurm 24.05.8, 24.11.5, 25.05.8, 25.11.7 and 26.05.3, the same in each.
// No job of an older Slurm has one.
#pragma once

#include <slurm/slurm.h>
#include <sys/types.h>

#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(24, 5, 0)
extern "C" {

/** A user, and the groups, as slurmctld or the user's client knows them. */
struct identity_t {
  uid_t uid;
  gid_t gid;
  char* pw_name;
  char* pw_gecos;
  char* pw_dir;
  char* pw_shell;
  int ngids;
  gid_t* gids;
  char** gr_names;  ///< null, or ngids names
  bool fake;
};

}  // extern "C"
#endif
