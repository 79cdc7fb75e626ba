# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The mount namespace of a further bed (BED_NUMBER). All kubelets and containerds of a machine write to some folders
# that no setting changes: a further bed has its own ones in their place, in memory.

MOUNT_NAMESPACE_FOLDER=/run/$BED_CGROUP
MOUNT_NAMESPACE_FILE=$MOUNT_NAMESPACE_FOLDER/mounts
MOUNT_NAMESPACE_PRIVATE=(/run/containerd /var/lib/cni /var/lib/kubelet /var/log/containers)

mount_namespace_exists() {
  [[ $(stat -f -c %T "$MOUNT_NAMESPACE_FILE" 2>/dev/null) == nsfs ]]
}

mount_namespace_is_ours() {
  mount_namespace_exists && [[ $(stat -L -c %i /proc/self/ns/mnt) == "$(stat -L -c %i "$MOUNT_NAMESPACE_FILE")" ]]
}

mount_namespace_run() {
  nsenter --mount="$MOUNT_NAMESPACE_FILE" --wd="$PWD" -- "$@"
}

# A namespace can be kept in a file of a private mount alone.
mount_namespace_create() {
  local folder
  mkdir -p "$MOUNT_NAMESPACE_FOLDER"
  mount --bind "$MOUNT_NAMESPACE_FOLDER" "$MOUNT_NAMESPACE_FOLDER"
  mount --make-private "$MOUNT_NAMESPACE_FOLDER"
  for folder in "${MOUNT_NAMESPACE_PRIVATE[@]}"; do
    [[ -d $folder ]] || printf '%s\n' "$folder"
    mkdir -p "$folder"
  done >"$MOUNT_NAMESPACE_FOLDER/made"
  touch "$MOUNT_NAMESPACE_FILE"
  unshare --mount="$MOUNT_NAMESPACE_FILE" --propagation private true
  for folder in "${MOUNT_NAMESPACE_PRIVATE[@]}"; do mount_namespace_run mount -t tmpfs tmpfs "$folder"; done
}

# Its mounts go with its last process.
mount_namespace_remove() {
  local folder
  umount "$MOUNT_NAMESPACE_FILE"
  while read -r folder; do
    rmdir --ignore-fail-on-non-empty "$folder"
  done <"$MOUNT_NAMESPACE_FOLDER/made"
  umount "$MOUNT_NAMESPACE_FOLDER"
  rm -rf --one-file-system "$MOUNT_NAMESPACE_FOLDER"
}

# mount_namespace_enter ARGUMENT...: of a further bed's command: runs it in the namespace, and ends the program.
mount_namespace_enter() {
  local status=0
  [[ $BED_NUMBER ]] && ! mount_namespace_is_ours || return 0
  if [[ $1 == up ]] && ! mount_namespace_exists; then mount_namespace_create; fi
  mount_namespace_exists || return 0
  [[ $1 == down ]] || exec nsenter --mount="$MOUNT_NAMESPACE_FILE" --wd="$PWD" -- "$BED_DIR/bed" "$@"
  mount_namespace_run "$BED_DIR/bed" "$@" || status=$?
  ((status)) || mount_namespace_remove
  exit "$status"
}
