# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Locks, held until the program ends: `programs`, `images` and `vm` (the disk of virtual machines) for what is built
# into the cache, side by side; `state` for up and down.
# Daemons must not inherit them: process_start closes the descriptors.
# Below 10: bash keeps its own there while a function has a redirection.

declare -A LOCKS_HELD=()

lock_take() {
  [[ -z ${LOCKS_HELD[$1]:-} ]] || return 0
  LOCKS_HELD[$1]=yes
  local file=$BED_CACHE/$1.lock descriptor
  case $1 in
    state) descriptor=8 ;;
    images) descriptor=9 ;;
    programs) descriptor=10 ;;
    vm) descriptor=6 ;;
  esac
  mkdir -p "$BED_CACHE"
  eval "exec $descriptor>\"\$file\""
  flock --nonblock "$descriptor" && return
  progress "waiting for another bed command ($file)"
  flock "$descriptor"
}
