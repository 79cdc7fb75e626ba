# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# PowerAction of Slurm 26.05 whose programs are slurm-k8s's: by scontrol, and in place of ResumeProgram.
#
# Release: power-action

PROGRAMS=/usr/libexec/slurm-k8s
power_action_values() {
  cat <<END
controller:
  extraConf: |
    PowerAction=pods-up Location=slurmctld Program="$PROGRAMS/slurm-k8s-resume"
    PowerAction=pods-down Location=slurmctld Program="$PROGRAMS/slurm-k8s-suspend"
    ResumeProgram=pods-up
END
}
enable_power_action() {
  needs_slurm 26.05
  if slurm grep -q '^ResumeProgram=pods-up' /etc/slurm/slurm.conf; then return; fi
  "$BED" helm upgrade slurm "$E2E_FOLDER/../../helm/slurm" -n "$NAMESPACE" "${VALUES[@]}" -f <(power_action_values) \
    --wait --timeout 180s >/dev/null
  wait_for 60 "slurmctld up" controller_ready
}
is_renewed() { [[ $(pod_uid "$1") != "$2" ]] && node_is_up "$1"; } # NODE UID

test_a_power_action_makes_and_deletes_a_pod() {
  local uid
  enable_power_action
  slurm scontrol power up compute-0 action=pods-up
  wait_for 90 "the node is up" node_is_up compute-0
  uid=$(pod_uid compute-0)
  assert_equal "a job's host" compute-0 "$(slurm srun -w compute-0 hostname)"
  slurm scontrol reboot compute-0 action=pods-up nextstate=resume reason=e2e
  wait_for 120 "another pod" is_renewed compute-0 "$uid"
  slurm scontrol power down compute-0 action=pods-down
  wait_for 60 "no pod" has_no_pod compute-0
}

test_a_job_from_zero_by_a_power_action() {
  local job
  enable_power_action
  assert_equal "ResumeProgram" pods-up "$(slurm scontrol show config | sed -nE 's/^ResumeProgram += //p')"
  job=$(submit -N2 --wrap 'srun hostname')
  wait_done "$job" 120
}
