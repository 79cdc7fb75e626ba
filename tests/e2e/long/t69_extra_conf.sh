# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A changed extraConf reaches records that are there. The NodeSet "conf" is none of the chart's.

conf() { # EXTRACONF: makes it, with two nodes, or changes it
  local slurmd
  slurmd=$(kubectl get nodesets.slurm-k8s.io compute -o jsonpath='{.spec.slurmd}')
  kubectl apply -f - >/dev/null <<END
{"apiVersion": "slurm-k8s.io/v1alpha1", "kind": "NodeSet", "metadata": {"name": "conf", "namespace": "$NAMESPACE"},
 "spec": {"replicas": 2, "slurmd": $slurmd, "extraConf": "$1", "updateStrategy": {"type": "OnDelete"}}}
END
}
without_conf() {
  slurm scancel --me >/dev/null 2>&1 || true
  kubectl delete nodesets.slurm-k8s.io conf --ignore-not-found >/dev/null
  wait_for 60 "no node of conf" has_nodes 'compute-[0-7]'
}
have() { # FIELD VALUE: conf-0 and conf-1 have it
  [[ $(slurm scontrol show node 'conf-[0-1]' -o | grep -cE "\\b$1=$2\\b") == 2 ]]
}
has_limit() { slurm scontrol show node "$1" | grep -c MemSpecLimit=16 >/dev/null; }
is_ready() { [[ "$(nodeset_condition conf status) $(nodeset_condition conf reason)" == "$1" ]]; }

test_a_changed_extra_conf() {
  local job
  trap without_conf EXIT
  conf Weight=5
  wait_for "Weight 5" have Weight 5
  job=$(submit -N1 -w conf-0 --wrap "$(runs_until job)")
  wait_job "$job" RUNNING 60
  # At once, under a job.
  conf Weight=7
  wait_for "Weight 7" have Weight 7
  assert_equal "job" RUNNING "$(job_state "$job")"
  # The idle record is made again, the other one when its job is over and its pod is gone.
  conf 'Weight=7 MemSpecLimit=16'
  wait_for "the condition" is_ready "False Resizing"
  wait_for "conf-1 made again" has_limit conf-1
  assert_equal "job" RUNNING "$(job_state "$job")"
  end_run conf-0 job
  wait_done "$job" 60
  wait_for 60 "both made again" have MemSpecLimit 16
  wait_for "the condition" is_ready "True NodesMatch"
  job=$(submit -N2 -w 'conf-[0-1]' --wrap 'srun true')
  wait_done "$job" 60
}

has_threads() { have Sockets "$1" && have CoresPerSocket 1 && have ThreadsPerCore "$2"; }

# Nodes have 2 CPUs, whatever their Kubernetes node has.
test_sockets_cores_and_threads() {
  local job next
  trap without_conf EXIT
  conf Weight=5
  wait_for "Weight 5" have Weight 5
  has_threads 2 1 || fail "by default: $(slurm scontrol show node conf-0 -o)"
  conf 'Weight=5 CoresPerSocket=1 ThreadsPerCore=2'
  wait_for 60 "records with threads" has_threads 1 2
  # By default there would be a core for each of these two.
  job=$(submit -n1 --mem=50 -w conf-0 --wrap "$(runs_until first)")
  wait_job "$job" RUNNING 60
  assert_equal "CPUs of a job with one task" 2 "$(job_field "$job" NumCPUs)"
  next=$(submit -n1 --mem=50 -w conf-0 --wrap true)
  wait_for "the next job waits" job_has_reason "$next" Resources
  # What slurmd has registered changes nothing.
  has_threads 1 2 || fail "registered: $(slurm scontrol show node conf-0 -o)"
  node_is_undrained conf-0 || fail "conf-0 is $(node_state conf-0): $(node_reason conf-0)"
  end_run conf-0 first
  wait_done "$job" 60
  wait_done "$next" 60
  wait_done "$(submit -n2 --mem=50 -w conf-0 --wrap 'srun -n2 true')" 60
  wait_done "$(submit -n1 --threads-per-core=1 --mem=50 -w conf-0 --wrap 'srun -n1 true')" 60
}

test_what_slurmctld_corrects_is_not_tried_for_ever() {
  trap without_conf EXIT
  conf MemSpecLimit=16
  wait_for "MemSpecLimit 16" have MemSpecLimit 16
  conf MemSpecLimit=900000
  wait_for "the condition" is_ready "False Corrected"
  stays 5 is_ready "False Corrected"
}
