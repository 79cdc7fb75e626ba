# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Two Slurm clusters in one Kubernetes, each in a namespace of its own, with NodeSets and nodes of the same names.

# shellcheck source=tests/e2e/other_cluster.sh
source "$E2E_FOLDER/other_cluster.sh"

other_pods() { other_kubectl get pods -l slurm-k8s.io/node -o name | sort; }
other_has_no_pods() { [[ -z $(other_pods) ]]; }

test_two_clusters_with_the_same_names() {
  local mine theirs uid
  trap remove_other EXIT
  install_other
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
