# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# spareReplicas, spareSchedules: idle nodes are up beyond those in use. SuspendTime is 15 s.

with_spares() { # NUMBER: of the chart's NodeSet compute, 8 nodes
  kubectl patch nodesets.slurm-k8s.io compute --type=merge -p "{\"spec\":{\"spareReplicas\":$1}}" >/dev/null
}
with_windows() { # JSON
  kubectl patch nodesets.slurm-k8s.io compute --type=merge -p "{\"spec\":{\"spareSchedules\":$1}}" >/dev/null
}
without_spares() {
  slurm scancel --me >/dev/null 2>&1 || true
  with_spares 0
  with_windows '[]'
  wait_for 90 "no pod" has_pod_count 0
}
# Nodes that are idle and up, as sinfo has them: neither '~' nor '#', '%' or '!' behind the state.
idle_up() { slurm sinfo -hN -n 'compute-[0-7]' -o '%N %T' | awk '$2 == "idle" { print $1 }' | sort -u | paste -sd' '; }
has_idle_up() { [[ $(idle_up | wc -w) == "$1" ]]; }
has_no_more_uids() { [[ $(pod_uids) == "$1" ]]; }
pod_uids() { kubectl get pods -l slurm-k8s.io/node -o jsonpath='{.items[*].metadata.uid}'; }

test_spares_are_up_and_jobs_start_on_them() {
  local job uids
  needs_slurm 23.02
  trap without_spares EXIT
  with_spares 2
  wait_for 60 "two idle nodes up" has_idle_up 2
  assert_equal "pods" "compute-0 compute-1" "$(pods | paste -sd' ')"
  uids=$(pod_uids)
  stays 20 has_no_more_uids "$uids"
  # On spare nodes: no pod is made before the job runs.
  hold_pods
  job=$(submit -N2 --wrap 'srun -l hostname; sleep 600')
  wait_job "$job" RUNNING 20
  assert_equal "nodes of the job" "compute-[0-1]" "$(slurm squeue -h -j "$job" -o %N)"
  let_pods_start
  wait_for 60 "two idle nodes up beside the job" has_idle_up 2
  assert_equal "idle nodes" "compute-2 compute-3" "$(idle_up)"
  slurm scancel "$job"
  # Four are idle: two are suspended, those with the lower ordinals stay.
  only_the_first_two() { [[ $(pods | paste -sd' ') == "compute-0 compute-1" ]]; }
  wait_for 90 "two pods" only_the_first_two
  assert_equal "the same pods as before" "$uids" "$(pod_uids)"
}

test_a_job_larger_than_the_spares() {
  local job
  needs_slurm 23.02
  trap without_spares EXIT
  with_spares 1
  wait_for 60 "an idle node up" has_idle_up 1
  job=$(submit -N3 --wrap "srun true && $(runs_until larger)")
  wait_job "$job" RUNNING 60
  assert_equal "it has the spare node" compute-0 "$(slurm squeue -h -j "$job" -o %N | sed 's/\[\([0-9]*\).*/\1/')"
  end_run compute-0 larger
  wait_done "$job" 60
}

test_a_spare_that_dies_comes_back() {
  local uid
  needs_slurm 23.02
  trap without_spares EXIT
  with_spares 1
  wait_for 60 "an idle node up" has_idle_up 1
  uid=$(pod_uid compute-0)
  kubectl delete pod compute-0 --wait=false --grace-period=1 >/dev/null
  has_another() { has_idle_up 1 && [[ $(pod_uids) != *"$uid"* ]]; }
  wait_for 60 "another idle node up" has_another
}

# The window began a minute ago, before the sidecar knew of it, and closes within two minutes.
test_spares_of_a_window() {
  local start zone=Asia/Kathmandu # UTC+05:45
  needs_slurm 23.02
  trap without_spares EXIT
  with_spares 1
  wait_for 60 "an idle node up" has_idle_up 1
  start=$(TZ=$zone date -d '1 minute ago' '+%-M %-H %-d * *')
  with_windows "[{\"start\": \"$start\", \"duration\": \"3m\", \"timeZone\": \"$zone\", \"replicas\": 3}]"
  wait_for 60 "three idle nodes up" has_idle_up 3
  wait_for 200 "one pod when the window has closed" has_pod_count 1
  assert_equal "Ready" True "$(nodeset_condition compute status)"
  with_windows '[{"start": "0 7 * * *", "duration": "3h", "timeZone": "Europe/Nowhere", "replicas": 3}]'
  names_the_zone() { [[ $(nodeset_condition compute message) == "spec.spareSchedules[0].timeZone: Invalid "* ]]; }
  wait_for "the zone's error" names_the_zone
  assert_equal "its reason" SparesNotKept "$(nodeset_condition compute reason)"
  stays 10 has_pod_count 1
}
