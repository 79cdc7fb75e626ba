# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Commands in the files of an image, without Kubernetes: with this machine's processes and network, and with the
# repository at its own path.

# Prints the folder with the files of a built image; unpacks it when it is another one.
chroot_folder() { # IMAGE
  local id folder=$BED_CACHE/roots/$1-$IMAGE_TAG container
  id=$(image_built_id "$1")
  (
    [[ $(cat "$folder.id" 2>/dev/null) != "$id" ]] || exit 0
    lock_take images
    [[ $(cat "$folder.id" 2>/dev/null) != "$id" ]] || exit 0
    progress "image $1: unpacking"
    rm -rf "$folder" "$folder.id"
    mkdir -p "$folder"
    container=$(image_buildah from --pull-never "$id")
    cp --archive "$(image_buildah mount "$container")/." "$folder/"
    image_buildah umount "$container" >/dev/null
    image_buildah rm "$container" >/dev/null
    printf '%s\n' "$id" >"$folder.id"
  )
  printf '%s\n' "$folder"
}

# Runs as the first process of namespaces of its own: mounts and processes go with it. It stays the first process, since
# a command would not wait for processes whose parents have ended.
# shellcheck disable=SC2016 # its own $1
CHROOT_INIT='
  root=$1
  mount --bind "$root" "$root" # a program that makes mounts of its own needs its top to be one
  mount --bind /etc/hosts "$root/etc/hosts"
  mount --types proc proc "$root/proc"
  mount --rbind /sys "$root/sys"
  mount --rbind /dev "$root/dev"
  mount --types tmpfs --options mode=1777 tmpfs "$root/tmp"
  for folder in "$2" "$3"; do
    mkdir -p "$root$folder"
    mount --bind "$folder" "$root$folder"
  done
  cd "$2"
  status=0
  chroot "$root" "${@:4}" || status=$?
  exit "$status"'

# Replaces this process, so that its exit code is the bed's. The environment goes along.
chroot_run() { # IMAGE COMMAND...
  local folder
  (($# > 1)) || usage_error 'image run: NAME COMMAND...: required'
  folder=$(chroot_folder "$1")
  exec unshare --mount --pid --fork --kill-child bash -euc "$CHROOT_INIT" - "$folder" "$REPOSITORY" "$BED_CACHE" \
    env --chdir="$REPOSITORY" "${@:2}"
}
