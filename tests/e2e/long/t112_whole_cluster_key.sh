# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Another slurm.key of a cluster with every part, as docs/admin/rest.md has it: a job of a user and a pod of the bridge
# run meanwhile, and after each step users log in, submit and ask.
#
# Alone: all
# Release: whole-cluster

# shellcheck source=tests/e2e/whole_cluster.sh
source "$E2E_FOLDER/whole_cluster.sh"
# shellcheck source=tests/e2e/keys.sh
source "$E2E_FOLDER/keys.sh"

# Step 3 of the docs, whose words are these.
restart_daemons() {
  slurm scontrol reconfigure
  kubectl delete pod slurm-accounting-0 >/dev/null
  kubectl rollout restart statefulset slurm-login >/dev/null
  wait_for "slurmctld up" controller_ready
  wait_for 120 "slurmdbd" has_slurmdbd
  kubectl rollout status statefulset slurm-login --timeout 120s >/dev/null
}
is_login_key() { cmp -s "$KEYS_FILE" <(kubectl exec slurm-login-0 -c sackd -- cat /run/slurm-k8s/key/slurm.key); }
have_parts_the_keys() {
  controller_has_keys && is_login_key &&
    cmp -s "$KEYS_FILE" <(kubectl exec slurm-accounting-0 -c slurmdbd -- cat /run/slurm-k8s/key/slurm.key)
}
# Idle nodes may go meanwhile, with their pods.
has_keys_or_is_gone() { node_has_keys "$1" || [[ $(pods) != *"$1"* ]]; }
change_all() { # NAME=BASE64…
  local node
  put_keys "$@"
  wait_for 180 "the parts have the keys" have_parts_the_keys
  for node in $(pods); do wait_for 180 "$node has the keys" has_keys_or_is_gone "$node"; done
  restart_daemons
}
# As the docs count them.
pods_with_the_former_secret() {
  local objects
  objects=$(kubectl get pods -l slurm-k8s.io/node -o json) && grep -c '"secretName": "slurm-key"' <<<"$objects"
}
job_by_rest() { # JOB: its id, as slurmrestd has it from slurmdbd
  local token
  token=$(secret_token ada-token)
  api_field jobs.0.job_id "$token" GET "/slurmdb/$(api_version "$token")/job/$1"
}
is_by_rest() { [[ $(job_by_rest "$1") == "$1" ]]; } # JOB
# slurmdbd has its former records after a start with the new key alone, and records new jobs.
assert_slurmdbd_works() { # FORMER-JOB
  local job
  kubectl delete pod slurm-accounting-0 >/dev/null
  wait_for 120 "slurmdbd" has_slurmdbd
  wait_for 60 "the former job $1 in sacct" is_in_sacct "$1" "COMPLETED|0:0"
  job=$(ssh_as ada 'sbatch --parsable --wait --output=/dev/null -N1 --wrap true')
  wait_for 60 "job $job in sacct" is_in_sacct "$job" "COMPLETED|0:0"
  wait_for 60 "job $job by REST" is_by_rest "$job"
}
has_no_former_secret() { [[ $(pods_with_the_former_secret) == 0 ]]; }

test_another_slurm_key_of_a_whole_cluster() {
  local old new
  needs_slurm 24.05
  install_all
  KEYS_FILE=$(mktemp)
  old=$(kubectl get secret slurm-key -o jsonpath='{.data.slurm\.key}')
  new=$(head -c 1024 /dev/urandom | base64 -w 0)
  start_work
  put_keys "$OLD_KEY=$old" "$NEW_KEY=$new"
  "$BED" helm upgrade slurm "$CHART" -n "$NAMESPACE" --reuse-values --set slurmKey.existingSecret=slurm-keys \
    --wait --timeout 300s >/dev/null
  wait_for 60 "slurmctld up" controller_ready
  assert_all_work both
  # Step 2: its pod has the former Secret until the job is over.
  (($(pods_with_the_former_secret) > 0)) || fail "no pod with the plain key"
  end_work
  wait_for 90 "no pod with the plain key" has_no_former_secret
  start_work
  change_all "$NEW_KEY=$new" "$OLD_KEY=$old"
  assert_all_work signed-by-new
  change_all "$NEW_KEY=$new"
  assert_all_work new-alone
  end_work
  assert_slurmdbd_works "$RUNNING_JOB"
  rm "$KEYS_FILE"
}
