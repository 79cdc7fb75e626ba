# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A release with every part that the chart has, a user, and whether all parts work.

# shellcheck source=tests/e2e/login.sh
source "$E2E_FOLDER/login.sh"
# shellcheck source=tests/e2e/rest.sh
source "$E2E_FOLDER/rest.sh"
# shellcheck source=tests/e2e/accounting.sh
source "$E2E_FOLDER/accounting.sh"
# shellcheck source=tests/e2e/bridge.sh
source "$E2E_FOLDER/bridge.sh"
# shellcheck source=tests/e2e/releases.sh
source "$E2E_FOLDER/releases.sh"

SCHEDULER=whole-$NAMESPACE

whole_cluster_values() { # PUBLIC-KEY
  cat <<END
sharedHome: {existingClaim: home}
priorityClass: {enabled: true, name: $SCHEDULER, value: 7}
accounting: {enabled: true, mariadb: {resources: {requests: {memory: 64Mi}}}}
backup: {enabled: true, suspend: true}
bridge:
  enabled: true
  schedulerName: $SCHEDULER
  users: [{namespace: $NAMESPACE, uid: 2001, gid: 2001}]
login:
  enabled: true
  users:
    passwd: "ada:x:2001:2001:Ada:/home/ada:/bin/bash\n"
    group: "ada:x:2001:\n"
    authorizedKeys: {ada: "$1"}
rest:
  enabled: true
  tokens: [{user: ada, secretName: ada-token}]
END
}
install_all() { has_login >/dev/null 2>&1 || install_login whole_cluster_values ada; }

# What runs on while something is done to the cluster: ada's job, until she makes the file "go", and a pod of the
# bridge.
start_work() { # sets RUNNING_JOB, RUNNING_UID
  to_zero
  PRIVATE=$(slurm cat "$SSH_KEY")
  wait_for 60 "ada's token" has_token ada-token
  RUNNING_JOB=$(ssh_as ada 'rm -f go; sbatch --parsable -N1 --wrap "until test -e go; do sleep 0.2; done; srun true"')
  wait_job "$RUNNING_JOB" RUNNING 60
  put_pod before 'sleep 3600'
  wait_for 60 "the bridge's pod" pod_is before Running
  RUNNING_UID=$(pod_uid before)
}
# All parts work, and what ran before still does. NAME is a new pod.
assert_all_work() { # NAME
  put_key "$PRIVATE"
  wait_for 90 "ssh" can_log_in ada
  assert_equal "ada's job" "RUNNING 0" "$(job_state "$RUNNING_JOB") $(job_field "$RUNNING_JOB" Restarts)"
  assert_equal "the bridge's pod" "$RUNNING_UID Running" "$(pod_uid before) $(pod_field before .status.phase)"
  wait_for "the Slurm job of that pod" has_running_jobs before 1
  assert_equal "ada starts a job" hello "$(ssh_as ada 'srun -N1 echo hello')"
  put_pod "$1" true
  wait_for 60 "a new pod of the bridge" pod_is "$1" Succeeded
  wait_for 60 "a request" has_status 200 "$(secret_token ada-token)" GET /slurm/v0.0.42/ping/
}
end_work() {
  ssh_as ada 'touch go'
  wait_done "$RUNNING_JOB" 60
  wait_for 60 "job $RUNNING_JOB in sacct" is_in_sacct "$RUNNING_JOB" "COMPLETED|0:0"
  remove_workloads
}
