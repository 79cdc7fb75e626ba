# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# B7, B9: the bridge where slurmctld enforces associations, limits and QOS: pods have the user, the account and the
# limits of a job of sbatch.
#
# Release: bridge-limits

# shellcheck source=tests/e2e/accounting.sh
source "$E2E_FOLDER/accounting.sh"
# shellcheck source=tests/e2e/bridge.sh
source "$E2E_FOLDER/bridge.sh"

SCHEDULER=slurm-k8s-bridge-limits # bridges with one name would answer each other's pods
URGENT=urgent-$NAMESPACE          # a PriorityClass, which is of the whole cluster
# slurmctld's image knows neither of the users.
bridge_values() {
  cat <<END
bridge:
  enabled: true
  schedulerName: $SCHEDULER
  users:
    - {namespace: $NAMESPACE, serviceAccount: trainer, user: ada, uid: 2101, gid: 2101, account: research, allow: [qos]}
    - {namespace: $NAMESPACE, serviceAccount: stranger, user: bob, uid: 2102, gid: 2102}
  priorityClasses: [{name: $URGENT, qos: urgent}]
END
}
TRAINER='"serviceAccountName": "trainer",'
SINGLE=', "annotations": {"job.slurm-k8s.io/qos": "single"}'

enable_limits() {
  local name
  if has_bridge >/dev/null 2>&1; then return; fi
  for name in trainer stranger; do
    kubectl create serviceaccount "$name" --dry-run=client -o json | kubectl apply -f - >/dev/null
  done
  enable_accounting -f <(bridge_values)
  slurm sacctmgr --immediate add account research >/dev/null
  slurm sacctmgr --immediate add user ada account=research >/dev/null
  slurm sacctmgr --immediate add qos single set MaxJobsPerUser=1 >/dev/null
  slurm sacctmgr --immediate add qos urgent set priority=100 >/dev/null
  slurm sacctmgr --immediate modify user ada set qos+=single,urgent >/dev/null
}
state_in_sacct() { sacct_of "$1" State,ExitCode; }
has_state_in_sacct() { [[ $(state_in_sacct "$1") == "$2" ]]; }

test_a_pod_runs_as_its_user_and_account() {
  local job
  enable_limits
  put_pod mine true '' "$TRAINER"
  wait_for 120 "it ran" pod_is mine Succeeded
  job=$(pod_job mine)
  wait_for 60 "job $job in sacct" is_in_sacct "$job" "COMPLETED|0:0"
  assert_equal "user, account" "ada|research" "$(sacct_of "$job" User,Account)"
  kubectl delete pod mine >/dev/null
}

test_limits_hold_pods() {
  enable_limits
  put_pod first 'sleep 600' "$SINGLE" "$TRAINER"
  wait_for 90 "it runs" pod_is first Running
  put_pod second true "$SINGLE" "$TRAINER"
  wait_for "the QOS holds it" describe_says second ': QOSMaxJobsPerUserLimit'
  pod_is second Pending || fail "it runs all the same"
  slurm sacctmgr --immediate modify account research set GrpTRES=cpu=1 >/dev/null
  put_pod third true '' "$TRAINER"
  wait_for "the account holds it" describe_says third ': AssocGrpCpuLimit'
  # Another slurmctld knows the jobs' users from the jobs alone.
  slurm scontrol reconfigure
  wait_for 60 "slurmctld up" controller_ready
  kubectl delete pod first >/dev/null
  wait_for 90 "the second ran" pod_is second Succeeded
  wait_for 90 "the third ran" pod_is third Succeeded
  slurm sacctmgr --immediate modify account research set GrpTRES=cpu=-1 >/dev/null
  kubectl delete pod second third >/dev/null
}

test_a_user_without_an_association_waits() {
  local words='Invalid account or account/partition combination specified'
  enable_limits
  put_pod stranger true '' '"serviceAccountName": "stranger",'
  wait_for "Slurm's words" describe_says stranger "$words"
  has_event stranger SlurmJobRefused "slurm: $words" || fail "another event: $(kubectl describe pod stranger)"
  assert_equal "jobs" "" "$(slurm squeue -h)"
  slurm sacctmgr --immediate add user bob account=research >/dev/null
  wait_for 120 "it ran when it had one" pod_is stranger Succeeded
  wait_for 60 "its user in sacct" is_of_user "$(pod_job stranger)" "bob|research"
  kubectl delete pod stranger >/dev/null
}
is_of_user() { [[ $(sacct_of "$1" User,Account) == "$2" ]]; } # JOB USER|ACCOUNT

test_a_priority_class_is_a_qos() {
  enable_limits
  kubectl create priorityclass "$URGENT" --value=1000 >/dev/null
  trap 'kubectl delete priorityclass "$URGENT" >/dev/null' EXIT
  put_pod urgent 'sleep 600' '' "$TRAINER \"priorityClassName\": \"$URGENT\","
  wait_for 90 "it runs" pod_is urgent Running
  assert_equal "QOS" urgent "$(slurm squeue -h -j "$(pod_job urgent)" -o %q)"
  kubectl delete pod urgent >/dev/null
}

# B7. The pod that is evicted ends as kubelet ends pods: the bed's evicts none.
test_ends_of_pods_in_sacct() {
  local job
  enable_limits
  put_pod fails 'exit 3' '' "$TRAINER"
  # containerd sees the OOM killer from some moments after the start on.
  put_pod eats 'sleep 3; tail /dev/zero' '' "$TRAINER"
  put_pod deleted 'sleep 600' '' "$TRAINER"
  put_pod begins true '' "$TRAINER \"initContainers\": [{\"name\": \"init\",
    \"image\": \"localhost/slurm-k8s/slurmd:$IMAGE_TAG\", \"command\": [\"sh\", \"-c\", \"exit 7\"]}],"
  wait_for 90 "its init container has failed" pod_is begins Failed
  job=$(pod_job begins)
  wait_for 60 "job $job" has_state_in_sacct "$job" "FAILED|7:0"
  put_pod evicted 'sleep 600' '' "$TRAINER"
  wait_for 90 "it runs" pod_is evicted Running
  job=$(pod_job evicted)
  kubectl patch pod evicted --subresource=status --patch '{"status": {"phase": "Failed", "reason": "Evicted",
    "message": "The node was low on resource: memory."}}' >/dev/null
  wait_for 60 "job $job" has_state_in_sacct "$job" "FAILED|1:0"

  wait_for 90 "it has failed" pod_is fails Failed
  job=$(pod_job fails)
  wait_for 60 "job $job" has_state_in_sacct "$job" "FAILED|3:0"
  wait_for 90 "it has no memory" pod_is eats Failed
  job=$(pod_job eats)
  wait_for 60 "job $job" has_state_in_sacct "$job" "OUT_OF_MEMORY|0:125"
  wait_for 90 "it runs" pod_is deleted Running
  job=$(pod_job deleted)
  kubectl delete pod deleted >/dev/null
  ended_as_cancelled() { [[ $(state_in_sacct "$job") == "CANCELLED"*"|0:"* ]]; }
  wait_for 60 "job $job" ended_as_cancelled
  kubectl delete pod begins evicted fails eats --ignore-not-found >/dev/null
}
