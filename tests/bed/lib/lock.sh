# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Two locks, held until the program ends: `build` for the cache, `state` for up and down.
# Daemons must not inherit them: process_start closes the descriptors.

declare -A LOCKS_HELD=()

lock_take() {
  [[ -z ${LOCKS_HELD[$1]:-} ]] || return 0
  LOCKS_HELD[$1]=yes
  local file=$BED_CACHE/$1.lock descriptor
  case $1 in
    state) descriptor=8 ;;
    build) descriptor=9 ;;
  esac
  mkdir -p "$BED_CACHE"
  eval "exec $descriptor>\"\$file\""
  flock --nonblock "$descriptor" && return
  progress "waiting for another bed command ($file)"
  flock "$descriptor"
}
