// SPDX-License-Identifier: GPL-2.0-or-later
// Requests of sbcast: keeps slurmctld from releasing a lock twice, and lets users whom it does not know use sbcast.
//
// _slurm_rpc_job_sbcast_cred() of Slurm 24.05 to 25.11 (src/slurmctld/proc_req.c) releases its locks, and again when no
// credential could be made: for a step that is not there, or a user without a name in slurmctld. After that no thread
// gets the job write lock any more: slurmctld answers nothing, for good. Any user of sbcast could do that. 26.05
// releases them once, and takes the user from the job. This mends 24.11, whose structures it knows.
//
// A request is tried first, with Slurm's own functions under its locks. If a credential can be made, Slurm's function
// gets the request, for the whole job: a step may end meanwhile, and a copy for all nodes of the job serves the step.
#pragma once

namespace slurmk8s {

/** In slurmctld: its requests of sbcast come here first. Before it takes requests. No effect in other versions. */
void mend_sbcast();

/** Slurm's own function answers again. */
void restore_sbcast();

}  // namespace slurmk8s
