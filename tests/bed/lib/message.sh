# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Messages of the bed: progress on standard error, so that standard output is the answer alone.

progress() {
  local now=${EPOCHREALTIME/./}
  local tenths=$(((now - BED_STARTED) / 100000))
  printf '[%3d.%ds] %s\n' $((tenths / 10)) $((tenths % 10)) "$*" >&2
}

die() {
  printf 'bed: %s\n' "$*" >&2
  exit 1
}

usage_error() {
  printf 'bed: %s (see bed --help)\n' "$*" >&2
  exit 2
}

# wait_until SECONDS WHAT COMMAND...: polls COMMAND; ends the program when the time is over.
wait_until() {
  local limit=$1 deadline=$((SECONDS + $1)) what=$2
  shift 2
  until "$@"; do
    ((SECONDS < deadline)) || die "$what: timed out after $limit s"
    sleep 0.1
  done
}
