# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Two controllers, the volume that they share for controller.persistence.existingClaim=e2e-shared (a folder of the
# machine), and which of them is asked.

BED_STATE_FOLDER=$(dirname "$(dirname "$("$BED" kubeconfig)")")
SHARED=$BED_STATE_FOLDER/shared-state-$NAMESPACE
VOLUME=$NAMESPACE-e2e-shared

# shellcheck disable=SC2034 # of the tests
STAND_BY=slurm-controller-1

# slurmctld's commands, in the pod that $ASK names.
slurm() { kubectl exec -i "${ASK:-$CONTROLLER}" -c slurmctld -- "$@"; }

# A controller's pod that is created from now on finds no Kubernetes node; those that are there stay.
place_controllers() { # NODE-SELECTOR
  kubectl patch statefulset slurm-controller --type=merge --patch '{"spec": {
    "updateStrategy": {"type": "OnDelete", "rollingUpdate": null},
    "template": {"spec": {"nodeSelector": '"$1"'}}}}' >/dev/null
}

has_control() { # POD SINCE SECONDS: it is asked from now on
  wait_for "$3" "$1 has control" logged_since "$2" "$1" "Running as primary"
  ASK=$1
  wait_for 60 "its engine" logged_since "$2" "$1" "engine started"
}
# slurmctld is killed, and its pod stays away.
take_first_away() {
  local since
  place_controllers '{"e2e": "nowhere"}'
  since=$(now_ms)
  "$BED" fault kill "$CONTROLLER/slurmctld"
  kubectl delete pod "$CONTROLLER" --force --grace-period=0 >/dev/null 2>&1
  has_control "$STAND_BY" "$since" 150
}
bring_first_back() {
  local since
  place_controllers null
  since=$(now_ms)
  kubectl delete pod "$CONTROLLER" >/dev/null
  has_control "$CONTROLLER" "$since" 120
}

shared_volume() {
  kubectl delete pv "$VOLUME" --ignore-not-found >/dev/null
  rm -rf "$SHARED"
  install --directory --owner=401 --group=401 "$SHARED"
  kubectl apply --filename=- >/dev/null <<END
apiVersion: v1
kind: PersistentVolume
metadata: {name: $VOLUME}
spec:
  capacity: {storage: 1Gi}
  accessModes: [ReadWriteMany]
  storageClassName: $VOLUME
  hostPath: {path: $SHARED, type: Directory}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: e2e-shared}
spec:
  resources: {requests: {storage: 1Gi}}
  accessModes: [ReadWriteMany]
  storageClassName: $VOLUME
END
}
remove_volume() {
  kubectl delete pv "$VOLUME" --wait=false >/dev/null
  kubectl delete pvc e2e-shared --wait=false >/dev/null
}
