# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What the tests on a virtual machine share: the machine vm1, a second Kubernetes node with cgroup version 2, and
# NodeSets whose pods may go there. All else is as in tests/e2e.
#
# The machine is emulated: what takes a second elsewhere takes ten there, minutes when several pods start. So a release
# has other times here, and deadlines are long.

VM=vm1

in_vm() { "$BED" vm run "$VM" "$@"; }
start_vm() { "$BED" vm start "$VM" "$@"; } # --single-process-oom-kill: with such a kubelet, otherwise a default one

# need_release HELM-OPTION…: installs it unless the release has these values already, which its description says.
need_release() {
  local options=(--set slurm.resumeTimeout=600 --set slurm.suspendTime=900 "$@")
  [[ $("$BED" helm status slurm -n "$NAMESPACE" --output json) != *"\"description\":\"${options[*]}\""* ]] || return 0
  remove_release
  install_release "${options[@]}" --description "${options[*]}"
}

# Where the pods run is up to POD, their spec. All in JSON: SLURMD, of that container, and MORE, of the NodeSet, without
# their braces.
put_spec() { # NAME REPLICAS POD SLURMD [MORE]
  local image
  image=$(kubectl get nodesets.slurm-k8s.io compute -o jsonpath='{.spec.slurmd.image}')
  kubectl apply --filename=- >/dev/null <<JSON
{"apiVersion":"slurm-k8s.io/v1alpha1","kind":"NodeSet","metadata":{"name":"$1"},"spec":{"replicas":$2,${5:+$5,}
 "slurmd":{"image":"$image",$4},"template":{"spec":$3}}}
JSON
  wait_for "nodes of $1" has_nodes_of "$1" "$2"
}
# Pods of 256 MiB.
put_nodeset() { # NAME REPLICAS POD [CPUS [REQUESTS]]
  local requests=${5:-'"cpu":"50m","memory":"64Mi"'}
  put_spec "$1" "$2" "$3" '"resources":{"requests":{'"$requests"'},"limits":{"cpu":"'"${4:-2}"'","memory":"256Mi"}}'
}
has_nodes_of() { [[ $(slurm sinfo -h -N -o %N | sort -u | grep -c "^$1-") == "$2" ]]; }
remove_nodeset() {
  slurm scancel --me >/dev/null 2>&1 || true
  kubectl delete nodesets.slurm-k8s.io "$1" --ignore-not-found >/dev/null
  wait_for 90 "no node of $1" has_no_node_of "$1"
}
has_no_node_of() { ! slurm sinfo -h -N -o %N | grep -q "^$1-"; }
TOLERATE='{"key":"vm","operator":"Exists"}'
# shellcheck disable=SC2034 # the test files use it
ON_THE_VM='{"nodeSelector":{"vm":"'$VM'"},"tolerations":['$TOLERATE']}'
# They may run on either, and avoid each other's machine (docs/admin/from-slinky.md).
apart() { # NODESET
  echo '{"tolerations":['"$TOLERATE"'],"affinity":{"podAntiAffinity":{
    "requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"kubernetes.io/hostname",
      "labelSelector":{"matchLabels":{"slurm-k8s.io/nodeset":"'"$1"'"}}}]}}}'
}

machine_of() { kubectl get pod "$1" -o jsonpath='{.spec.nodeName}'; }
restarts_of_slurmd() { kubectl get pod "$1" -o jsonpath='{.status.containerStatuses[0].restartCount}'; }
in_pod() { kubectl exec "$1" -c slurmd -- "${@:2}"; }

# What a task runs to use that many MiB, and keep them.
eat() {
  local mebibyte='s = "x"; while (length(s) < 1048576) s = s s'
  echo "awk 'BEGIN { $mebibyte; while (i++ < $1) t[i] = s i; system(\"sleep 300\") }'"
}
