// SPDX-License-Identifier: GPL-2.0-or-later
// Predicates on a node record: what the flags of a SlurmNode mean together. Pure; any thread. Each of them is stated a
// second time in tests/unit/slurm/node_state_test.cc.
//
// "Up" has four meanings:
//   is_powered_up()   no power saving: not POWERED_DOWN, POWERING_UP, POWER_DOWN or POWERING_DOWN
//   is_registered()   so, and neither POWER_UP, DOWN nor ERROR
//   is_responding()   powered up, and neither DOWN nor NOT_RESPONDING
//   is_schedulable()  powered up, responding, IDLE or with a job, and not drained: it takes jobs
#pragma once

#include "slurm/records.hpp"

namespace slurmk8s {

// Jobs.

/** A job has all or a part of it: ALLOCATED or MIXED. */
bool is_allocated(const SlurmNode& node);
/** A job has the node, a suspended one too, or has ended there but for what is left to be done. */
bool is_busy(const SlurmNode& node);
/** IDLE, and not busy. */
bool is_idle(const SlurmNode& node);
/** Idle, and neither drained nor reserved. */
bool is_free(const SlurmNode& node);
/** A job has it, or waits for it. */
bool is_in_use(const SlurmNode& node);
/** Reserved, or slurmctld doesn't know yet what it does: it isn't to be taken out of service. */
bool must_stay(const SlurmNode& node);
/** IDLE and not powered down: a suspended job may have it, which its state doesn't say. */
bool may_have_suspended_job(const SlurmNode& node);

// Power saving.

/** Powering up (POWERING_UP), or about to be (POWER_UP). */
bool is_starting(const SlurmNode& node);
/** Powering up or down, or about to: its state is not for long. */
bool is_changing(const SlurmNode& node);
/** Starting, or powered down with a job, for which slurmctld is about to power it up. */
bool will_start(const SlurmNode& node);
/** Powered down, or going to be: the next job that gets it has it booted. */
bool is_booted_for_next_job(const SlurmNode& node);
/** Asked to go (POWER_DOWN) and not busy: SuspendProgram is about to be called. */
bool is_leaving_without_job(const SlurmNode& node);
/**
 * A power-down was requested while it powers up, and no running job has it; one that was suspended while it was
 * configured may. slurmctld gives it to no further job (make_node_idle() and update_node() take it from
 * avail_node_bitmap), and suspends it when its slurmd has registered or at ResumeTimeout.
 */
bool is_leaving_unregistered(const SlurmNode& node);
/** slurmctld waits for the node's slurmd: POWERING_UP, and nobody has asked for a power-down since. */
bool awaits_registration(const SlurmNode& node);
/**
 * `scontrol reboot`: slurmctld waits for a slurmd with a later start. No power-down was requested since. Such a node is
 * DOWN, but libslurm tells MIXED while slurmctld still counts CPUs of the job that has just ended (SHOW_MIXED).
 */
bool is_rebooting(const SlurmNode& node);
/** Powering up, or rebooting. */
bool is_booting(const SlurmNode& node);
/**
 * SuspendProgram was called for it, or it is powered down. One that is only asked to go (POWER_DOWN) isn't: its jobs
 * may run for days, and SuspendProgram comes after them.
 */
bool is_suspended(const SlurmNode& node);
/** SuspendProgram was called, no job has it: slurmctld only waits for SuspendTimeout. */
bool awaits_suspend_timeout(const SlurmNode& node);
/** SuspendProgram was called for a cloud node that no job has. Not so a drained one: a resume takes the drain back. */
bool can_finish_power_down(const SlurmNode& node);
/** A cloud node that is powered down, has no job and isn't drained: its power-down has been finished. */
bool has_finished_power_down(const SlurmNode& node);
/** Powered down, idle, and a job could be given it: the engine drains it while power-ups of its NodeSet fail. */
bool may_be_protected(const SlurmNode& node);
/** Nothing keeps it from being powered up, and it isn't already. A drained node is left alone. */
bool can_power_up(const SlurmNode& node);

// Up: see above.

bool is_powered_up(const SlurmNode& node);
bool is_registered(const SlurmNode& node);
bool is_responding(const SlurmNode& node);
bool is_schedulable(const SlurmNode& node);
/** Registered, in a state that slurmctld knows, and not drained. */
bool is_in_service(const SlurmNode& node);
/**
 * Its slurmd has registered at some time since it was powered up. What was there before slurmctld's state was saved, or
 * was just made, has no boot time; the address outlives both.
 */
bool has_ever_registered(const SlurmNode& node);
/** Whether a record that is up must have a pod. One that was just made and never registered has none yet. */
bool needs_pod(const SlurmNode& node);

// Down, drained, lost.

/** DOWN or ERROR. */
bool is_down(const SlurmNode& node);
/**
 * DOWN because of us or of ResumeTimeout, and nothing is being done about it. Not so one that slurmctld set DOWN since
 * its slurmd is silent, whatever Reason it had before.
 */
bool is_given_up(const SlurmNode& node);
/** DOWN since its slurmd doesn't answer, and not by an administrator; nothing is being done about it. */
bool is_down_for_silence(const SlurmNode& node);
/** An administrator has it down or drained. */
bool is_held_by_administrator(const SlurmNode& node);
/** The engine drained it since its pod did not go. */
bool is_drained_for_pod(const SlurmNode& node);
/** So, without a request for its power-down: the drain ends when the pod is gone. */
bool can_end_drain_for_pod(const SlurmNode& node);
/** It is powering up, or drained until its former pod has gone: its Comment tells what that waits for. */
bool is_waiting_for_pod(const SlurmNode& node);
/** The engine drained it since power-ups of its NodeSet fail. */
bool is_drained_for_protection(const SlurmNode& node);
/** The sidecar drained it for a scale-in. */
bool is_drained_for_scale_in(const SlurmNode& node);
/** Drained, and not by the sidecar for a scale-in. */
bool is_drained_but_for_scale_in(const SlurmNode& node);
/** The sidecar drained it for an update of the template. */
bool is_drained_for_update(const SlurmNode& node);
/** Going down since the sidecar updates it, drained or not. */
bool is_going_down_for_update(const SlurmNode& node);
/** The sidecar drained it for the Kubernetes node that its pod is on. */
bool is_drained_for_kube_node(const SlurmNode& node);
/** Its Reason is of a drain of ours that is over. When slurmctld drains it by itself, it keeps that. */
bool has_former_reason(const SlurmNode& node);
/**
 * Allocated, powered down, and nobody powers it up: for a moment after an allocation; or for good, when slurmctld took
 * over a state in which the node's job has ended since (it saves nodes less often than jobs). Whether there is a job is
 * to be asked.
 */
bool is_orphaned_allocation(const SlurmNode& node);
/**
 * Idle, powered down, and "not responding": a DOWN node that was resumed, by an administrator after ResumeTimeout for
 * one. slurmctld gives it to jobs until it reads its configuration again, and then to none (read_config.c:546 of
 * 24.11.5). A power-down takes the flag back.
 */
bool is_powered_down_unresponsive(const SlurmNode& node);
/**
 * slurmctld has lost it: at its start it found no address for the node, set it FUTURE and forgot what it was. From then
 * on commands take it for missing, and no other one can be made. slurmctld doesn't read such a record back when it is
 * reconfigured.
 */
bool is_lost(const SlurmNode& node);
/** The record can be deleted now without harm to anything. */
bool is_removable(const SlurmNode& node);

}  // namespace slurmk8s
