#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `slurm-k8s-sidecar convert` as a command: what goes to which output, and exit codes. Prints TAP.
set -euo pipefail

program=${TOP_BUILDDIR:-../..}/sidecar/slurm-k8s-sidecar
folder=$(mktemp -d "${TMPDIR:-/tmp}/slurm-k8s-convert-XXXXXX")
trap 'rm -rf "$folder"' EXIT
number=0

# expect NAME CODE OUT ERR ARGUMENT...: standard input is passed on; OUT and ERR are patterns of bash.
expect() {
  local name=$1 code=$2 out=$3 err=$4 status=0
  shift 4
  number=$((number + 1))
  "$program" convert "$@" >"$folder/out" 2>"$folder/err" || status=$?
  # shellcheck disable=SC2053 # they are patterns
  if ((status == code)) && [[ $(<"$folder/out") == $out && $(<"$folder/err") == $err ]]; then
    echo "ok $number - $name"
  else
    echo "not ok $number - $name"
    { echo "exit code $status"; cat "$folder/out" "$folder/err"; } | sed 's/^/# /'
  fi
}

good='{apiVersion: slinky.slurm.net/v1beta1, kind: NodeSet, metadata: {name: gpu}, spec: {replicas: 2,
  slurmd: {image: i, resources: {limits: {cpu: 1, memory: 1Gi}}}}}'
echo "$good" >"$folder/good.yaml"
sed 's/replicas: 2/taintKubeNodes: true/; s/gpu/other/' "$folder/good.yaml" >"$folder/partial.yaml"
printf 'a: 1\nb: [\n' >"$folder/bad.yaml"

expect "all is converted" 0 $'---\napiVersion: slurm-k8s.io/v1alpha1\n*name: gpu\n*replicas: 2\n*' "" \
  "$folder/good.yaml"
expect "standard input" 0 "*name: gpu*" "" - <<<"$good"
expect "several files" 1 "*name: gpu*---*name: other*" \
  "*/partial.yaml: nodeset other: spec.taintKubeNodes: not converted: *" \
  "$folder/good.yaml" "$folder/partial.yaml"
expect "bad YAML after a good file" 2 "" "slurm-k8s-sidecar: $folder/bad.yaml: YAML: line 3, *" "$folder/good.yaml" \
  "$folder/bad.yaml"
expect "a file without NodeSets" 2 "" "slurm-k8s-sidecar: standard input: no NodeSet of Slinky's in it" - <<<"a: 1"
expect "a missing file" 2 "" "*$folder/none*No such file*" "$folder/none"
expect "no file" 2 "" "usage: *"
expect "an unknown option" 2 "" "*--no-such-option*" --no-such-option
expect "help" 0 "usage: *" "" --help
echo "1..$number"
