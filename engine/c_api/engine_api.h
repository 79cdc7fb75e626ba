/* SPDX-License-Identifier: GPL-2.0-or-later */
/* C interface of libslurm_k8s_engine.so: one engine per slurmctld, shared by the plugins that are loaded in it. */
#ifndef SLURM_K8S_ENGINE_API_H
#define SLURM_K8S_ENGINE_API_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SLURM_K8S_LOCKED_CALLS 4
#define SLURM_K8S_LOCK_BUCKETS 11

/* For how long calls had Slurm's locks, by call; calls and bounds of the buckets: lib/control/lock_times.hpp. */
struct slurm_k8s_lock_times {
  size_t size; /* sizeof(struct slurm_k8s_lock_times) of who asks */
  struct {
    uint64_t counts[SLURM_K8S_LOCK_BUCKETS]; /* of each bucket alone, the one without a bound last */
    double sum;                              /* seconds */
  } calls[SLURM_K8S_LOCKED_CALLS];
};

/* A job of slurm-k8s-bridge. */
struct slurm_k8s_pod_job {
  uint32_t id;
  const char* nodes; /* hostlist: where pods of it are, or may be soon; empty: nowhere; NULL: it is no more */
  const char* over;  /* the same for pods of a job that had this id, and is over or unknown; the nodes are not free */
};

/*
 * What the engine uses of the plugin that loads it. What the first user gives is valid until the last release. Plugin
 * and library may be of different builds while a package is upgraded: then the sizes differ, and nothing is read. A
 * change of what a member means needs another size, too.
 */
struct slurm_k8s_host {
  size_t size; /* sizeof(struct slurm_k8s_host) of the plugin; first in every build */
  /* Takes one line for slurmctld's log; level 0 error, 1 warning, 2 info, 3 debug. Any thread. */
  void (*log)(int level, const char* line);
  /*
	 * Whether slurmctld is in control, and not a stand-by: only then the engine acts. NULL: always. The engine's thread
	 * only, about once a second; may read a file.
	 */
  int (*in_control)(void);
  /*
   * Writes for how long our calls had Slurm's locks. Returns 0; or -1, and writes nothing, when `times->size` is not
   * that of the plugin's build. NULL: unknown. The engine's thread only.
   */
  int (*lock_times)(struct slurm_k8s_lock_times* times);
  /*
	 * Has slurmctld's power-save thread look for nodes to power up or down as soon as it can, and not up to a second
	 * later. NULL: it can't be woken. The engine's thread only; returns at once.
	 */
  void (*wake_power_save)(void);
  /*
	 * Has slurmctld look for jobs to start now, and not when its next second begins. NULL: it can't be. The engine's
	 * thread only; returns at once.
	 */
  void (*wake_scheduler)(void);
  /*
   * Takes jobs of the bridge that are new, have changed or are no more, each once, and copies them. From then on a
   * launch waits while pods of jobs that are over are on its nodes. Returns the number of this change, larger than any
   * before; slurm_k8s_engine_report_pod_jobs() follows. 0: nothing was taken, since slurmctld is starting or ending, or
   * has forgotten the jobs; then all have to be told.
   * `is_all`: these are all jobs, and the report is to be about all of them. NULL: the plugin can't do it. The engine's
   * thread only; returns at once.
   */
  uint64_t (*set_pod_jobs)(const struct slurm_k8s_pod_job* jobs, size_t count, int is_all);
  size_t pod_job_size; /* sizeof(struct slurm_k8s_pod_job) of the plugin */
  /*
   * Has slurmctld ask the slurmd of a node to register once more. Nothing happens when slurmctld is ending. NULL: it
   * can't. The engine's thread only; returns at once.
   */
  void (*ask_registration)(const char* node);
  /*
   * Whether slurmctld was not there before it started, and has not only read its configuration again. Then lost nodes
   * are told to it some seconds later, since it may hear that their jobs have ended. NULL: it was there. The engine's
   * thread only.
   */
  int (*was_away)(void);
};

#define SLURM_K8S_OTHER_BUILD (-2)

/*
 * Starts the engine, or counts one more user of the one that runs. Only in slurmctld, with none of its locks held.
 * Returns 0; -1 when slurm-k8s.conf is wrong, which is then in the log; or SLURM_K8S_OTHER_BUILD when `host->size` is
 * another one, and then nothing else of `host` is read. Without an engine resumes are done by the programs.
 */
int slurm_k8s_engine_acquire(const struct slurm_k8s_host* host);

/*
 * Ends it with its last user: waits for a call to slurmctld that is under way. More releases than acquires: no effect.
 */
void slurm_k8s_engine_release(void);

/* Seconds after which a launch is given up (LaunchTimeout), valid while acquired. */
long slurm_k8s_engine_launch_timeout(void);

/* Whether slurmctld's power saving is to be woken when a job waits for nodes (WakePowerSave), valid while acquired. */
int slurm_k8s_engine_wakes_power_save(void);

/* Whether slurm-k8s-bridge is beside this slurmctld (Bridge), valid while acquired. */
int slurm_k8s_engine_has_bridge(void);

/* Whether a job of the bridge runs: it has been launched and has not ended. */
struct slurm_k8s_pod_job_state {
  uint32_t id;
  int running;
};

/*
 * Of the jobs that set_pod_jobs() has given `number` and those before: the ones that are new, that are on other nodes
 * or whose state has changed. While acquired; any thread; not under Slurm's locks.
 */
void slurm_k8s_engine_report_pod_jobs(uint64_t number, const struct slurm_k8s_pod_job_state* states, size_t count);

/*
 * Variants of NodeSets, which jobs choose by --constraint. These may be called under Slurm's locks, from any thread,
 * and without the engine: what they say is then what was last known. All texts are copied and end with a NUL byte.
 */

/* Where what is known is kept over a restart: StateSaveLocation. Reads a file; not under Slurm's locks. */
void slurm_k8s_variants_open(const char* folder);

/* Once for each open: the last one frees what is in memory. */
void slurm_k8s_variants_close(void);

/* Whether a feature is a variant. */
int slurm_k8s_variants_has(const char* feature);

/* The user of a job, for slurm_k8s_variants_judge(). */
struct slurm_k8s_applicant {
  unsigned int uid;
  const char* account; /* NULL: the user's default one */
  int is_operator;     /* root, SlurmUser: may ask for every variant */
};

/*
 * What becomes of a constraint. -1: it is refused, and `text` says why. 1: slurmctld gets `settled` instead, since it
 * has alternatives with variants; 0: it stays as it is. With both `text` may say what there is, when no NodeSet fulfils
 * the constraint; whether other nodes do is slurmctld's to say. `applicant` NULL: any user; nothing is settled then,
 * and `settled` may be NULL. `settled` needs a byte more than the constraint.
 */
int slurm_k8s_variants_judge(const char* constraint, const struct slurm_k8s_applicant* applicant, char* settled,
                             unsigned int settled_size, char* text, unsigned int size);

/*
 * The variant that `nodes` (a hostlist) get for a constraint, in `text`; empty: none. 0; or 1 when it depends on the
 * nodes and `nodes` is NULL.
 */
int slurm_k8s_variants_choose(const char* constraint, const char* nodes, char* text, unsigned int size);

#ifdef __cplusplus
}
#endif
#endif
