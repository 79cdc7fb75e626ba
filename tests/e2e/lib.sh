# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What every e2e test has: the bed's tools, waiting with a deadline, TAP, and a cluster back at zero.
#
# A test file defines functions named test_*; tests/e2e/run sources it and calls them in order, each after to_zero.
# A function fails with `fail "what"`; then everything that a reader needs is printed.

E2E_FOLDER=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
BED=$E2E_FOLDER/../bed/bed
SUITE=${BED_SUITE:-trixie}
IMAGE_TAG=$("$BED" image tag)

# All that follows is about this namespace. Pods of its NodeSet compute need a label of the Kubernetes node.
use_namespace() {
  NAMESPACE=$1
  export BED_NAMESPACE=$1
  # shellcheck disable=SC2034 # where the chart is installed
  VALUES=(-f "$E2E_FOLDER/values.yaml" -f "$E2E_FOLDER/suites/$SUITE.yaml" --set "images.tag=$IMAGE_TAG"
    --set-string "nodesets.compute.podSpec.nodeSelector.e2e/$NAMESPACE=yes"
    --set nodesets.compute.slurmd.resources.requests.cpu=25m) # so that two processors take 8 nodes of each worker
}
use_namespace "${BED_NAMESPACE:-slurm}"

kubectl() { "$BED" kubectl -n "$NAMESPACE" "$@"; }
slurm() { "$BED" slurm "$@"; }

# Why the test fails, in the log and, below its "not ok", in what ./check prints at the end.
fail() {
  echo "# $*" >&2
  if [[ ${FAILURES:-} ]]; then echo "# $*" >>"$FAILURES"; fi
  return 1
}

now_ms() { date +%s%3N; }

# wait_for [SECONDS] TEXT COMMAND…: polls until COMMAND succeeds; fails naming TEXT. For 45 s at least: a busy machine
# stalls for seconds, and the engine repeats some things after 30 s. Where more would prove nothing: within.
wait_for() {
  local seconds=45
  if [[ $1 == +([0-9]) ]]; then
    if (($1 > seconds)); then seconds=$1; fi
    shift
  fi
  within "$seconds" "$@"
}
within() {
  local seconds=$1 text=$2 deadline
  shift 2
  deadline=$(($(now_ms) + seconds * 1000))
  until "$@" >/dev/null 2>&1; do
    if (($(now_ms) > deadline)); then
      fail "not within $seconds s: $text"
      return 1
    fi
    sleep 0.2
  done
}

# stays SECONDS COMMAND…: it is so all the time.
stays() {
  local deadline=$(($(now_ms) + $1 * 1000))
  shift
  while (($(now_ms) < deadline)); do
    "$@" || { fail "no more: $*"; return 1; }
    sleep 0.5
  done
}

assert_equal() { # WHAT EXPECTED ACTUAL
  [[ $2 == "$3" ]] || fail "$1: expected '$2', got '$3'"
}

# The Slurm that is installed. Versions compare like their dates.

slurm_version() { slurm scontrol --version | cut -d ' ' -f 2; }
is_slurm_before() { [[ $(slurm_version) < $1 ]]; }
SKIPPED=77
# The test ends, and counts as skipped.
skip() { # REASON
  echo "$*" >"$WORK/reason-$WORKER"
  exit "$SKIPPED"
}
# In the first line of a test: on other versions it is skipped.
needs_slurm() { if is_slurm_before "$1"; then skip "not with Slurm $(slurm_version)"; fi; }
needs_slurm_before() { is_slurm_before "$1" || skip "not with Slurm $(slurm_version)"; }

# What the chart's policy says of a pod, in JSON, that the engine would make; nothing is made.
try_pod() { # SPEC
  kubectl --as="system:serviceaccount:$NAMESPACE:slurm-controller" create --dry-run=server --output=name \
    --filename=- <<JSON
{"apiVersion":"v1","kind":"Pod","metadata":{"name":"policy-try"},"spec":$1}
JSON
}
PRIVILEGED_POD='{"hostPID":true,"automountServiceAccountToken":false,
  "containers":[{"name":"slurmd","image":"localhost/x"}]}'
# By the policy, and not because of an API server that is away.
is_refused() { [[ $(try_pod "$1" 2>&1) == *ValidatingAdmissionPolicy* ]]; }
# As the namespace's administrator: its pods may have hostPath, CAP_SYS_ADMIN and so on.
allow_privileged() {
  kubectl label namespace "$NAMESPACE" --overwrite pod-security.kubernetes.io/enforce=privileged >/dev/null
  wait_for "a privileged pod is let through" try_pod "$PRIVILEGED_POD"
}
forbid_privileged() {
  kubectl label namespace "$NAMESPACE" pod-security.kubernetes.io/enforce- >/dev/null
  wait_for "a privileged pod is refused" is_refused "$PRIVILEGED_POD"
}

# Without the label new pods of compute stay Pending: a cordon for this release alone.
hold_pods() { kubectl label node node1 "e2e/$NAMESPACE-" >/dev/null; }
let_pods_start() { kubectl label --overwrite node node1 "e2e/$NAMESPACE=yes" >/dev/null; }

# Jobs.

submit() { slurm sbatch --parsable --output=/dev/null "$@"; }
# A job's script that runs until end_run; each of a pod needs a NAME of its own.
runs_until() { echo "until test -e /tmp/$1; do sleep 0.2; done"; } # NAME
end_run() { kubectl exec "$1" -c slurmd -- touch "/tmp/$2"; }      # NODE NAME
job_field() { slurm scontrol show job "$1" -o | grep -oE "\b$2=[^ ]*" | head -1 | cut -d= -f2-; }
job_has_reason() { [[ $(job_field "$1" Reason) == "$2" ]]; } # ID REASON
job_state() { job_field "$1" JobState; }
admin_comment() { slurm scontrol show job "$1" | sed -n 's/^ *AdminComment=//p'; }
is_told() { [[ $(admin_comment "$1") == *"$2"* ]]; } # JOB WORDS
setting() { slurm scontrol show config | sed -n "s/^$1 *= //p"; } # of slurm.conf, as slurmctld has it
is_job_in() { [[ " $2 " == *" $(job_state "$1") "* ]]; }
wait_job() { # ID STATES SECONDS
  wait_for "$3" "job $1 in $2" is_job_in "$1" "$2" ||
    fail "job $1 is $(job_state "$1"), reason $(job_field "$1" Reason), nodes $(job_field "$1" NodeList)" \
      "$(slurm sinfo --noheader --list-reasons --format='%N: %E' | paste -sd ';')"
}
wait_done() { # ID SECONDS: completed with exit code 0
  wait_job "$1" "COMPLETED FAILED CANCELLED TIMEOUT NODE_FAIL" "$2" || return 1
  assert_equal "job $1" "COMPLETED 0:0" "$(job_state "$1") $(job_field "$1" ExitCode)"
}
job_nodes() { slurm scontrol show hostnames "$(job_field "$1" NodeList)"; }

# Nodes and pods.

pods() { kubectl get pods -l slurm-k8s.io/node -o jsonpath='{range .items[*]}{.metadata.name}{"\n"}{end}' | sort; }
pod_count() { pods | grep -c . || true; }
has_pod_count() { [[ $(pod_count) == "$1" ]]; }
pod_field() { kubectl get pod "$1" -o jsonpath="{$2}"; }
pod_uid() { pod_field "$1" .metadata.uid; }
has_no_pod() { ! kubectl get pod "$1"; }
pod_is() { [[ $(pod_field "$1" .status.phase) == "$2" ]]; } # POD PHASE
node_state() { slurm scontrol show node "$1" -o | grep -oE '\bState=[^ ]*' | cut -d= -f2; }
node_has_state() { [[ $(node_state "$1") == *"$2"* ]]; }
node_reason() { slurm scontrol show node "$1" -o | grep -oE '\bReason=.* \[' | sed 's/^Reason=//; s/ \[$//'; }
node_comment() { slurm scontrol show node "$1" | grep -oE 'Comment=.*' || true; }
node_comment_has() { [[ $(node_comment "$1") == *"$2"* ]]; } # NODE TEXT
# Idle, registered, and not on its way anywhere.
node_is_up() { [[ $(node_state "$1") == IDLE+CLOUD* ]] && ! [[ $(node_state "$1") == *@(POWER|DRAIN)* ]]; }
are_up() { # NODE…
  local node
  for node; do node_is_up "$node" || return 1; done
}
node_has_reason() { [[ $(node_reason "$1") == "$2"* ]]; } # NODE BEGINNING
node_is_undrained() { [[ $(node_state "$1") != *DRAIN* ]]; }
# All names as a hostlist, in the order of their numbers.
node_names() { slurm bash -c 'scontrol show hostlistsorted "$(sinfo -h -N -o %N | sort -u | paste -sd,)"'; }
has_nodes() { [[ $(node_names) == "$1" ]]; }
node_count() { slurm sinfo -h -N -o %N | sort -u | grep -c . || true; }
has_node_count() { [[ $(node_count) == "$1" ]]; }
is_zero() { has_pod_count 0 && has_no_job && all_idle_and_down; }
has_no_job() { local jobs; jobs=$(slurm squeue -h) && [[ -z $jobs ]]; }
# Every node idle and powered down: compact state "idle~".
all_idle_and_down() { [[ $(slurm sinfo -h -N -o %t | sort -u) == "idle~" ]]; }

# Ends all jobs and powers all nodes down, so that a test starts with a cluster at zero. Where a file has the bridge's
# functions (bridge.sh), its pods go first: what a failed test left there would stop each test after it.
to_zero() {
  ! declare -F remove_workloads >/dev/null || remove_workloads
  slurm scancel --me >/dev/null 2>&1 || true
  local busy
  busy=$(slurm sinfo -h -N -o '%N %t' | awk '$2 != "idle~" {print $1}' | sort -u | paste -sd, -)
  if [[ -n $busy ]]; then
    slurm scontrol update "nodename=$busy" state=power_down_force reason=e2e >/dev/null 2>&1 || true
  fi
  wait_for 180 "a cluster at zero" is_zero
}

scale() { kubectl scale nodesets.slurm-k8s.io/compute --replicas="$1" >/dev/null; }
nodeset_condition() { # FIELD of condition Ready of a NodeSet
  kubectl get nodesets.slurm-k8s.io "$1" -o jsonpath="{.status.conditions[?(@.type=='Ready')].$2}"
}

CONTROLLER=slurm-controller-0
container_field() { # CONTAINER FIELD of its status
  kubectl get pod "$CONTROLLER" -o jsonpath="{.status.containerStatuses[?(@.name=='$1')].$2}"
}
restart_slurmctld() {
  local before
  before=$(container_field slurmctld restartCount)
  slurm kill -TERM 1 || true
  wait_for 60 "slurmctld restarted" container_is_back slurmctld "$before"
}
container_is_back() { [[ $(container_field "$1" restartCount) -gt $2 && $(container_field "$1" ready) == true ]]; }
kill_container() { # of the controller's pod; returns when it is back
  local before
  before=$(container_field "$1" restartCount)
  "$BED" fault kill "$CONTROLLER/$1"
  wait_for 90 "$1 restarted" container_is_back "$1" "$before"
}
controller_ready() { slurm scontrol ping 2>/dev/null | grep -c 'is UP' >/dev/null; }

# slurmctld's log.

# When a pod's slurmctld last logged a text, in ms; fails when it hasn't.
logged_at() { # POD TEXT
  local line
  line=$(kubectl logs "$1" -c slurmctld --timestamps | grep -F "$2" | tail -1) || return 1
  date --date="${line%% *}" +%s%3N
}
# logged_since MS POD TEXT
logged_since() { [[ $(logged_at "$2" "$3") -ge $1 ]]; }

# slurmctld's state.

# Asks slurmctld without the API server.
ctld() { "$BED" fault exec "$CONTROLLER/slurmctld" "$@" </dev/null; }
has_saved() { ctld grep -qF "$1" /var/spool/slurmctld/job_state; }
# Slurm saves its state some seconds late, and forgets what came after (facts of Slurm). What came before a job that is
# in the file is there, too; a newer file alone may hold what was true before it took its time to the disk.
wait_saved() {
  local job name
  name=saved-$(now_ms)
  job=$(submit --hold --job-name="$name" --wrap true)
  wait_for "slurmctld's state saved" has_saved "$name"
  slurm scancel "$job"
}

# Whole logs and objects, for a fault that is rare.
keep_logs() { # FOLDER
  local container pod
  rm -rf "$1"
  mkdir -p "$1"
  for pod in $(kubectl get pods -o name -l app.kubernetes.io/name=slurmctld); do
    for container in slurmctld sidecar bridge; do
      kubectl logs "$pod" -c "$container" >"$1/${pod#pod/}-$container.log" 2>/dev/null || true
      kubectl logs "$pod" -c "$container" --previous >"$1/${pod#pod/}-$container-previous.log" 2>/dev/null || true
    done
  done
  for pod in $(kubectl get pods -o name -l \
    'app.kubernetes.io/name in (slurmd, slurmdbd, slurmrestd, mariadb, login)'); do
    kubectl logs "$pod" >"$1/${pod#pod/}.log" || true
  done
  kubectl get events --sort-by=.lastTimestamp >"$1/events" || true
  kubectl get pods,nodesets.slurm-k8s.io -o yaml >"$1/objects.yaml" || true
  slurm scontrol show job >"$1/jobs" || true
  slurm scontrol show nodes >"$1/nodes" || true
  if [[ -e $WORK/ledger-$WORKER ]]; then cp -r "$(<"$WORK/ledger-$WORKER")" "$1/ledger" || true; fi
}

# How often the containers of controllers have ended, with which exit codes, and what slurmctld said last.
ended_controllers() {
  local pod container='{.name} {.restartCount} ({.lastState.terminated.exitCode}{.state.terminated.exitCode})'
  for pod in $(kubectl get pods -o name -l app.kubernetes.io/name=slurmctld); do
    echo "# restarts of $pod: $(kubectl get "$pod" -o jsonpath="{range .status.containerStatuses[*]}$container {end}")"
    kubectl logs "$pod" -c slurmctld --previous --tail=4 2>/dev/null | cut -c1-200 | sed 's/^/# before: /' || true
  done
}

# What is not there any more, or never was, is left out.
diagnose() { # FOLDER for whole logs
  local pod
  keep_logs "$1"
  {
    set +e
    echo "--- all of it: $1"
    echo "--- pods"; kubectl get pods -o wide
    echo "--- nodes"; slurm sinfo -N -l
    echo "--- jobs"; slurm squeue -l
    echo "--- events"; kubectl get events --sort-by=.lastTimestamp | tail -20
    echo "--- slurmctld"; kubectl logs slurm-controller-0 -c slurmctld --tail=60
    echo "--- sidecar"; kubectl logs slurm-controller-0 -c sidecar --tail=20
    for pod in $(kubectl get pods -l slurm-k8s.io/node -o name | head -4); do
      echo "--- $pod"; kubectl logs "$pod" --tail=20
    done
    if [[ -d $1/ledger ]]; then tail -n 20 "$1"/ledger/*-[0-9]*; fi
  } 2>&1 | sed 's/^/#   /' >&2 || true
}
