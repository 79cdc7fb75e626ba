# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Jobs that end the slurmd of their node: held at the second time; one that fills its pod's memory ends.

# A node whose slurmd's container ends by itself when a job says so: with an error, or over the pod's memory. In JSON.
END="slurmd-entrypoint &
  while sleep 0.2; do
    if [[ -e /asked/error ]]; then echo 'slurmd: fatal: a job asked for it' >&2; exit 1; fi
    [[ ! -e /asked/memory ]] || exec awk 'BEGIN { s = \"0123456789abcdef\"; while (1) { s = s s; t[i++] = s } }'
  done"
WORDS='fatal: a job asked for it'
END=${END//\"/\\\"}
END=${END//$'\n'/\\n}
put_ends() {
  local image
  image=$(kubectl get nodesets.slurm-k8s.io compute -o jsonpath='{.spec.slurmd.image}')
  kubectl apply --filename=- >/dev/null <<JSON
{"apiVersion":"slurm-k8s.io/v1alpha1","kind":"NodeSet","metadata":{"name":"ends"},"spec":{"replicas":1,"slurmd":{
 "image":"$image","resources":{"requests":{"cpu":"50m","memory":"64Mi"},"limits":{"cpu":"2","memory":"256Mi"}}},
 "template":{"spec":{
  "volumes":[{"name":"asked","emptyDir":{}}],
  "containers":[{"name":"slurmd","volumeMounts":[{"name":"asked","mountPath":"/asked"}],
   "command":["bash","-c","$END"]}]}}}}
JSON
  wait_for "9 node records" has_node_count 9
}
remove_ends() {
  slurm scancel --me >/dev/null 2>&1 || true
  kubectl delete nodesets.slurm-k8s.io ends --ignore-not-found >/dev/null
  wait_for 60 "8 node records" has_node_count 8
}

is_held() { [[ $(job_state "$1") == PENDING && $(job_field "$1" Reason) == JobHeldUser ]]; }

test_a_job_that_ends_slurmd_twice_is_held() {
  local neighbour job
  trap remove_ends EXIT
  put_ends
  neighbour=$(submit -w ends-0 --mem=50 --wrap "$(runs_until held)")
  wait_job "$neighbour" RUNNING 60
  sleep 5 # it has run longer than the other one
  job=$(submit -w ends-0 --mem=50 --wrap 'touch /asked/error; sleep 300')
  wait_for "the neighbour is told" is_told "$neighbour" "ends-0: pod ended: slurmd ended with exit code 1: $WORDS"
  wait_for 90 "job $job held" is_held "$job"
  is_told "$job" "job held: slurmd ended 2 times while it ran: pod ended: slurmd ended with exit code 1: $WORDS" ||
    fail "AdminComment: $(admin_comment "$job")"
  wait_job "$neighbour" RUNNING 120
  end_run ends-0 held
  wait_done "$neighbour" 60
  assert_equal "restarts of the job" 2 "$(job_field "$job" Restarts)"
  assert_equal "restarts of its neighbour" 2 "$(job_field "$neighbour" Restarts)"
  # Its user may try again.
  slurm scontrol release "$job"
  wait_for 90 "job $job held again" is_told "$job" "slurmd ended 3 times"
}

test_a_job_that_fills_its_pod_ends_out_of_memory() {
  local job next
  trap remove_ends EXIT
  put_ends
  job=$(submit -w ends-0 --mem=50 --wrap 'touch /asked/memory; sleep 300')
  wait_job "$job" OUT_OF_MEMORY 90
  assert_equal "restarts" 0 "$(job_field "$job" Restarts)"
  is_told "$job" "ends-0: pod ended: OOMKilled" || fail "AdminComment: $(admin_comment "$job")"
  next=$(submit -w ends-0 --mem=50 --wrap true)
  wait_done "$next" 120
}

# As a kubelet evicts a pod for its limit of ephemeral-storage, which the bed's machine cannot measure.
evict_for_its_disk() {
  kubectl patch pod "$1" --subresource=status --type=merge --patch '{"status": {"phase": "Failed", "reason": "Evicted",
    "message": "Pod ephemeral local storage usage exceeds the total limit of containers 1Gi. "}}' >/dev/null
}

# R8: pressure on ephemeral storage.
test_a_job_that_fills_its_disk_twice_is_held() {
  local job
  trap remove_ends EXIT
  put_ends
  job=$(submit -w ends-0 --mem=50 --wrap 'sleep 300')
  wait_job "$job" RUNNING 60
  evict_for_its_disk ends-0
  has_restarted() { [[ $(job_state "$job") == RUNNING && $(job_field "$job" Restarts) == 1 ]]; }
  wait_for 90 "job $job running again" has_restarted
  evict_for_its_disk ends-0
  wait_for 90 "job $job held" is_held "$job"
  is_told "$job" "pod ended: Evicted: Pod ephemeral local storage usage exceeds the total limit" ||
    fail "AdminComment: $(admin_comment "$job")"
}
