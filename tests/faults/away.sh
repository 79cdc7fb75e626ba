# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The API server hangs, or doesn't take our token: nobody is blocked, and all goes on when it is back.
#
# Alone: test_api_server_hangs_for_two_minutes_in_a_mass_resume
# Release: ledger

# shellcheck source=tests/faults/lib.sh
source "$E2E_FOLDER/../faults/lib.sh"

# How much longer than it should each pause of this loop takes: the machine stalls.
note_stalls() {
  local last now
  last=$(now_ms)
  while sleep 0.2; do
    now=$(now_ms)
    echo $((now - last - 200)) >>"$WORK/stalls-$WORKER"
    last=$now
  done
}
continue_api_server() { "$BED" fault start kube-apiserver 2>/dev/null; }

test_api_server_hangs_for_two_minutes_in_a_mass_resume() {
  local running waiting later since worst stall stalls
  # This job runs all the time, and asks slurmctld every second.
  running=$(unique running)
  start_job "$running" "BEATS=0 RPC=1" -N1 -w compute-0 >/dev/null
  wait_for 60 "a running job" has_beaten "$running" 2

  # Pods of this one are there, but their slurmds don't come up in time; the next one's can't even be asked for.
  hold_slurmd compute-{1..4}
  waiting=$(unique waiting)
  start_job "$waiting" "BEATS=3" -N4 -w 'compute-[1-4]' >/dev/null
  wait_for "pods of a mass resume" pods_are_many 3
  note_stalls &
  stalls=$!
  "$BED" fault stop kube-apiserver
  # shellcheck disable=SC2064 # the process of now
  trap "release_slurmd; continue_api_server; kill $stalls 2>/dev/null || true" EXIT
  since=$(now_ms)
  later=$(unique later)
  ctld sbatch --parsable --output=/dev/null --job-name="$later" -N3 -w 'compute-[5-7]' \
    --wrap "BEATS=3 exec bash /ledger/job.sh" >/dev/null
  two_minutes_over() { (($(now_ms) - since > 120000)); }
  wait_for 130 "the end of two minutes" two_minutes_over
  release_slurmd
  continue_api_server
  since=$(now_ms)
  stop_job "$running"
  # Nodes that could not come up within ResumeTimeout were given up, and their jobs requeued.
  settle "$since" 240 --restarts 2 "$running" "$waiting" "$later"
  kill "$stalls"
  wait "$stalls" || true
  worst=$(awk '$5 == "beat" {print $6}' "$LEDGER/$running" | sort -n | tail -1)
  stall=$(sort -n "$WORK/stalls-$WORKER" | tail -1)
  echo "# slurmctld's slowest answer while the API server hung: $worst ms; the machine stalled for $stall ms at most"
  ((worst - stall < 4000)) || fail "slurmctld was blocked" # a request that hangs takes 30 s
  assert_equal "runs of the job that was running" 1 "$(grep -c ' start' "$LEDGER/$running")"
}

TOKEN_IN_POD=/var/run/secrets/kubernetes.io/serviceaccount/token
token_file() {
  local pod
  pod=$BED_STATE_FOLDER/kubelet/pods/$(pod_uid "$CONTROLLER")
  echo "$pod/volumes/kubernetes.io~projected/token/..data/token"
}
answer_to() { # TOKEN: HTTP code of a list of pods
  "$BED" exec curl --silent --output /dev/null --write-out '%{http_code}' --noproxy '*' \
    --cacert "$BED_STATE_FOLDER/pki/ca.crt" --header "Authorization: Bearer $1" \
    "$(kubectl config view --output 'jsonpath={.clusters[0].cluster.server}')/api/v1/namespaces/$NAMESPACE/pods?limit=1"
}
has_answer() { [[ $(answer_to "$1") == "$2" ]]; }

test_a_rotated_and_an_expired_token() {
  local file original bound first second since keeper
  file=$(token_file)
  original=$(<"$file")
  # A token ends with the object that it is bound to.
  kubectl create secret generic e2e-bound >/dev/null
  trap 'kubectl delete secret e2e-bound --ignore-not-found >/dev/null' EXIT
  bound=$(kubectl create token slurm-controller --bound-object-kind=Secret --bound-object-name=e2e-bound)

  # Rotated, in place, as often as kubelet puts its own back: within a minute or two.
  keep_bound() {
    while sleep 0.1; do [[ $(<"$file") == "$bound" ]] || printf %s "$bound" >"$file" || true; done
  }
  printf %s "$bound" >"$file"
  keep_bound &
  keeper=$!
  # shellcheck disable=SC2064 # the process of now
  trap "kill $keeper 2>/dev/null || true; kubectl delete secret e2e-bound --ignore-not-found >/dev/null" EXIT
  first=$(unique rotated)
  start_job "$first" "BEATS=1" -N2 >/dev/null
  wait_for 60 "a job with the rotated token" has_run "$first"

  kubectl delete secret e2e-bound >/dev/null
  wait_for "the token refused" has_answer "$bound" 401
  second=$(unique expired)
  engine_reads_it() { ctld cat "$TOKEN_IN_POD" | grep -cF "$bound" >/dev/null && (($(now_ms) - since > 1500)); }
  since=$(now_ms)  # the engine looks at the file once a second
  wait_for "the expired token in the pod" engine_reads_it
  start_job "$second" "BEATS=1" -N4 -w 'compute-[4-7]' >/dev/null
  engine_was_refused() {
    kubectl logs "$CONTROLLER" -c slurmctld --since=300s | grep -c 'compute-[4-7]: create: .*nauthorized' >/dev/null
  }
  wait_for "the engine told that its token is refused" engine_was_refused
  kill "$keeper"
  wait "$keeper" || true
  printf %s "$original" >"$file"
  since=$(now_ms)
  settle "$since" 240 "$first" "$second"
}
