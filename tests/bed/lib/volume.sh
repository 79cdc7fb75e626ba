# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Persistent volumes for claims without a provisioner: a pool of directories on the node. They are
# `local` volumes and not `hostPath`, since only those honour a pod's fsGroup.

volume_object() {
  cat <<END
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: $1}
spec:
  storageClassName: bed
  capacity: {storage: 10Gi}
  accessModes: [ReadWriteOnce, ReadWriteMany, ReadOnlyMany]
  persistentVolumeReclaimPolicy: Retain
  local: {path: $BED_STATE/volumes/$1}
  nodeAffinity:
    required:
      nodeSelectorTerms:
      - matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [$BED_NODE]}]
END
}

volume_create_pool() {
  local number name
  for ((number = 1; number <= VOLUME_COUNT; number++)); do
    name=$(printf 'bed-%02d' "$number")
    mkdir -p "$BED_STATE/volumes/$name"
    volume_object "$name"
  done | kubectl_run apply -f - >/dev/null
}

# Volumes whose claim is gone are emptied and made available again.
volume_reset() {
  local name names
  names=$(kubectl_run get persistentvolumes \
    -o jsonpath='{range .items[?(@.status.phase=="Released")]}{.metadata.name}{"\n"}{end}')
  for name in $names; do
    rm -rf --one-file-system "$BED_STATE/volumes/$name"
    mkdir "$BED_STATE/volumes/$name"
    kubectl_run patch persistentvolume "$name" --type=json -p '[{"op": "remove", "path": "/spec/claimRef"}]' >/dev/null
    progress "volume $name: available again"
  done
}
