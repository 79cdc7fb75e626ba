# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What the fault tests share: jobs that leave proof of each of their runs, faults, and the check after.
#
# Jobs write into a folder of the machine (tests/soak/job.sh), which the NodeSet mounts: it outlives pods, and can be
# read while the API server is away.

SOAK_FOLDER=$E2E_FOLDER/../soak
BED_STATE_FOLDER=$(dirname "$(dirname "$("$BED" kubeconfig)")")
LEDGER=$BED_STATE_FOLDER/ledger-$NAMESPACE
echo "$LEDGER" >"$WORK/ledger-$WORKER" # for keep_logs

# A node whose file /ledger/hold-NAME exists has its pod running but no slurmd yet.
prepare_ledger() {
  allow_privileged # for hostPath
  mkdir -p "$LEDGER"
  chmod 1777 "$LEDGER"
  # Files that clock.sh's processes have mapped stay the same ones.
  find "$LEDGER" -mindepth 1 ! -name 'clock-*' -delete
  cp "$SOAK_FOLDER/job.sh" "$LEDGER/"
  # shellcheck disable=SC2016 # the container's own variable
  kubectl patch nodesets.slurm-k8s.io compute --type=merge --patch '{"spec": {
    "slurmd": {
      "command": ["bash", "-c",
        "while [[ -e /ledger/hold-$SLURMD_NODENAME ]]; do sleep 0.1; done; exec tini -- slurmd-entrypoint"],
      "volumeMounts": [{"name": "ledger", "mountPath": "/ledger"}, {"name": "scratch", "mountPath": "/scratch"}]},
    "template": {"spec": {"volumes": [
      {"name": "scratch", "emptyDir": {"medium": "Memory"}},
      {"name": "ledger", "hostPath": {"path": "'"$LEDGER"'", "type": "Directory"}}]}}}}' >/dev/null
}

# Jobs.

unique() { echo "$1-$(now_ms)"; }
# start_job NAME "VARIABLES of job.sh" SBATCH-OPTION…: prints the job's id.
start_job() { submit --job-name="$1" "${@:3}" --wrap "$2 exec bash /ledger/job.sh"; }
stop_job() { touch "$LEDGER/stop-$1"; }
has_run() { grep -q ' start' "$LEDGER/$1" 2>/dev/null; }
has_beaten() { [[ $(grep -c ' beat' "$LEDGER/$1" 2>/dev/null) -ge $2 ]]; }

# settle SINCE LIMIT [OPTION…] NAME…: the shared check of all invariants (tests/soak/settle). SINCE: ms, end of the
# fault.
settle() {
  "$SOAK_FOLDER/settle" --ledger "$LEDGER" --since "$(($1 / 1000))" --limit "$2" "${@:3}"
}

# Nodes and pods.

pods_are_many() { (($(pod_count) >= $1)); }
# Of the pods of all 8 nodes: one is being deleted, or gone already, which takes less than two seconds.
is_pod_going() {
  local pods
  pods=$(kubectl get pods -l slurm-k8s.io/node \
    -o jsonpath='{.items[*].metadata.deletionTimestamp}{"/"}{.items[*].kind}')
  [[ ${pods%/*} || $(wc -w <<<"${pods#*/}") -lt 8 ]]
}
hold_slurmd() { touch "${@/#/$LEDGER/hold-}"; }
release_slurmd() { rm -f "$LEDGER"/hold-*; }
power_down() { slurm scontrol update "nodename=$1" state=power_down; }

# Where slurmctld's state is on this machine.
volume_of_state() {
  local claim volume
  claim=$(kubectl get pod "$CONTROLLER" \
    -o jsonpath='{.spec.volumes[?(@.name=="state")].persistentVolumeClaim.claimName}')
  volume=$(kubectl get pvc "$claim" -o jsonpath='{.spec.volumeName}')
  kubectl get pv "$volume" -o jsonpath='{.spec.local.path}'
}

# Kills slurmctld and gives it an older state. The kubelet is stopped meanwhile, so that it does not start it again.
go_back_to() { # COPY VOLUME
  local before
  before=$(container_field slurmctld restartCount)
  "$BED" fault stop kubelet
  "$BED" fault kill "$CONTROLLER/slurmctld"
  find "$2" -mindepth 1 -delete
  cp --archive "$1/." "$2/"
  "$BED" fault start kubelet 2>/dev/null
  wait_for 120 "slurmctld restarted" container_is_back slurmctld "$before"
  wait_for 60 "slurmctld up" controller_ready
}

# Faults. Each returns when what it broke serves again.

kill_slurmctld() {
  kill_container slurmctld
  wait_for 60 "slurmctld up" controller_ready
}
kill_sidecar() { kill_container sidecar; }
cluster_answers() { kubectl exec "$CONTROLLER" -c slurmctld -- true && controller_ready; }
restart_component() { # NAME SECONDS between
  "$BED" fault kill "$1" 2>/dev/null
  sleep "$2"
  "$BED" fault start "$1" 2>/dev/null
  wait_for 120 "the cluster answers" cluster_answers
}
kill_api_server() { restart_component kube-apiserver 5; }
kill_etcd() { restart_component etcd 5; }
kill_kubelet() { restart_component kubelet 10; }

# A pod of its own for slurmctld, so that the kubelet doesn't count earlier kills and wait with the restart.
fresh_controller() {
  local uid
  uid=$(pod_uid "$CONTROLLER")
  kubectl delete pod "$CONTROLLER" >/dev/null
  is_another_controller() { [[ $(pod_uid "$CONTROLLER") != "$uid" ]] && controller_ready; }
  wait_for 120 "another controller pod" is_another_controller
}

prepare_ledger
