# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Tests of a command: sourced by a script that ends with `echo "1..$number"`.

folder=$(mktemp -d "${TMPDIR:-/tmp}/slurm-k8s-command-XXXXXX")
trap 'rm -rf "$folder"' EXIT
number=0

# expect NAME CODE OUT ERR COMMAND...: prints a line of TAP. OUT and ERR are patterns of bash. The command reads
# standard input.
expect() {
  local name=$1 code=$2 out=$3 err=$4 status=0
  shift 4
  number=$((number + 1))
  timeout 300 "$@" >"$folder/out" 2>"$folder/err" || status=$?
  # shellcheck disable=SC2053 # they are patterns
  if ((status == code)) && [[ $(<"$folder/out") == $out && $(<"$folder/err") == $err ]]; then
    echo "ok $number - $name"
  else
    echo "not ok $number - $name"
    { echo "exit code $status"; cat "$folder/out" "$folder/err"; } | sed 's/^/# /'
  fi
}
