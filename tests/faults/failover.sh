# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Two controllers: the first is killed with -9 and stays away, the second takes over, the first comes back. The bridge
# acts beside the one in control.
#
# Installs a release of its own, with a volume that both share.
#
# Release: two controllers

# shellcheck source=tests/faults/lib.sh
source "$E2E_FOLDER/../faults/lib.sh"
# shellcheck source=tests/e2e/bridge.sh
source "$E2E_FOLDER/bridge.sh"
# shellcheck source=tests/e2e/two_controllers.sh
source "$E2E_FOLDER/two_controllers.sh"

SCHEDULER=slurm-k8s-bridge-failover
STAND_BY=slurm-controller-1

# slurmctld's commands, in the pod that $ASK names.
slurm() { kubectl exec "${ASK:-$CONTROLLER}" -c slurmctld -- "$@" </dev/null; }

install_two_controllers() {
  remove_workloads
  remove_release
  shared_volume
  install_release --set controller.replicas=2,controller.persistence.existingClaim=e2e-shared \
    --set slurm.slurmctldTimeout=10,slurm.resumeTimeout=300 \
    -f <(values_with_one_user)
  prepare_ledger
}

# seconds_to SINCE POD TEXT LIMIT: waits for the text, prints how long after SINCE (ms) it was logged.
seconds_to() {
  wait_for "$4" "$2: $3" logged_since "$1" "$2" "$3" || return 1
  awk -v ms="$(($(logged_at "$2" "$3") - $1))" 'BEGIN { printf "%.1f", ms / 1000 }'
}

pod_uids() {
  kubectl get pods -l slurm-k8s.io/node -o jsonpath='{range .items[*]}{.metadata.name}={.metadata.uid} {end}'
}
job_has_ended() { grep -q ' end' "$LEDGER/$1"; }
both_run() { pod_is compute-2 Running && pod_is compute-3 Running; }

# A controller's pod that is created from now on finds no Kubernetes node; those that are there stay.
place_controllers() { # NODE-SELECTOR
  kubectl patch statefulset slurm-controller --type=merge --patch '{"spec": {
    "updateStrategy": {"type": "OnDelete", "rollingUpdate": null},
    "template": {"spec": {"nodeSelector": '"$1"'}}}}' >/dev/null
}

test_the_second_takes_over_and_gives_back() {
  local running starting later back uids since control engine end
  wait_for "the second stands by" logged_at "$STAND_BY" "engine stands by"
  logs_work() { (($(kubectl logs "$1" -c sidecar | grep -c 'nodeset [a-z]*: ') > 0)); }
  wait_for "the work of the sidecar in control, in its log" logs_work "$CONTROLLER"
  logs_work "$STAND_BY" && fail "the stand-by's sidecar works, too"

  running=$(unique running) starting=$(unique starting)
  start_job "$running" "BEATS=0" -N2 -w 'compute-[0-1]' >/dev/null
  wait_for 60 "the job's first beat" has_beaten "$running" 1
  hold_slurmd compute-2 compute-3
  start_job "$starting" "BEATS=1 NODES=1" -N2 -w 'compute-[2-3]' >/dev/null
  wait_for 60 "pods without slurmd" both_run
  wait_saved
  uids=$(pod_uids)

  place_controllers '{"e2e": "nowhere"}'
  since=$(now_ms)
  "$BED" fault kill "$CONTROLLER/slurmctld"
  kubectl delete pod "$CONTROLLER" --force --grace-period=0 >/dev/null 2>&1
  ASK=$STAND_BY
  control=$(seconds_to "$since" "$STAND_BY" "Running as primary" 150)
  engine=$(seconds_to "$since" "$STAND_BY" "engine started" 60)
  echo "# seconds from kill -9 to control $control, to the engine $engine"
  assert_equal "pods" "$uids" "$(pod_uids)"
  release_slurmd
  wait_for 60 "the end of the job whose nodes came up" job_has_ended "$starting"
  later=$(unique later)
  start_job "$later" "BEATS=1 NODES=1" -N2 -w 'compute-[4-5]' >/dev/null
  wait_for 60 "the end of a job that the second started" job_has_ended "$later"
  stop_job "$running"
  wait_for "the end of the job that ran all the time" job_has_ended "$running"

  place_controllers null
  since=$(now_ms)
  kubectl delete pod "$CONTROLLER" >/dev/null
  ASK=$CONTROLLER
  wait_for 120 "the first pod" pod_is "$CONTROLLER" Running
  control=$(seconds_to "$since" "$CONTROLLER" "Running as primary" 120)
  end=$(seconds_to "$since" "$STAND_BY" "engine stands by" 60)
  engine=$(seconds_to "$since" "$CONTROLLER" "engine started" 60)
  echo "# seconds from the pod's return to control $control, to the end of the second's engine $end, to its own $engine"
  back=$(unique back)
  start_job "$back" "BEATS=1 NODES=1" -N2 -w 'compute-[6-7]' >/dev/null
  settle "$since" 240 "$running" "$starting" "$later" "$back"
  remove_volume
}

no_running_jobs() { [[ -z $(slurm squeue -h -t R,CF,CG) ]]; }
lease_holder() { kubectl get lease slurm-k8s-bridge -o jsonpath='{.spec.holderIdentity}'; }

# The kubelet starts a container that ends again and again later each time. Its pod stays, with the bridge that had the
# lease.
end_slurmctld_again_and_again() {
  while sleep 1; do "$BED" fault kill "$CONTROLLER/slurmctld" >/dev/null 2>&1 || true; done
}

test_the_bridge_follows_control() {
  local job since ends
  put_pod early 'sleep 600'
  wait_for 90 "a pod runs" pod_is early Running
  job=$(pod_job early)
  wait_saved
  since=$(now_ms)
  end_slurmctld_again_and_again &
  ends=$!
  # shellcheck disable=SC2064 # the process of now
  trap "kill $ends" EXIT
  wait_for 120 "the second has control" logged_since "$since" "$STAND_BY" "Running as primary"
  ASK=$STAND_BY
  put_pod late 'sleep 600'
  wait_for 90 "a pod that the second's bridge binds" pod_is late Running
  [[ $(lease_holder) == "$STAND_BY"* ]] || fail "the lease is of $(lease_holder)"
  assert_equal "job of the other pod" RUNNING "$(job_state "$job")"
  kubectl delete pod early >/dev/null
  wait_job "$job" CANCELLED 60
  since=$(now_ms)
  kill "$ends"
  trap - EXIT
  kubectl delete pod "$CONTROLLER" >/dev/null # a new pod's containers start at once
  wait_for 120 "the first has control" logged_since "$since" "$CONTROLLER" "Running as primary"
  ASK=$CONTROLLER
  put_pod last 'sleep 600'
  wait_for 120 "a pod that the first's bridge binds" pod_is last Running
  kubectl delete pods late last >/dev/null
  wait_for 60 "no job that runs" no_running_jobs
  remove_volume
}

install_two_controllers
