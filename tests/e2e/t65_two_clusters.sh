# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Two Slurm clusters in one Kubernetes, each in a namespace of its own, with NodeSets and nodes of the same names.

OTHER=$NAMESPACE-other
other_kubectl() { "$BED" kubectl -n "$OTHER" "$@"; }
other_slurm() { BED_NAMESPACE=$OTHER "$BED" slurm "$@"; }
other_is_up() {
  other_slurm scontrol ping | grep -c 'is UP' >/dev/null && [[ $(other_slurm sinfo -h -N -o %N | wc -l) == 8 ]]
}
other_state() { other_slurm scontrol show job "$1" -o | grep -oE '\bJobState=[A-Z]+' | cut -d = -f 2; }
other_is() { [[ $(other_state "$1") == "$2" ]]; }
other_pods() { other_kubectl get pods -l slurm-k8s.io/node -o name | sort; }
other_has_no_pods() { [[ -z $(other_pods) ]]; }
remove_other() {
  "$BED" helm uninstall slurm -n "$OTHER" --ignore-not-found --wait >/dev/null 2>&1 || true
  "$BED" kubectl delete namespace "$OTHER" --ignore-not-found >/dev/null
}

test_two_clusters_with_the_same_names() {
  local mine theirs uid
  trap remove_other EXIT
  "$BED" helm install slurm "$E2E_FOLDER/../../helm/slurm" -n "$OTHER" --create-namespace "${VALUES[@]}" \
    --wait --timeout 180s >/dev/null
  wait_for 60 "the other cluster up" other_is_up
  mine=$(submit -N1 -w compute-0 --wrap 'sleep 300')
  theirs=$(other_slurm sbatch --parsable --output=/dev/null -N2 -w 'compute-[0-1]' --wrap 'sleep 300')
  wait_job "$mine" RUNNING 60
  wait_for 60 "the other cluster's job" other_is "$theirs" RUNNING
  assert_equal "pods here" compute-0 "$(pods)"
  assert_equal "pods there" "pod/compute-0 pod/compute-1" "$(other_pods | paste -sd ' ')"
  uid=$(pod_uid compute-0)

  # What one does to its nodes, the other doesn't notice.
  other_slurm scancel "$theirs"
  other_slurm scontrol update nodename='compute-[0-1]' state=power_down
  wait_for 60 "the other cluster at zero" other_has_no_pods
  assert_equal "pod of compute-0 here" "$uid" "$(pod_uid compute-0)"
  remove_other
  assert_equal "job here" RUNNING "$(job_state "$mine")"
  slurm scancel "$mine"
}
