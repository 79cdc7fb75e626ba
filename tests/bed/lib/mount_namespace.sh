# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The mount namespace of a further bed (BED_NUMBER). All kubelets and containerds of a machine write to some folders
# that no setting changes: a further bed has its own ones in their place, in memory.

MOUNT_NAMESPACE_FOLDER=/run/$BED_CGROUP
MOUNT_NAMESPACE_FILE=$MOUNT_NAMESPACE_FOLDER/mounts
MOUNT_NAMESPACE_PRIVATE=(/run/containerd /var/lib/cni /var/lib/kubelet /var/log/containers)

# Complete: an interrupted `up` may have left one that lacks its folders.
mount_namespace_exists() {
  [[ -e $MOUNT_NAMESPACE_FOLDER/ready && $(stat -f -c %T "$MOUNT_NAMESPACE_FILE" 2>/dev/null) == nsfs ]]
}

# Inside of it the file that keeps it is an empty one: it was mounted outside.
mount_namespace_is_ours() {
  [[ -e ${MOUNT_NAMESPACE_PRIVATE[0]}/.in-$BED_CGROUP ]]
}

mount_namespace_run() {
  nsenter --mount="$MOUNT_NAMESPACE_FILE" --wdns="$PWD" -- "$@"
}

# A namespace can be kept in a file of a private mount alone. A folder that is a mount point in another namespace can be
# removed here, which unmounts it there: a file of each further bed keeps it.
mount_namespace_create() {
  local folder
  mount_namespace_unmount
  mkdir -p "$MOUNT_NAMESPACE_FOLDER"
  mount --bind "$MOUNT_NAMESPACE_FOLDER" "$MOUNT_NAMESPACE_FOLDER"
  mount --make-private "$MOUNT_NAMESPACE_FOLDER"
  for folder in "${MOUNT_NAMESPACE_PRIVATE[@]}"; do
    [[ -d $folder ]] || printf '%s\n' "$folder"
    mkdir -p "$folder"
    touch "$folder/.of-$BED_CGROUP"
  done >"$MOUNT_NAMESPACE_FOLDER/made"
  touch "$MOUNT_NAMESPACE_FILE"
  unshare --mount="$MOUNT_NAMESPACE_FILE" --propagation private true
  for folder in "${MOUNT_NAMESPACE_PRIVATE[@]}"; do
    mount_namespace_run mount -t tmpfs -o mode=755 tmpfs "$folder"
  done
  mount_namespace_run touch "${MOUNT_NAMESPACE_PRIVATE[0]}/.in-$BED_CGROUP"
  touch "$MOUNT_NAMESPACE_FOLDER/ready"
}

mount_namespace_unmount() {
  while mountpoint --quiet "$MOUNT_NAMESPACE_FOLDER"; do umount --recursive "$MOUNT_NAMESPACE_FOLDER"; done
  rm -rf --one-file-system "$MOUNT_NAMESPACE_FOLDER"
}

# Its mounts go with its last process.
mount_namespace_remove() {
  local folder
  rm -f "${MOUNT_NAMESPACE_PRIVATE[@]/%//.of-$BED_CGROUP}"
  while read -r folder; do
    [[ ! -d $folder ]] || rmdir --ignore-fail-on-non-empty "$folder"
  done <"$MOUNT_NAMESPACE_FOLDER/made"
  mount_namespace_unmount
}

# mount_namespace_enter ARGUMENT...: of a further bed's command: runs it in the namespace, and ends the program.
mount_namespace_enter() {
  local status=0
  [[ $BED_NUMBER ]] && ! mount_namespace_is_ours || return 0
  # `down` as well: what a reboot left must not be removed from the folders of the first bed.
  if [[ $1 == up || $1 == down && -e $BED_STATE/.slurm-k8s-bed ]] && ! mount_namespace_exists; then
    mount_namespace_create
  fi
  mount_namespace_exists || return 0
  [[ $1 == down ]] || exec nsenter --mount="$MOUNT_NAMESPACE_FILE" --wdns="$PWD" -- "$BED_DIR/bed" "$@"
  mount_namespace_run "$BED_DIR/bed" "$@" || status=$?
  ((status)) || mount_namespace_remove
  exit "$status"
}
