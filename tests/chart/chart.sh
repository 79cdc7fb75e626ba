# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The chart as a whole: lint, comments, schema, Kubernetes versions.

# Every value of values.yaml has a comment that starts with `# --` above it, or above the section that it is in.
every_value_has_a_comment() {
  awk '
    /^ *# -- / { described = 1; next }
    /^ *(#|$)/ { next }
    {
      match($0, /^ */)
      if (inside && RLENGTH <= depth) inside = 0
      if (!inside && described && /:$/) { inside = 1; depth = RLENGTH }
      if (!inside && !described && !/:$/) { print NR ": " $0; bad = 1 }
      described = 0
    }
    END { exit bad }' "$CHART/values.yaml"
}

check "helm lint" "$HELM" lint --strict --quiet "$CHART"
check "helm lint with the example's values" "$HELM" lint --strict --quiet "$CHART" --values "$TOP/examples/values.yaml"
check "every value has a comment" every_value_has_a_comment
check "nothing is fetched from a registry by default" lacks 'image: "?([^"l]|l[^o])'

check "unknown section" refused "additional properties 'nodeset'" --set nodeset.replicas=1
check "unknown value" refused "'/slurm': additional properties 'suspendtime'" --set slurm.suspendtime=1
check "negative replicas" refused "/nodesets/compute/replicas" --set nodesets.compute.replicas=-1
check "text as a number" refused "/slurm/resumeTimeout" --set slurm.resumeTimeout=soon
check "launchTimeout not greater than resumeTimeout" refused "slurm.launchTimeout: must be greater" \
  --set slurm.launchTimeout=300 --set slurm.resumeTimeout=300
check "requeueDelay below 5" refused "/slurm/requeueDelay" --set slurm.requeueDelay=4
check "invalid name of a NodeSet" refused "propertyName .Gpu" --set nodesets.Gpu.replicas=1
check "extraConf of two lines" refused "/nodesets/compute/extraConf" --set-string $'nodesets.compute.extraConf=A=1\nB=2'
check "slurm.conf in configFiles" refused "propertyName .slurm.conf" --set 'configFiles.slurm\.conf=x'
check "containers in controller.podSpec" refused "/controller/podSpec" --set controller.podSpec.containers=
check "invalid digest" refused "digest" --set controller.sidecar.image.digest=123

check "Kubernetes 1.28" refused 'incompatible with Kubernetes' --kube-version 1.28.9
check "Kubernetes 1.29" shows nodesets/nodesets 'kind: NodeSet' --kube-version 1.29.0
