/* SPDX-License-Identifier: GPL-2.0-or-later */
/* C interface of libslurm_k8s_engine.so: one engine per slurmctld, shared by the plugins that are loaded in it. */
#ifndef SLURM_K8S_ENGINE_API_H
#define SLURM_K8S_ENGINE_API_H

#ifdef __cplusplus
extern "C" {
#endif

/* What the engine uses of the plugin that loads it. What the first user gives is valid until the last release. */
struct slurm_k8s_host {
	/* Takes one line for slurmctld's log; level 0 error, 1 warning, 2 info, 3 debug. Any thread. */
	void (*log)(int level, const char *line);
	/*
	 * Whether slurmctld is in control, and not a stand-by: only then the engine acts. NULL: always. The engine's thread
	 * only, about once a second; may read a file.
	 */
	int (*in_control)(void);
	/* Copies how long our calls had Slurm's locks into a slurmk8s::LockTimes; NULL: unknown. The engine's thread only. */
	void (*lock_times)(void *times);
};

/*
 * Starts the engine, or counts one more user of the one that runs. Only in slurmctld, with none of its locks held.
 * Returns 0; or -1 when slurm-k8s.conf is wrong, which is then in the log: resumes are then done by the programs.
 */
int slurm_k8s_engine_acquire(const struct slurm_k8s_host *host);

/* Ends it with its last user: waits for a call to slurmctld that is under way. More releases than acquires: no effect. */
void slurm_k8s_engine_release(void);

/* Seconds after which a launch is given up (LaunchTimeout), valid while acquired. */
long slurm_k8s_engine_launch_timeout(void);

/* Whether slurmctld's power saving is to be woken when a job waits for nodes (WakePowerSave), valid while acquired. */
int slurm_k8s_engine_wakes_power_save(void);

#ifdef __cplusplus
}
#endif
#endif
