#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `slurm-k8s-sidecar convert` as a command: what goes to which output, and exit codes. Prints TAP.
set -euo pipefail

program=${TOP_BUILDDIR:-../..}/sidecar/slurm-k8s-sidecar
# shellcheck source=tests/support/expect.sh
source "${TOP_SRCDIR:-../..}/tests/support/expect.sh"

converts() { expect "${@:1:4}" "$program" convert "${@:5}"; } # NAME CODE OUT ERR ARGUMENT...

good='{apiVersion: slinky.slurm.net/v1beta1, kind: NodeSet, metadata: {name: gpu}, spec: {replicas: 2,
  slurmd: {image: i, resources: {limits: {cpu: 1, memory: 1Gi}}}}}'
echo "$good" >"$folder/good.yaml"
sed 's/replicas: 2/taintKubeNodes: true/; s/gpu/other/' "$folder/good.yaml" >"$folder/partial.yaml"
printf 'a: 1\nb: [\n' >"$folder/bad.yaml"

converts "all is converted" 0 $'---\napiVersion: slurm-k8s.io/v1alpha1\n*name: gpu\n*replicas: 2\n*' "" \
  "$folder/good.yaml"
converts "standard input" 0 "*name: gpu*" "" - <<<"$good"
converts "several files" 1 "*name: gpu*---*name: other*" \
  "*/partial.yaml: nodeset other: spec.taintKubeNodes: not converted: *" \
  "$folder/good.yaml" "$folder/partial.yaml"
converts "bad YAML after a good file" 2 "" "slurm-k8s-sidecar: $folder/bad.yaml: YAML: line 3, *" "$folder/good.yaml" \
  "$folder/bad.yaml"
converts "a file without NodeSets" 2 "" "slurm-k8s-sidecar: standard input: no NodeSet of Slinky's in it" - <<<"a: 1"
echo 'controller: {extraConf: A=1}' >"$folder/values.yaml"
converts "values" 0 $'controller:\n  extraConf: A=1' "" --values "$folder/values.yaml"
converts "values: what is lost" 1 "*" "*: accounting.service.port: not converted: *" --values - \
  <<<'{controller: {}, accounting: {service: {port: 7000}}}'
converts "values: nothing of Slinky's" 2 "" "*: no values and no NodeSet of Slinky's in it" --values - <<<"a: 1"
converts "a missing file" 2 "" "*$folder/none*No such file*" "$folder/none"
converts "no file" 2 "" "usage: *"
converts "an unknown option" 2 "" "*--no-such-option*" --no-such-option
converts "help" 0 "usage: *" "" --help
echo "1..$number"
