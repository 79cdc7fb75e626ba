#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# ResumeProgram and SuspendProgram: who does the work, and exit codes. Prints TAP.
set -euo pipefail

programs=${TOP_BUILDDIR:-../..}/plugins
folder=$(mktemp -d "${TMPDIR:-/tmp}/slurm-k8s-programs-XXXXXX")
trap 'rm -rf "$folder"' EXIT
number=0

# expect NAME CODE PROGRAM PATTERN ARGUMENT…: PATTERN, of bash, is what goes to standard output and error.
expect() {
  local name=$1 code=$2 program=$3 pattern=$4 status=0
  shift 4
  number=$((number + 1))
  timeout 60 "$programs/$program" "$@" >"$folder/out" 2>&1 || status=$?
  # shellcheck disable=SC2053 # it is a pattern
  if ((status == code)) && [[ $(<"$folder/out") == $pattern ]]; then
    echo "ok $number - $name"
  else
    echo "not ok $number - $name"
    { echo "exit code $status"; cat "$folder/out"; } | sed 's/^/# /'
  fi
}

# No engine listens there. Without one a program becomes a client of Slurm, which ends with an error: there is no Slurm,
# and where its plugins are not installed libslurm says that first.
socket=$folder/engine.sock
printf '%s\n' "EngineSocket=$socket" "Kubeconfig=$folder/kubeconfig" Namespace=n >"$folder/slurm-k8s.conf"
printf '%s\n' ClusterName=c SlurmctldHost=localhost SlurmUser=root "PluginDir=$folder" >"$folder/slurm.conf"
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0 # libslurm's, whose client is never ended
export SLURM_K8S_CONF=$folder/slurm-k8s.conf SLURM_CONF=$folder/slurm.conf

suspend=slurm-k8s-suspend resume=slurm-k8s-resume
expect "suspends without an engine" 1 "$suspend" "$suspend: socket $socket: connect: *"$'\n'"$suspend: *" c-0
expect "resumes without an engine" 1 "$resume" "$resume: socket $socket: connect: *"$'\n'"$resume: *" c-0
expect "does not ask the engine" 1 "$suspend" "$suspend: !(*engine.sock*)" --direct c-0
expect "no nodes" 2 "$suspend" "$suspend: HOSTLIST: required; try --help"
expect "a broken hostlist" 2 "$resume" "$resume: hostlist *" "c-[0"
expect "no settings" 1 "$suspend" "$suspend: *none*No such file*" --config "$folder/none" c-0
echo "1..$number"
