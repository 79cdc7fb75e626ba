# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# GPUs by resource claims (DRA), with the example driver of the Kubernetes project: nodes have them as Gres. Slurm
# counts those of the bridge's pods, and leaves their choice to kube-scheduler.
#
# Release: vm_claims

# shellcheck source=tests/vm/lib.sh
source "$E2E_FOLDER/../vm/lib.sh"
# shellcheck source=tests/e2e/bridge.sh
source "$E2E_FOLDER/bridge.sh"

RESOURCES='"requests":{"cpu":"50m","memory":"64Mi"},"limits":{"cpu":"2","memory":"256Mi"}'

prepare() {
  start_vm
  "$BED" vm dra "$VM"
  need_release --set bridge.enabled=true --set-json 'bridge.deviceClasses={"gpu.example.com":"nvidia.com/gpu"}' \
    --set "bridge.users[0].namespace=$NAMESPACE,bridge.users[0].uid=2001,bridge.users[0].gid=2001"
}
put_claim_template() { # NAME COUNT
  kubectl apply --filename=- >/dev/null <<JSON
{"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaimTemplate","metadata":{"name":"$1"},"spec":{"spec":{"devices":
 {"requests":[{"name":"gpu","exactly":{"deviceClassName":"gpu.example.com","count":$2}}]}}}}
JSON
}
# The devices of a container, such as gpu-0 gpu-3: of the driver's variables GPU_DEVICE_0, GPU_DEVICE_3.
devices_in() { in_pod "$1" env | sed -n 's/^GPU_DEVICE_[0-9]*=//p' | tr -d '"' | sort; }
claims() { kubectl get resourceclaims -o name | grep -c . || true; }
has_claims() { [[ $(claims) == "$1" ]]; }
# A job of one CPU that writes which GPU it has into a file of the pod, and stays.
start_with_gpu() { # GRES FILE
  submit -w claimed-0 -n1 --mem=40 --gres="$1" --wrap "echo \"\$CUDA_VISIBLE_DEVICES\" >/tmp/$2; sleep 900"
}

test_claimed_gpus_are_gres() {
  local first second third
  trap 'slurm scancel --me; remove_nodeset claimed; kubectl delete resourceclaimtemplates two-gpus >/dev/null' EXIT
  prepare
  put_claim_template two-gpus 2
  put_spec claimed 3 '{"resourceClaims":[{"name":"gpus","resourceClaimTemplateName":"two-gpus"}],'"${ON_THE_VM#\{}" \
    '"resources":{"claims":[{"name":"gpus"}],'"$RESOURCES"'}' '"claimedGpus":2,"gresType":"a100"'
  assert_equal "Gres of a powered-down node" gpu:a100:2 "$(slurm sinfo -h -n claimed-0 -o %G | sed 's/(.*//')"
  assert_equal "claims before a job" 0 "$(claims)"
  # Two jobs of one GPU share a pod, and have different ones.
  first=$(start_with_gpu gpu:1 first)
  second=$(start_with_gpu gpu:a100:1 second)
  wait_job "$first" RUNNING 600
  wait_job "$second" RUNNING 120
  wait_for 60 "both have written" in_pod claimed-0 test -s /tmp/first -a -s /tmp/second
  assert_equal "the GPUs of both" "0 1" "$(in_pod claimed-0 cat /tmp/first /tmp/second | sort | paste -sd ' ')"
  # Another pod has the machine's other two.
  slurm srun -w claimed-1 --gres=gpu:2 true
  assert_equal "devices of two pods" "gpu-0 gpu-1 gpu-2 gpu-3" \
    "$({ devices_in claimed-0 && devices_in claimed-1; } | sort | paste -sd ' ')"
  # The third one waits for a claim, and says so; it comes when a node is powered down.
  third=$(submit -w claimed-2 --gres=gpu:2 --wrap 'sleep 900')
  wait_for 120 "why the third node waits" node_comment_has claimed-2 "cannot allocate all claims"
  assert_equal "claims" 3 "$(claims)"
  slurm scontrol update nodename=claimed-1 state=power_down reason=e2e
  wait_job "$third" RUNNING 300
  assert_equal "devices of the third pod" "$(comm -13 <(devices_in claimed-0) <(seq -f 'gpu-%.0f' 0 3))" \
    "$(devices_in claimed-2)"
  slurm scancel "$first" "$second" "$third"
  remove_nodeset claimed
  wait_for 120 "the claims are gone with the pods" has_claims 0
}

put_claiming_pod() { # NAME TEMPLATE COMMAND
  kubectl apply --filename=- >/dev/null <<JSON
{"apiVersion":"v1","kind":"Pod","metadata":{"name":"$1","labels":{"slurm-k8s.io/bridge":"$SCHEDULER"}},
 "spec":{"restartPolicy":"Never","schedulingGates":[{"name":"slurm-k8s.io/bridge"}],
  "tolerations":[$TOLERATE],"resourceClaims":[{"name":"gpu","resourceClaimTemplateName":"$2"}],
  "containers":[{"name":"main","image":"localhost/slurm-k8s/slurmd:$IMAGE_TAG",
   "command":["sh","-c","env | grep ^GPU_DEVICE_; $3"],
   "resources":{"claims":[{"name":"gpu"}],"requests":{"cpu":"50m","memory":"32Mi"},"limits":{"memory":"64Mi"}}}]}}
JSON
}
has_submission() { [[ $(job_of "$1") ]] || has_job "$1"; }
devices_told() { kubectl logs "$1" | sed -n 's/^GPU_DEVICE_[0-9]*=//p' | tr -d '"' | sort; } # POD

# B10. The kubelet and kube-scheduler know four GPUs, and so does Slurm.
test_pods_of_the_bridge_have_their_claims() {
  local job name third
  trap 'kubectl delete pods --selector slurm-k8s.io/bridge >/dev/null; remove_nodeset shared
    kubectl delete resourceclaimtemplates two-gpus >/dev/null' EXIT
  prepare
  put_claim_template two-gpus 2
  # With CPUs for all three.
  put_spec shared 1 "$ON_THE_VM" \
    '"resources":{"requests":{"cpu":"50m","memory":"64Mi"},"limits":{"cpu":"4","memory":"512Mi"}}' \
    '"bridgeDevices":{"nvidia.com/gpu":4}'
  for name in a b c; do
    put_claiming_pod "claims-$name" two-gpus 'until test -e /tmp/end; do sleep 1; done; exit 3'
    wait_for 60 "claims-$name has a job" has_submission "claims-$name"
  done
  wait_for 600 "the first runs" pod_is claims-a Running
  wait_for 600 "the second runs" pod_is claims-b Running
  assert_equal "its Kubernetes node" "$VM" "$(machine_of claims-a)"
  assert_equal "devices of both" "gpu-0 gpu-1 gpu-2 gpu-3" \
    "$({ devices_told claims-a && devices_told claims-b; } | sort | paste -sd ' ')"
  # The third waits in Slurm's queue, not for kube-scheduler.
  third=$(job_of claims-c)
  assert_equal "the third" "PENDING Resources" "$(job_state "$third") $(job_field "$third" Reason)"
  job=$(pod_job claims-a)
  tell_to_end claims-a
  wait_job "$job" FAILED 120
  assert_equal "the job's exit code" 3:0 "$(job_field "$job" ExitCode)"
  wait_for 300 "the third runs" pod_is claims-c Running
  assert_equal "devices of the third" "$(devices_told claims-a)" "$(devices_told claims-c)"
}
