#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# ResumeProgram and SuspendProgram: who does the work, and exit codes. Prints TAP.
set -euo pipefail

programs=${TOP_BUILDDIR:-../..}/plugins
# shellcheck source=tests/support/expect.sh
source "${TOP_SRCDIR:-../..}/tests/support/expect.sh"

says() { expect "$1" "$2" "" "$4" "$programs/$3" "${@:5}"; } # NAME CODE PROGRAM ERR ARGUMENT...

# No engine listens there. Without one a program becomes a client of Slurm, which ends with an error: there is no Slurm,
# and where its plugins are not installed libslurm says that first.
socket=$folder/engine.sock
printf '%s\n' "EngineSocket=$socket" "Kubeconfig=$folder/kubeconfig" Namespace=n >"$folder/slurm-k8s.conf"
printf '%s\n' ClusterName=c SlurmctldHost=localhost SlurmUser=root "PluginDir=$folder" >"$folder/slurm.conf"
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0 # libslurm's, whose client is never ended
export SLURM_K8S_CONF=$folder/slurm-k8s.conf SLURM_CONF=$folder/slurm.conf

suspend=slurm-k8s-suspend resume=slurm-k8s-resume
says "suspends without an engine" 1 "$suspend" "$suspend: socket $socket: connect: *"$'\n'"$suspend: *" c-0
says "resumes without an engine" 1 "$resume" "$resume: socket $socket: connect: *"$'\n'"$resume: *" c-0
says "does not ask the engine" 1 "$suspend" "$suspend: !(*engine.sock*)" --direct c-0
says "no nodes" 2 "$suspend" "$suspend: HOSTLIST: required; try --help"
says "a broken hostlist" 2 "$resume" "$resume: hostlist *" "c-[0"
says "no settings" 1 "$suspend" "$suspend: *none*No such file*" --config "$folder/none" c-0
echo "1..$number"
