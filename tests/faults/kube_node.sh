# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A Kubernetes node that really is lost: its kubelet and what runs in its pods stand still, longer than SlurmdTimeout,
# and its pods are deleted, as the taint of a lost Kubernetes node has them deleted. The bed has one Kubernetes node:
# the pods of some nodes stand still, those of others are "another Kubernetes node's", and serve on. The taint itself
# can't be tried: when all nodes of a cluster are silent Kubernetes takes it off again.
#
# Installs a release of its own, with a short SlurmdTimeout.
#
# Alone: all
# Release: kube_node

# shellcheck source=tests/faults/lib.sh
source "$E2E_FOLDER/../faults/lib.sh"

# signal_pod SIGNAL POD: to all processes of its containers.
signal_pod() {
  local uid pid processes
  uid=$(pod_uid "$2")
  # In a pod's cgroup its uid has dashes, or, with systemd's driver, underscores.
  # Processes that end meanwhile are an error to grep.
  processes=$(grep -lE "pod(${uid}|${uid//-/_})" /proc/[0-9]*/cgroup 2>/dev/null || true)
  for pid in $(cut -d / -f 3 <<<"$processes"); do kill "-$1" "$pid" 2>/dev/null || true; done
}
ctld_state() { ctld scontrol show node "$1" -o | grep -oE '\bState=[^ ]*' | cut -d= -f2; }
ctld_reason() { ctld scontrol show node "$1" | sed -n 's/^ *Reason=//p'; }
is_drained_for_pod() { [[ $(ctld_state "$1") == *DRAIN* && $(ctld_reason "$1") == "slurm-k8s: pod not deleted: "* ]]; }
ctld_job() { ctld scontrol show job "$1" -o | grep -oE "\b$2=[^ ]*" | head -1 | cut -d= -f2-; }
has_job_state() { [[ $(ctld_job "$1" JobState) == "$2" ]]; }
is_down() { [[ $(ctld_state "$1") == DOWN* || $(ctld_state "$1") == *POWER*DOWN* ]]; }

# R8: a node is replaced.
test_a_lost_kube_node() {
  local one two node job lost=() since
  remove_release
  # The sidecar doesn't watch: it would drain all nodes of the bed's one Kubernetes node.
  install_release --set slurm.suspendTime=900 --set-string controller.extraConf=SlurmdTimeout=20 \
    --set watchKubernetesNodes=false
  wait_done "$(submit -N6 --wrap 'srun hostname')" 90  # six pods
  # What runs again after the requeue ends at once.
  # shellcheck disable=SC2016 # the job's own variable
  two=$(submit -N2 --exclusive --requeue --wrap \
    'if [ "${SLURM_RESTART_COUNT:-0}" = 0 ]; then srun sleep 600; else srun hostname; fi')
  # shellcheck disable=SC2016
  one=$(submit -N1 --exclusive --requeue --wrap 'if [ "${SLURM_RESTART_COUNT:-0}" = 0 ]; then sleep 600; fi')
  wait_job "$two" RUNNING 30
  wait_job "$one" RUNNING 30
  mapfile -t lost < <(job_nodes "$two"; job_nodes "$one")
  assert_equal "nodes that are lost" 3 "${#lost[@]}"

  "$BED" fault stop kubelet
  # shellcheck disable=SC2064 # what is lost now
  trap "\"\$BED\" fault start kubelet 2>/dev/null
    for node in ${lost[*]}; do signal_pod CONT \$node; done" EXIT
  for node in "${lost[@]}"; do signal_pod STOP "$node"; done
  since=$(now_ms)
  kubectl delete pod "${lost[@]}" --wait=false >/dev/null
  for node in "${lost[@]}"; do wait_for 60 "$node lost" is_down "$node"; done
  echo "# after $((($(now_ms) - since) / 1000)) s slurmctld knows the loss"
  since=$(now_ms)
  wait_for 60 "the two-node job done" has_job_state "$two" COMPLETED
  wait_for "the one-node job done" has_job_state "$one" COMPLETED
  echo "# $((($(now_ms) - since) / 1000)) s later its jobs have run on other nodes"
  for node in "${lost[@]}"; do wait_for 60 "$node drained" is_drained_for_pod "$node"; done
  echo "# ${lost[0]}: $(ctld_reason "${lost[0]}")"
  # What comes next goes to nodes that are there, and takes no try with the lost ones.
  job=$(ctld sbatch --parsable --output=/dev/null -N1 --wrap true)
  wait_for "another job done" has_job_state "$job" COMPLETED
  assert_equal "restarts" 0 "$(ctld_job "$job" Restarts)"

  for node in "${lost[@]}"; do signal_pod CONT "$node"; done
  "$BED" fault start kubelet 2>/dev/null
  for node in "${lost[@]}"; do wait_for 90 "$node undrained" node_is_undrained "$node"; done
  wait_done "$(submit -N8 --wrap 'srun hostname')" 120
}
