# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What the SPANK plugins do for a job in its pod: environment, options, secrets, memory, scripts.

test_limits_of_the_pod() {
  local out
  out=$(slurm srun -N1 -w compute-4 bash -c \
    'echo "$SLURM_K8S_CPU_LIMIT $SLURM_K8S_MEMORY_LIMIT ${SLURM_K8S_ZONE-none}"')
  assert_equal "limits and zone" "2 1073741824 none" "$out"
  # Of a pod that a job was submitted from, nothing is left.
  out=$(slurm env SLURM_K8S_POD=other SLURM_K8S_RACK=r1 srun -N1 -w compute-4 bash \
    -c 'echo "$SLURM_K8S_POD ${SLURM_K8S_RACK-none}"')
  assert_equal "environment" "compute-4 none" "$out"
}

service_count() { grep -cE '^(KUBERNETES|WEB)_(SERVICE|PORT)' || true; }

test_no_service_variables() {
  local given
  local -a with=(env WEB_SERVICE_HOST=10.0.0.1 WEB_SERVICE_PORT=80 WEB_PORT_80_TCP_PROTO=tcp)
  given=$(slurm "${with[@]}" env | service_count)
  ((given > 3)) || fail "slurmctld's pod has only $given such variables: nothing to test"
  assert_equal "in a step" 0 "$(slurm "${with[@]}" srun -N1 env | service_count)"
  assert_equal "kept on request" "$given" "$(slurm "${with[@]}" srun -N1 --k8s-service-env=keep env | service_count)"
  # An option of sbatch holds for the batch script and for the steps in it.
  assert_equal "kept on request of sbatch" "$given $given" "$(
    slurm "${with[@]}" bash -c 'salloc -N1 -Q --k8s-service-env=keep bash -c "srun env; echo MARK; srun env"' \
      2>/dev/null |
      awk '/^(KUBERNETES|WEB)_(SERVICE|PORT)/ {n[m + 0]++} /^MARK/ {m = 1} END {print n[0], n[1]}')"
}

test_options_are_listed_and_checked() {
  local command out
  for command in srun sbatch salloc; do
    slurm "$command" --help | grep -e '--k8s-threads=auto|N|off' >/dev/null ||
      fail "$command --help doesn't list --k8s-threads"
  done
  for command in "srun true" "sbatch --wrap true"; do
    # shellcheck disable=SC2086 # words
    out=$(slurm ${command%% *} --k8s-threads=many ${command#* } 2>&1) && fail "$command: taken"
    [[ $out == *'--k8s-threads: invalid value "many": must be auto, off, or a number from 1 to 65535'* ]] ||
      fail "$command: $out"
  done
  # As an environment variable it is checked as well.
  out=$(slurm env SLURM_SPANK__SLURM_SPANK_OPTION_k8s_k8s_threads=0 sbatch --wrap true 2>&1) &&
    fail "sbatch: taken: $out"
  assert_equal "jobs" "" "$(slurm squeue -h)"
  assert_equal "threads by option" 3 "$(slurm srun -N1 --k8s-threads=3 bash -c 'echo $OMP_NUM_THREADS')"
  assert_equal "threads not asked for" none "$(slurm srun -N1 bash -c 'echo ${OMP_NUM_THREADS-none}')"
}

test_root_runs_no_jobs() {
  local out
  slurm srun -N1 -w compute-0 true
  out=$(kubectl exec compute-0 -c slurmd -- sbatch --wrap true 2>&1) && fail "taken: $out"
  [[ $out == *"Invalid user id"* ]] || fail "refused otherwise: $out"
}

# A task that eats memory until it is killed. Its pod has 1 GiB.
EAT='BEGIN { s = "0123456789abcdef"; while (1) { s = s s; t[i++] = s } }'

# The kernel's choice: the memory watch would end the step before.
test_a_task_dies_before_slurmd() {
  local job uid
  trap install_release EXIT
  install_release --set slurm.spank.memoryLimit=false
  slurm srun -N1 -w compute-3 true
  uid=$(pod_uid compute-3)
  job=$(submit -N1 -w compute-3 --no-requeue --wrap "srun awk '$EAT'")
  wait_job "$job" "FAILED OUT_OF_MEMORY COMPLETED NODE_FAIL" 120
  is_job_in "$job" "FAILED OUT_OF_MEMORY" || fail "job $job is $(job_state "$job")"
  assert_equal "uid of the pod" "$uid" "$(pod_uid compute-3)"
  assert_equal "restarts, OOM kills of the container" "0 " "$(kubectl get pod compute-3 -o \
    jsonpath='{.status.containerStatuses[0].restartCount} {.status.containerStatuses[0].state.terminated.reason}')"
  assert_equal "the next step's oom_score_adj" 1000 "$(slurm srun -N1 -w compute-3 cat /proc/self/oom_score_adj)"
  job=$(kubectl exec compute-3 -c slurmd -- bash -c 'cat /proc/$(pgrep -o slurmd)/oom_score_adj')
  ((job < 1000)) || fail "oom_score_adj of slurmd: $job"
}

# put_nodeset NAME REPLICAS SLURMD-FIELDS VOLUMES [CPUS]; fields and volumes in JSON without their braces, or empty.
put_nodeset() {
  local image
  image=$(kubectl get nodesets.slurm-k8s.io compute -o jsonpath='{.spec.slurmd.image}')
  kubectl apply --filename=- >/dev/null <<JSON
{"apiVersion":"slurm-k8s.io/v1alpha1","kind":"NodeSet","metadata":{"name":"$1"},"spec":{"replicas":$2,"slurmd":{
 "image":"$image","resources":{"requests":{"cpu":"50m","memory":"64Mi"},"limits":{"cpu":"${5:-2}","memory":"256Mi"}}
 ${3:+, $3}},"template":{"metadata":{"labels":{"topology.kubernetes.io/zone":"zone-7"}},"spec":{"volumes":[$4]}}}}
JSON
}

restore_release() { # NODESET…
  slurm scancel --me >/dev/null 2>&1 || true
  kubectl delete nodesets.slurm-k8s.io "$@" --ignore-not-found >/dev/null
  kubectl delete configmap e2e-scripts --ignore-not-found >/dev/null
  wait_for 60 "8 node records" has_node_count 8
  install_release
}

test_secrets_are_hidden_or_tasks_refused() {
  local out
  local mount='"volumeMounts":[{"name":"token","mountPath":"/opt/token"}]'
  local volume='{"name":"token","projected":{"sources":[{"serviceAccountToken":{"path":"token"}}]}}'
  trap 'restore_release plain capable; forbid_privileged' EXIT
  # What this cluster's administrator mounts, against the advice of docs/admin/access.md.
  install_release --set 'slurm.spank.hide={/opt/token,/run/slurm-k8s/key},podPolicy.serviceAccounts={default}'
  allow_privileged
  put_nodeset plain 1 "$mount" "$volume"
  put_nodeset capable 1 "$mount,\"securityContext\":{\"capabilities\":{\"add\":[\"SYS_ADMIN\"]}}" "$volume"
  wait_for "10 node records" has_node_count 10

  # Nothing readable is there: the key's mode is enough.
  assert_equal "a pod without the token" fine "$(slurm srun -N1 -w compute-0 echo fine)"
  out=$(slurm srun -N1 -w plain-0 cat /opt/token/token 2>&1) && fail "a task read it: $out"
  [[ $out == *"/opt/token/token: listed in hide= but readable by the job's user; task refused"* ]] ||
    fail "refused otherwise: $out"
  kubectl exec plain-0 -c slurmd -- test -s /opt/token/token
  # A profile runs before a task does.
  kubectl exec plain-0 -c slurmd -- sh -c 'echo "cat /opt/token/token >/tmp/stolen" >/etc/profile.d/e2e.sh'
  wait_job "$(submit --export=NONE -N1 -w plain-0 --wrap true)" "COMPLETED FAILED CANCELLED" 60
  kubectl exec plain-0 -c slurmd -- test ! -e /tmp/stolen || fail "a profile read it"
  # In one stream: in which order two of them arrive is not said.
  out=$(slurm srun -N1 -w capable-0 bash -c 'exec 2>&1; ls -A /opt/token /run/slurm-k8s/key; cat /opt/token/token') &&
    fail "read: $out"
  [[ $out == */opt/token:*/run/slurm-k8s/key:*"No such file"* && $out != *slurm.key* ]] || fail "hidden otherwise: $out"
  kubectl exec capable-0 -c slurmd -- test -s /opt/token/token
}

put_scripts() { # POD-SETUP JOB-SETUP: lines of shell
  kubectl create configmap e2e-scripts --dry-run=client -o json \
    --from-literal=pod-setup="#!/bin/sh"$'\n'"$1" --from-literal=job-setup="#!/bin/sh"$'\n'"$2" \
    --from-literal=job-cleanup="#!/bin/sh"$'\necho clean $SLURM_JOB_ID >>/run/slurm-k8s/setup.log' \
    --from-literal=pod-cleanup="#!/bin/sh"$'\nexit 0' | kubectl apply --filename=- >/dev/null
}

with_scripts() { # POD-SETUP JOB-SETUP HELM-OPTION…
  local scripts=slurm.spank.scripts
  put_scripts "$1" "$2"
  install_release --set "slurm.spank.threads=auto,slurm.spank.gpus=ids,$scripts.podSetup=/opt/setup/pod-setup" \
    --set "$scripts.podCleanup=/opt/setup/pod-cleanup,$scripts.jobSetup=/opt/setup/job-setup" \
    --set "$scripts.jobCleanup=/opt/setup/job-cleanup,$scripts.timeout=20" "${@:3}"
  # As a device plugin would give it two GPUs.
  put_nodeset spk 2 '"volumeMounts":[{"name":"scripts","mountPath":"/opt/setup"}],
    "env":[{"name":"NVIDIA_VISIBLE_DEVICES","value":"GPU-a,GPU-b"}]' \
    '{"name":"scripts","configMap":{"name":"e2e-scripts","defaultMode":493}}'
  wait_for "10 node records" has_node_count 10
}

setup_log() { kubectl exec spk-0 -c slurmd -- cat /run/slurm-k8s/setup.log; }
has_setup_log() { [[ $(setup_log | paste -sd,) == "$1" ]]; }

test_scripts_threads_and_gpus() {
  local first second log=$LOGS/spank-pod-cleanup follower
  trap 'restore_release spk' EXIT
  with_scripts 'echo "pod $SLURM_K8S_ZONE $(id -u)" >>/run/slurm-k8s/setup.log' \
    'echo "job $SLURM_JOB_ID $SLURM_JOB_UID" >>/run/slurm-k8s/setup.log'
  # Threads: of a batch script, which has the job's CPUs, and of steps in it.
  first=$(submit -w spk-0 -n1 -c2 --wrap 'set -e; test "$OMP_NUM_THREADS" = 2
    srun --overlap -n1 -c1 bash -c "test \$OMP_NUM_THREADS = 1"
    OMP_NUM_THREADS=7 srun --overlap -n1 -c1 bash -c "test \$OMP_NUM_THREADS = 7"
    CUDA_VISIBLE_DEVICES=1 srun --overlap -n1 bash -c "test \$CUDA_VISIBLE_DEVICES = GPU-b"
    test "$SLURM_K8S_ZONE" = zone-7')
  wait_done "$first" 90
  second=$(submit -w spk-0 -n1 --wrap true)
  wait_done "$second" 30
  wait_for "set-up of the pod, and of two jobs" has_setup_log \
    "pod zone-7 0,job $first 401,clean $first,job $second 401,clean $second"

  mkdir -p "$LOGS"
  "$BED" kubectl -n "$NAMESPACE" logs --follow spk-0 -c slurmd >"$log" & follower=$!
  # The follower is connected before the container ends: a log that is gone has no end to read.
  wait_for "the log of spk-0" test -s "$log"
  slurm scontrol update nodename=spk-0 state=power_down reason=e2e
  wait_for 60 "clean-up of the pod" grep 'pod clean-up /opt/setup/pod-cleanup: done' "$log"
  wait "$follower" || true
}

test_a_failed_set_up_drains_the_node() {
  local job
  trap 'restore_release spk' EXIT
  with_scripts true 'echo preparing; if [ "$SLURM_K8S_POD" = spk-0 ]; then echo no scratch here >&2; exit 3; fi' \
    --set slurm.suspendTime=120
  # A requeued job waits for ten seconds and more. A drained node that was powered down meanwhile would serve again.
  # Both are up, so that the job goes to the first.
  slurm scontrol update nodename='spk-[0-1]' state=power_up
  wait_for 60 "both nodes up" are_up spk-0 spk-1
  job=$(submit -C spk -N1 --wrap true)
  wait_for "the cause in the node's Reason" node_has_reason spk-0 \
    "job set-up /opt/setup/job-setup: exit code 3: no scratch here"
  node_has_state spk-0 DRAIN || fail "spk-0 is $(node_state spk-0)"
  wait_done "$job" 120
  assert_equal "node of the job, and its restarts" "spk-1 1" "$(job_nodes "$job") $(job_field "$job" Restarts)"
}

# A job that says on which CPUs it runs, and waits for the other one.
cpus_of_job() { # NAME
  local list='sed -n s/^Cpus_allowed_list:.//p /proc/self/status'
  submit -w bind-0 -n1 -c1 --mem=40 --job-name="$1" --wrap "srun $list >/tmp/$1; nproc >>/tmp/$1; $list >>/tmp/$1
    sleep 60" >/dev/null
}
has_said_cpus() { [[ $(kubectl exec bind-0 -c slurmd -- cat "/tmp/$1" 2>/dev/null | wc -l) == 3 ]]; }
said_cpus() { kubectl exec bind-0 -c slurmd -- cat "/tmp/$1" | paste -sd' '; }

# Pods with as many CPUs as the machine has, so that these count as their own, and with more.
test_jobs_of_a_pod_have_their_own_cpus() {
  local count list="s/^Cpus_allowed_list:.//p"
  count=$(nproc)
  ((count >= 2)) || fail "two jobs need two CPUs"
  trap 'restore_release bind share' EXIT
  install_release --set slurm.spank.cpuBind=true
  put_nodeset bind 1 "" "" "$count"
  put_nodeset share 1 "" "" "$((count + 1))"
  wait_for "10 node records" has_node_count 10
  cpus_of_job first
  cpus_of_job second
  wait_for 90 "the first job's CPUs" has_said_cpus first
  wait_for "the second job's CPUs" has_said_cpus second
  assert_equal "CPUs of a step, nproc, CPUs of the batch script" "0 1 0,1 1 1" \
    "$(printf '%s\n' "$(said_cpus first)" "$(said_cpus second)" | sort | paste -sd,)"
  slurm scancel --me
  assert_equal "CPUs of a step that wants no binding" "0-$((count - 1))" \
    "$(slurm srun -w bind-0 -n1 -c1 --mem=40 --cpu-bind=none sed -n "$list" /proc/self/status)"
  assert_equal "CPUs of a step in a pod without CPUs of its own" "0-$((count - 1))" \
    "$(slurm srun -w share-0 -n1 -c1 sed -n "$list" /proc/self/status)"
}
