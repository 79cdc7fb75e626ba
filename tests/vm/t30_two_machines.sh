# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Two machines: a job over both, cordon and drain of one, nodes that avoid each other's machine.
#
# Release: vm

# shellcheck source=tests/vm/lib.sh
source "$E2E_FOLDER/../vm/lib.sh"

test_a_job_over_both_machines() {
  local out
  trap 'remove_nodeset vm' EXIT
  start_vm
  need_release
  put_nodeset vm 1 "$ON_THE_VM"
  # The kernel's release of each, and what each rank finds of the other by name.
  # shellcheck disable=SC2016 # the tasks' own variables
  out=$(slurm srun -w vm-0,compute-0 -N2 bash -c \
    'echo "$SLURMD_NODENAME $(uname -r) $(getent hosts vm-0 compute-0 | wc -l)"' | sort)
  assert_equal "Kubernetes nodes" "node1 $VM" \
    "$(kubectl get pods compute-0 vm-0 -o jsonpath='{.items[*].spec.nodeName}')"
  assert_equal "tasks" "compute-0 $(uname -r) 2
vm-0 $(in_vm uname -r) 2" "$out"
  # A step that a pod on the machine starts, with tasks on both: slurmds reach each other.
  out=$(slurm salloc --quiet -w vm-0,compute-0 -N2 \
    srun --overlap -N1 -n1 -w vm-0 srun --overlap -N2 -n2 hostname | sort)
  assert_equal "tasks of a step from vm-0" $'compute-0\nvm-0' "$out"
}

uncordon() { kubectl uncordon "$VM" >/dev/null; }

test_cordon_and_drain() {
  local job waiting drain
  trap 'uncordon; remove_nodeset both' EXIT
  start_vm
  need_release
  # They begin on the virtual machine where there is the choice.
  put_nodeset both 2 '{"tolerations":['"$TOLERATE"'],"affinity":{"nodeAffinity":{
    "preferredDuringSchedulingIgnoredDuringExecution":[
      {"weight":100,"preference":{"matchExpressions":[{"key":"vm","operator":"Exists"}]}}]}}}'
  job=$(submit --requeue -w both-0 --exclusive --wrap "$(runs_until drained)")
  wait_job "$job" RUNNING 300
  assert_equal "machine of both-0" "$VM" "$(machine_of both-0)"
  kubectl cordon "$VM" >/dev/null
  wait_for "both-0 drained" node_has_reason both-0 "slurm-k8s: kubernetes node $VM is cordoned"
  # A job for that node waits, and one for the other gets a pod on the other machine.
  waiting=$(submit --requeue -w both-0 --exclusive --wrap true)
  wait_done "$(submit -w both-1 --wrap true)" 120
  assert_equal "machine of both-1" node1 "$(machine_of both-1)"
  assert_equal "job on the cordoned machine" RUNNING "$(job_state "$job")"
  # As administrators do it: this waits for the job.
  kubectl drain "$VM" --ignore-daemonsets --delete-emptydir-data --timeout=180s >/dev/null 2>&1 &
  drain=$!
  stays 10 kill -0 "$drain"
  end_run both-0 drained
  wait "$drain" || fail "kubectl drain: exit code $?"
  wait_done "$job" 30
  assert_equal "restarts of the job" 0 "$(job_field "$job" Restarts)"
  wait_done "$waiting" 120
  assert_equal "machine of both-0" node1 "$(machine_of both-0)"
}

node_has_comment() { [[ $(slurm scontrol show node "$1") == *"Comment="*"$2"* ]]; }

test_nodes_that_avoid_each_others_machine() {
  trap 'remove_nodeset apart' EXIT
  start_vm
  need_release
  put_nodeset apart 3 "$(apart apart)"
  wait_done "$(submit -w apart-0,apart-1 -N2 --wrap 'srun hostname')" 300
  assert_equal "machines" "node1 $VM" "$( (machine_of apart-0; echo; machine_of apart-1; echo) | sort | paste -sd ' ')"
  submit -w apart-2 --wrap true >/dev/null
  wait_for 60 "a third one has no machine" node_has_comment apart-2 "waiting: unschedulable: 0/2"
}
