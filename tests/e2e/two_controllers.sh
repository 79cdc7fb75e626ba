# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A volume that two controllers share, for controller.persistence.existingClaim=e2e-shared: a folder of the machine.

BED_STATE_FOLDER=$(dirname "$(dirname "$("$BED" kubeconfig)")")
SHARED=$BED_STATE_FOLDER/shared-state-$NAMESPACE
VOLUME=$NAMESPACE-e2e-shared

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
