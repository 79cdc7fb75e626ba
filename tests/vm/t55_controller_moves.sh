# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The controller moves to another Kubernetes node and back, with 10,000 jobs in its state, on a volume that both nodes
# have: a folder of the bed's machine, which the virtual machine mounts by NFS.
#
# Release: vm_controller

# shellcheck source=tests/vm/lib.sh
source "$E2E_FOLDER/../vm/lib.sh"

# `bed slurm` enters containers of the bed's own Kubernetes node alone.
slurm() { kubectl exec "$CONTROLLER" -c slurmctld -- "$@"; }

JOBS=10000
PLACE=controller/$NAMESPACE # label of the Kubernetes nodes that the controller may be on

let_controller_be_on() { # NODE
  kubectl label node node1 "$VM" "$PLACE-" >/dev/null
  kubectl label --overwrite node "$1" "$PLACE=yes" >/dev/null
}

# A claim that any number of Kubernetes nodes may mount. The kubelet does not change the owner of such a folder.
make_state() { # FOLDER
  rm -rf "$1"
  mkdir -p "$1"
  chown 401:401 "$1"
  kubectl apply --filename=- >/dev/null <<JSON
{"apiVersion":"v1","kind":"List","items":[
 {"apiVersion":"v1","kind":"PersistentVolume","metadata":{"name":"$NAMESPACE-state"},"spec":{
  "accessModes":["ReadWriteMany"],"capacity":{"storage":"1Gi"},"storageClassName":"$NAMESPACE-state",
  "persistentVolumeReclaimPolicy":"Retain","hostPath":{"path":"$1","type":"Directory"}}},
 {"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"state"},"spec":{
  "accessModes":["ReadWriteMany"],"resources":{"requests":{"storage":"1Gi"}},"storageClassName":"$NAMESPACE-state"}}]}
JSON
}
remove_all() {
  "$BED" helm uninstall slurm -n "$NAMESPACE" --wait >/dev/null 2>&1 || true
  kubectl uncordon "$VM" >/dev/null 2>&1 || true
  kubectl delete pvc state --ignore-not-found >/dev/null
  kubectl delete pv "$NAMESPACE-state" --ignore-not-found >/dev/null
  kubectl label node node1 "$VM" "$PLACE-" >/dev/null 2>&1 || true
}

install_controller() { # FOLDER
  remove_release # and all claims
  make_state "$1"
  install_release --set slurm.resumeTimeout=600 --set slurm.suspendTime=900 \
    --set controller.persistence.existingClaim=state \
    --set-string "controller.podSpec.nodeSelector.$PLACE=yes" \
    --set-json "controller.podSpec.tolerations=[$TOLERATE]" \
    --set controller.extraConfMap.MaxArraySize=$((JOBS + 1)) --set controller.extraConfMap.MaxJobCount=$((2 * JOBS))
}

# Held, and each with a record of its own: an update of a task of an array makes one.
queue_jobs() {
  local job
  job=$(submit --hold --array="1-$JOBS" --wrap true)
  slurm scontrol update "jobid=${job}_[1-$JOBS]" comment=x
}
queued_jobs() { slurm sh -c 'squeue --noheader --array --states=PENDING --format=%i | wc -l'; }

is_answered_from() { # UID-OF-THE-FORMER-POD NODE
  [[ $(pod_uid "$CONTROLLER") != "$1" && $(machine_of "$CONTROLLER") == "$2" ]] && controller_ready
}
# What the user of each of them sees.
serves() { # RUNNING-JOB NODE-OF-COMPUTE
  local job
  is_job_in "$1" RUNNING || fail "job $1 is $(job_state "$1")"
  assert_equal "restarts of job $1" 0 "$(job_field "$1" Restarts)"
  assert_equal "jobs in the queue" "$JOBS" "$(queued_jobs)"
  job=$(submit -w "$2" -N1 --wrap true)
  wait_done "$job" 600
}

test_the_controller_moves_to_another_kubernetes_node() {
  local share job former begin
  trap remove_all EXIT
  start_vm
  "$BED" vm load "$VM" slurmctld sidecar
  share=$("$BED" vm share "$VM")/$NAMESPACE
  let_controller_be_on node1
  install_controller "$share"
  queue_jobs
  wait_for 120 "$JOBS jobs" has_queued
  job=$(submit -w compute-0 -N1 --wrap 'sleep 3600')
  wait_job "$job" RUNNING 90

  let_controller_be_on "$VM"
  former=$(pod_uid "$CONTROLLER")
  begin=$(now_ms)
  kubectl delete pod "$CONTROLLER" --wait=false >/dev/null
  wait_for 600 "slurmctld up on $VM" is_answered_from "$former" "$VM"
  echo "# to $VM, which is emulated: slurmctld answered $(($(now_ms) - begin)) ms after its pod was deleted"
  serves "$job" compute-1

  let_controller_be_on node1
  former=$(pod_uid "$CONTROLLER")
  begin=$(now_ms)
  kubectl drain "$VM" --ignore-daemonsets --delete-emptydir-data \
    --pod-selector=app.kubernetes.io/name=slurmctld >/dev/null
  wait_for 300 "slurmctld up on node1" is_answered_from "$former" node1
  echo "# back to node1: slurmctld answered $(($(now_ms) - begin)) ms after kubectl drain $VM began"
  serves "$job" compute-2
}
has_queued() { (($(queued_jobs) == JOBS)); }
