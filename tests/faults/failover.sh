# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Two controllers: the first is killed with -9 and stays away, the second takes over, the first comes back. The bridge
# acts beside the one in control. Both get a changed configuration, and neither a broken one.
#
# Installs a release of its own, with a volume that both share.
#
# Release: two controllers

# shellcheck source=tests/faults/lib.sh
source "$E2E_FOLDER/../faults/lib.sh"
# shellcheck source=tests/e2e/bridge.sh
source "$E2E_FOLDER/bridge.sh"
# shellcheck source=tests/e2e/config.sh
source "$E2E_FOLDER/config.sh"
# shellcheck source=tests/e2e/two_controllers.sh
source "$E2E_FOLDER/two_controllers.sh"

SCHEDULER=slurm-k8s-bridge-failover

install_two_controllers() {
  remove_workloads
  remove_release
  shared_volume
  install_release --set controller.replicas=2,controller.persistence.existingClaim=e2e-shared \
    --set slurm.resumeTimeout=300 \
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

evict() { # POD
  kubectl create --raw "/api/v1/namespaces/$NAMESPACE/pods/$1/eviction" -f - <<END
{"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "$1", "namespace": "$NAMESPACE"}}
END
}
both_are_ready() {
  [[ $(kubectl get statefulset slurm-controller -o jsonpath='{.status.readyReplicas}') == 2 ]] &&
    [[ $(kubectl get pdb slurm-controller -o jsonpath='{.status.disruptionsAllowed}') == 1 ]]
}

# As kubectl drain does on two Kubernetes nodes at once.
test_a_drain_evicts_one_controller_at_a_time() {
  local said
  wait_for 90 "two controllers" both_are_ready
  evict "$STAND_BY" >/dev/null
  if said=$(evict "$CONTROLLER" 2>&1); then fail "both are evicted: $said"; fi
  [[ $said == *"would violate the pod's disruption budget"* ]] || fail "the answer: $said"
  wait_for 120 "the second again" both_are_ready
  remove_volume
}

no_running_jobs() { [[ -z $(slurm squeue -h -t R,CF,CG) ]]; }
has_the_lease() { [[ $(kubectl get lease slurm-k8s-bridge -o jsonpath='{.spec.holderIdentity}') == "$1"* ]]; }

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
  # Each start of the first's slurmctld takes control away for some 45 s: the second's ends for 29 s, since it waits for
  # the call that asks it to, and stands by for 15 s. Then a new bridge looks for the job's pods for 10 s. The kubelet's
  # back-off grows: such starts are 10, 20, 40 and 80 s apart.
  wait_for 240 "a pod that the second's bridge binds" pod_is late Running
  wait_for 240 "the lease of the second's bridge" has_the_lease "$STAND_BY"
  wait_job "$job" RUNNING 240
  kubectl delete pod early >/dev/null
  wait_job "$job" CANCELLED 180
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

change() { # MAXJOBCOUNT OPTION…: helm waits for slurmctld's answer, and prints it when it is refused
  "$BED" helm upgrade slurm "$E2E_FOLDER/../../helm/slurm" -n "$NAMESPACE" --reuse-values --wait --timeout 180s \
    --set-string "controller.extraConf=MaxJobCount=$1" "${@:2}" 2>&1
}
uid_and_restarts() { # POD
  kubectl get pod "$1" -o jsonpath='{.metadata.uid}{range .status.containerStatuses[*]} {.restartCount}{end}'
}
has_line() { [[ $(kubectl exec "$1" -c config -- cat /etc/slurm/slurm.conf) == *"$2"* ]]; } # POD LINE
is_made_again() { [[ $(uid_and_restarts "$1") != "$2" ]] && both_are_ready; } # POD UID-AND-RESTARTS
setting_is() { [[ $(setting "$1") == "$2" ]]; }

both_have_condition() {
  local first
  first=$(config_condition message)
  [[ $first && $first == "$(config_condition message "$STAND_BY")" ]]
}
applied_events() { config_events ConfigApplied | sort -u | wc -l; } # how many configurations were told
has_applied_events() { (($(applied_events) == $1)); }

test_a_configuration_of_two_controllers() {
  local job first second said events
  wait_for 90 "two controllers" both_are_ready
  wait_for 60 "the first configuration" config_is Applied ""
  job=$(submit -n1 --wrap 'sleep 600')
  wait_job "$job" RUNNING 90
  first=$(uid_and_restarts "$CONTROLLER") second=$(uid_and_restarts "$STAND_BY")
  events=$(applied_events)
  change 11111 >/dev/null || fail "helm upgrade"
  assert_equal "MaxJobCount" 11111 "$(setting MaxJobCount)"
  wait_for "the event ConfigApplied" has_applied_events $((events + 1))
  # The second reads its files when it starts.
  wait_for 120 "another second controller" is_made_again "$STAND_BY" "$second"
  has_line "$STAND_BY" MaxJobCount=11111 || fail "the second lacks the line"
  wait_for "the condition of both" both_have_condition
  assert_equal "the first" "$first" "$(uid_and_restarts "$CONTROLLER")"

  second=$(uid_and_restarts "$STAND_BY")
  said=$(change 11111 --set controller.extraConfMap.NoSuchParameter=1) && fail "helm accepts it: $said"
  assert_equal "condition" Refused "$(config_condition reason)"
  assert_equal "both" "$first, $second" "$(uid_and_restarts "$CONTROLLER"), $(uid_and_restarts "$STAND_BY")"
  "$BED" helm rollback slurm -n "$NAMESPACE" --wait --timeout 180s >/dev/null || fail "helm rollback"

  # The second takes over with it, and takes the next change.
  wait_saved
  take_first_away
  assert_equal "MaxJobCount of the second" 11111 "$(setting MaxJobCount)"
  change 22222 --wait=false >/dev/null || fail "helm upgrade without the first" # which is never ready
  assert_equal "MaxJobCount of the second, changed" 22222 "$(setting MaxJobCount)"

  bring_first_back
  wait_for 60 "the first's MaxJobCount" setting_is MaxJobCount 22222
  first=$(uid_and_restarts "$CONTROLLER")
  wait_for 120 "two controllers again" both_are_ready
  second=$(uid_and_restarts "$STAND_BY")
  is_left_alone() { [[ "$(uid_and_restarts "$CONTROLLER"), $(uid_and_restarts "$STAND_BY")" == "$first, $second" ]]; }
  stays 15 is_left_alone
  assert_equal "job" RUNNING "$(job_state "$job")"
  slurm scancel "$job"
  remove_volume
}

has_former_files() { has_line "$1" MaxJobCount=11111 && ! has_line "$1" JobCompLoc=/no/such/file; } # POD
# The trial has no JobCompType. slurmctld ends of it, and its sidecar does not act.
test_files_that_end_slurmctld() {
  local said
  wait_for 90 "two controllers" both_are_ready
  change 11111 >/dev/null || fail "helm upgrade"
  said=$(change 11111 --set controller.extraConfMap.JobCompType=jobcomp/filetxt \
    --set controller.extraConfMap.JobCompLoc=/no/such/file) && fail "helm accepts it: $said"
  # The second has taken over, and does not install it.
  [[ $(config_condition message) == *"slurmctld has not started with it before"* ]] ||
    fail "the condition: $(config_condition message)"
  has_former_files "$STAND_BY" || fail "the second has the files"
  wait_for 180 "the first has the former files" has_former_files "$CONTROLLER"
  # Its hook waits for the first's condition.
  "$BED" helm rollback slurm -n "$NAMESPACE" --wait --timeout 180s >/dev/null || true
  wait_for 240 "two controllers again" both_are_ready
  ASK=$CONTROLLER
  wait_for 120 "the first has control" controller_ready
  wait_for 60 "applied" config_is Applied ""
  assert_equal "restarts of the second's slurmctld" 0 \
    "$(pod_field "$STAND_BY" '.status.containerStatuses[?(@.name=="slurmctld")].restartCount')"
  remove_volume
}

install_two_controllers
