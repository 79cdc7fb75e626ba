# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A machine that is lost, with its kubelet, its pods and its network: for seconds, and for good.
#
# Release: vm_lost

# shellcheck source=tests/vm/lib.sh
source "$E2E_FOLDER/../vm/lib.sh"
# shellcheck source=tests/e2e/bridge.sh
source "$E2E_FOLDER/bridge.sh"

# Of two nodes, one is on the virtual machine: LOST. OTHER is on the other.
prepare() { # HELM-OPTION…
  start_vm
  need_release --set-string controller.extraConf=SlurmdTimeout=60 "$@"
  put_nodeset apart 2 "$(apart apart)"
  wait_done "$(submit -w apart-0,apart-1 -N2 --wrap 'srun hostname')" 300
  LOST=apart-0 OTHER=apart-1
  [[ $(machine_of apart-0) == "$VM" ]] || LOST=apart-1 OTHER=apart-0
  assert_equal "machines" "$VM node1" "$(machine_of "$LOST") $(machine_of "$OTHER")"
}
ready() { kubectl get node "$VM" -o jsonpath='{.status.conditions[?(@.type=="Ready")].status}'; }
is_lost() { [[ $(ready) == Unknown ]]; }
has_run_again() { [[ $(job_field "$1" Restarts) == 1 && $(job_state "$1") == COMPLETED ]]; }
serves() { [[ $(slurm sinfo -h -n "$1" -o %t) == "idle~" ]]; }
seconds_since() { echo $((($(now_ms) - $1) / 1000)); }

test_a_machine_is_silent_for_seconds() {
  local job uid
  trap '"$BED" fault continue "$VM"; remove_nodeset apart' EXIT
  prepare
  job=$(submit --requeue -w "$LOST" --wrap 'sleep 30')
  wait_job "$job" RUNNING 30
  uid=$(pod_uid "$LOST")
  "$BED" fault stop "$VM"
  # Less than SlurmdTimeout, and than the 50 s after which Kubernetes takes a node for lost.
  stays 20 is_job_in "$job" RUNNING
  "$BED" fault continue "$VM"
  wait_done "$job" 120
  assert_equal "restarts, uid of the pod" "0 $uid" "$(job_field "$job" Restarts) $(pod_uid "$LOST")"
  assert_equal "$VM ready" True "$(ready)"
}

test_a_machine_is_lost_for_good() {
  local job since
  trap 'start_vm; remove_nodeset apart' EXIT
  prepare
  submit -w "$OTHER" --exclusive --wrap 'sleep 20' >/dev/null
  # What runs again ends at once.
  # shellcheck disable=SC2016 # the job's own variable
  job=$(submit --requeue --constraint=apart --exclusive --wrap \
    'if [ "${SLURM_RESTART_COUNT:-0}" = 0 ]; then sleep 900; fi')
  wait_job "$job" RUNNING 30
  assert_equal "node" "$LOST" "$(job_nodes "$job")"

  "$BED" fault kill "$VM"
  since=$(now_ms)
  wait_for 180 "the job has run again" has_run_again "$job"
  echo "# $(seconds_since "$since") s after the loss the job has run again (SlurmdTimeout is 60 s)"
  assert_equal "its node" "$OTHER" "$(job_nodes "$job")"
  wait_for 120 "Kubernetes takes $VM for lost" is_lost
  echo "# $(seconds_since "$since") s after the loss: $(node_state "$LOST"), $(node_reason "$LOST")"

  # As an administrator or a cloud does it.
  kubectl delete node "$VM" >/dev/null
  since=$(now_ms)
  # Kubernetes deletes its pods after a minute.
  wait_for 300 "$LOST serves" serves "$LOST"
  echo "# $(seconds_since "$since") s after $VM was deleted $LOST serves again"

  # The machine comes back under its name.
  "$BED" fault start "$VM"
  wait_done "$(submit -w "$LOST" --wrap true)" 600
  assert_equal "machine of $LOST" "$VM" "$(machine_of "$LOST")"
}

has_free_cpus() { [[ $(slurm sinfo -h -n "$1" -o %C) == 0/* ]]; } # NODE: none is allocated

# B13: the Kubernetes node of a pod of the bridge is gone. slurmctld ends its job after SlurmdTimeout; the pod's object
# stays until Kubernetes collects it.
test_a_pod_of_the_bridge_is_lost_with_its_kubernetes_node() {
  local job since
  trap 'start_vm; remove_workloads; remove_nodeset apart' EXIT
  prepare --set bridge.enabled=true \
    --set "bridge.users[0].namespace=$NAMESPACE,bridge.users[0].uid=2001,bridge.users[0].gid=2001"
  remove_workloads
  put_pod lost 'sleep 3600' '' '"nodeSelector": {"kubernetes.io/hostname": "'"$VM"'"}, "tolerations": ['"$TOLERATE"'],'
  wait_for 300 "it runs" pod_is lost Running
  job=$(pod_job lost)
  assert_equal "its node, its Kubernetes node" "$LOST $VM" "$(job_nodes "$job") $(machine_of lost)"

  "$BED" fault kill "$VM"
  since=$(now_ms)
  wait_job "$job" NODE_FAIL 300
  echo "# $(seconds_since "$since") s after the loss the job is NODE_FAIL (SlurmdTimeout is 60 s)"
  wait_for 60 "no CPU of $LOST is allocated" has_free_cpus "$LOST"
  wait_for 60 "the pod's condition" is_disrupted lost SlurmNodeFailure
  kubectl delete node "$VM" >/dev/null
  since=$(now_ms)
  wait_for 300 "the pod is collected" is_gone lost
  echo "# $(seconds_since "$since") s after $VM was deleted the pod is gone"
  wait_for 300 "$LOST serves" serves "$LOST"

  # The machine comes back under its name: nothing waits for the pod that was lost.
  "$BED" fault start "$VM"
  wait_done "$(submit -w "$LOST" --exclusive --wrap true)" 600
}
