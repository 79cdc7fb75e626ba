/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libnss_slurm_k8s: a source of names for glibc ("hosts: files slurm_k8s [!UNAVAIL=return] dns"), with which slurmctld
 * never blocks on a name. Slurm looks names up under its locks, and in Debian's Slurm an unknown name takes ten
 * seconds. The plugins open the library in slurmctld, and nowhere else.
 *
 * It is also a source of users ("passwd: files slurm_k8s"): a thread of slurmctld says whom a request is of.
 *
 * Threads of the library look names up, in the sources that follow in the line. A caller waits for less than half a
 * second, and for a tenth of the time in the long run. A name without an address, or without an answer yet, gets
 * SLURM_K8S_NOWHERE: connect() to it fails at once (ENETUNREACH).
 */
#ifndef SLURM_K8S_NSS_CONTROL_H
#define SLURM_K8S_NSS_CONTROL_H

#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The broadcast address of the loopback network; for IPv6 the same, mapped: ::ffff:127.255.255.255. */
#define SLURM_K8S_NOWHERE 0x7fffffffu

/* Threads whose names begin with this may wait for the real answer: the engine's, and our own. */
#define SLURM_K8S_WAITING_THREAD "slurm-k8s"

/*
 * Starts serving names. `others`: `count` names that are left to the sources that follow, and to their time-outs, such
 * as those of slurm.conf; copied. `log`: printf-like, gets lines for an administrator; may be NULL, must stay callable.
 * Returns 0, or -1 when names are already served, or on failure.
 */
int slurm_k8s_names_serve(const char* const* others, unsigned long count, void (*log)(const char* format, ...));

/* A user as a client of Slurm knows them. Texts may be NULL. `groups`: ids, without the user's own group. */
struct slurm_k8s_user {
  uid_t uid;
  gid_t gid;
  const char* name;
  const char* gecos;
  const char* home;
  const char* shell;
  int group_count;
  const gid_t* groups;
};

/*
 * From now on the calling thread finds this user by id and by name, with the groups, where the sources before do not
 * have them. NULL: no user. Not copied: `user` must stay until the thread's next call.
 */
void slurm_k8s_names_user(const struct slurm_k8s_user* user);

#ifdef __cplusplus
}
#endif
#endif
