# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Volumes of nodes' own: a node finds its data again after its pod was removed; claims go by the policy.

put_vol() { # REPLICAS WHEN-SCALED WHEN-DELETED
  local image
  image=$(kubectl get nodesets.slurm-k8s.io compute -o jsonpath='{.spec.slurmd.image}')
  kubectl apply --filename=- >/dev/null <<JSON
{"apiVersion":"slurm-k8s.io/v1alpha1","kind":"NodeSet","metadata":{"name":"vol"},"spec":{"replicas":$1,"slurmd":{
 "image":"$image","resources":{"requests":{"cpu":"50m","memory":"64Mi"},"limits":{"cpu":"1","memory":"256Mi"}},
 "volumeMounts":[{"name":"data","mountPath":"/data"}]},
 "template":{"spec":{"initContainers":[{"name":"open","image":"$image","command":["chmod","1777","/data"],
  "volumeMounts":[{"name":"data","mountPath":"/data"}]}]}},
 "volumeClaimTemplates":[{"metadata":{"name":"data"},
  "spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}],
 "persistentVolumeClaimRetentionPolicy":{"whenScaled":"$2","whenDeleted":"$3"}}}
JSON
}
claims() { kubectl get pvc -l slurm-k8s.io/nodeset=vol -o jsonpath='{range .items[*]}{.metadata.name}{" "}{end}'; }
has_claims() { [[ $(claims) == "$1" ]]; }
remove_vol() {
  slurm scancel --me >/dev/null 2>&1 || true
  kubectl delete nodesets.slurm-k8s.io vol --ignore-not-found >/dev/null
  kubectl delete pvc -l slurm-k8s.io/nodeset=vol --wait=false >/dev/null
  wait_for 60 "8 node records" has_node_count 8
}

test_a_node_finds_its_data_again() {
  local job uid
  trap remove_vol EXIT
  put_vol 2 Delete Delete
  wait_for "10 node records" has_node_count 10
  job=$(submit -N2 -w 'vol-[0-1]' --wrap "srun sh -c 'echo first-\$(hostname) >/data/\$(hostname)'")
  wait_done "$job" 90
  has_claims "data-vol-0 data-vol-1 " || fail "claims: $(claims)"
  uid=$(kubectl get pvc data-vol-1 -o jsonpath='{.metadata.uid}')
  to_zero
  job=$(submit -N2 -w 'vol-[0-1]' --wrap "srun sh -c 'grep -x first-\$(hostname) /data/\$(hostname)'")
  wait_done "$job" 90
  assert_equal "claim of vol-1" "$uid" "$(kubectl get pvc data-vol-1 -o jsonpath='{.metadata.uid}')"

  kubectl scale nodesets.slurm-k8s.io/vol --replicas=1 >/dev/null
  wait_for 60 "9 node records" has_node_count 9
  wait_for "no claim of vol-1" has_claims "data-vol-0 "
  kubectl delete nodesets.slurm-k8s.io vol >/dev/null
  wait_for 60 "no claim" has_claims ""
}

test_claims_are_retained() {
  trap remove_vol EXIT
  local job
  put_vol 1 Retain Delete
  wait_for "9 node records" has_node_count 9
  job=$(submit -N1 -w vol-0 --wrap 'srun touch /data/kept')
  wait_done "$job" 90
  put_vol 1 Retain Retain # the owner is taken away again
  wait_for "no owner" has_no_owner
  kubectl scale nodesets.slurm-k8s.io/vol --replicas=0 >/dev/null
  wait_for 90 "8 node records" has_node_count 8
  kubectl delete nodesets.slurm-k8s.io vol >/dev/null
  put_vol 1 Retain Retain
  wait_for "9 node records" has_node_count 9
  job=$(submit -N1 -w vol-0 --wrap 'srun test -f /data/kept')
  wait_done "$job" 90
}
has_no_owner() { [[ -z $(kubectl get pvc data-vol-0 -o jsonpath='{.metadata.ownerReferences}') ]]; }
