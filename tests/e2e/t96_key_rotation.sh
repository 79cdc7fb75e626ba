# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Another slurm.key, as docs/admin/rest.md has it: by a Secret with two keys, while a job runs.
#
# Release: key

# shellcheck source=tests/e2e/keys.sh
source "$E2E_FOLDER/keys.sh"

# A Secret's files reach pods within about a minute.
change_keys() { # NODE NAME=BASE64…
  put_keys "${@:2}"
  wait_for 150 "slurmctld's container has the keys" controller_has_keys
  wait_for 150 "the node's pod has the keys" node_has_keys "$1"
  slurm scontrol reconfigure
  wait_for "slurmctld up" controller_ready
}

test_another_slurm_key_while_a_job_runs() {
  local old new job node uid
  needs_slurm 24.05
  KEYS_FILE=$(mktemp)
  old=$(kubectl get secret slurm-key -o jsonpath='{.data.slurm\.key}')
  new=$(head -c 1024 /dev/urandom | base64 -w 0)
  job=$(submit -n1 --mem=64 -w compute-0 --wrap "sleep 600; srun true")
  wait_job "$job" RUNNING 60
  # A pod with the plain key beside a slurmctld with both.
  put_keys "$OLD_KEY=$old" "$NEW_KEY=$new"
  "$BED" helm upgrade slurm "$E2E_FOLDER/../../helm/slurm" -n "$NAMESPACE" "${VALUES[@]}" \
    --set slurmKey.existingSecret=slurm-keys --wait --timeout 180s >/dev/null
  wait_for 60 "slurmctld up" controller_ready
  slurm srun -n1 --mem=64 -w compute-0 true
  assert_equal "the job" RUNNING "$(job_state "$job")"
  slurm scancel "$job"
  wait_for 60 "no pod with the plain key" has_pod_count 0
  node=compute-1
  job=$(submit -n1 --mem=64 -w "$node" --wrap "until [ -e /tmp/go ]; do sleep 1; done; srun true")
  wait_job "$job" RUNNING 60
  uid=$(pod_uid "$node")
  change_keys "$node" "$NEW_KEY=$new" "$OLD_KEY=$old"
  slurm srun -n1 --mem=64 -w "$node" true
  change_keys "$node" "$NEW_KEY=$new"
  slurm srun -n1 --mem=64 -w "$node" true
  slurm srun -N1 -w compute-2 true
  # The job began with the old key.
  slurm srun --jobid="$job" --overlap touch /tmp/go
  wait_done "$job" 60
  assert_equal "its pod" "$uid" "$(pod_uid "$node")"
  rm "$KEYS_FILE"
}
