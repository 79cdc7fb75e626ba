# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# NodeSets with GPUs of the bed's device plugin.

nodeset() { # NAME REPLICAS LIMITS SPEC [SLURMD]: LIMITS, SPEC and SLURMD in JSON without their braces
  local image
  image=$(kubectl get nodesets.slurm-k8s.io compute -o jsonpath='{.spec.slurmd.image}')
  kubectl apply -f - >/dev/null <<END
{"apiVersion": "slurm-k8s.io/v1alpha1", "kind": "NodeSet", "metadata": {"name": "$1"},
 "spec": {"replicas": $2, $4
          "slurmd": {${5:-} "image": "$image", "resources": {"requests": {"cpu": "10m", "memory": "64Mi"},
                                                      "limits": {${3:+$3,} "cpu": "4", "memory": "512Mi"}}}}}
END
}
remove() { # NODESET…
  slurm scancel --me >/dev/null 2>&1 || true
  kubectl delete nodesets.slurm-k8s.io "$@" --ignore-not-found >/dev/null
  wait_for 60 "only the chart's nodes" has_nodes 'compute-[0-7]'
}
has_gres() { [[ " $(slurm scontrol show node "$1" -o 2>/dev/null) " =~ \ Gres=$2[\(\ ] ]]; } # NODE GRES
