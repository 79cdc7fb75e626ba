# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Two controllers of a cluster with every part: users log in, submit, and use the REST API, whichever is in control.
#
# Release: two controllers with users

# shellcheck source=tests/e2e/whole_cluster.sh
source "$E2E_FOLDER/whole_cluster.sh"
# shellcheck source=tests/e2e/two_controllers.sh
source "$E2E_FOLDER/two_controllers.sh"

two_controllers_values() { # PUBLIC-KEY
  whole_cluster_values "$1"
  cat <<'END'
controller: {replicas: 2, persistence: {existingClaim: e2e-shared}}
slurm: {resumeTimeout: 300, suspendTime: 60}
END
}
install_two_controllers() {
  if has_login >/dev/null 2>&1; then return; fi
  remove_release
  shared_volume
  install_release --set controller.replicas=2,controller.persistence.existingClaim=e2e-shared
  install_login two_controllers_values ada
}

test_users_under_the_second_controller() {
  local job
  install_two_controllers
  start_work
  wait_saved
  take_first_away
  assert_all_work second
  job=$(ssh_as ada 'sbatch --parsable -N1 --wrap true')
  wait_for 120 "job $job in sacct" is_in_sacct "$job" "COMPLETED|0:0"

  bring_first_back
  assert_all_work first
  end_work
  kubectl patch statefulset slurm-controller --type=merge \
    --patch '{"spec": {"updateStrategy": {"type": "RollingUpdate"}}}' >/dev/null
}

both_have() { # ANNOTATION
  local pod
  for pod in "$CONTROLLER" "$STAND_BY"; do
    [[ $(pod_field "$pod" .metadata.annotations.e2e) == "$1" ]] || return 1
    [[ $(pod_field "$pod" '.status.conditions[?(@.type=="Ready")].status') == True ]] || return 1
  done
}
# Kubernetes recreates the second controller's pod first.
test_an_upgrade_and_a_rollback_of_two_controllers() {
  local before
  install_two_controllers
  start_work
  before=$(revision)
  copy_chart 9.9.9
  upgrade_to_copy --wait --timeout 300s
  wait_for 120 "the new chart's controllers" both_have new
  wait_for 90 "slurmctld up" controller_ready
  assert_all_work upgraded
  rollback "$before" --wait --timeout 300s
  wait_for 120 "the former chart's controllers" both_have ""
  wait_for 90 "slurmctld up" controller_ready
  assert_all_work rolled-back
  end_work
  remove_volume
}
