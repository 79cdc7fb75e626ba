# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What keeps jobs to their CPUs and memory in a pod that they share, for each confinement of a NodeSet.
#
# Release: vm_confinement

# shellcheck source=tests/vm/lib.sh
source "$E2E_FOLDER/../vm/lib.sh"

CLASS=$NAMESPACE-writable-cgroup # of the runtime in tests/bed/config/vm/containerd.toml
# All CPUs of the machine are the pod's own, or may be another pod's too.
OWN='"requests":{"cpu":"2","memory":"64Mi"},"limits":{"cpu":"2","memory":"256Mi"}'
SHARED='"requests":{"cpu":"50m","memory":"64Mi"},"limits":{"cpu":"1","memory":"256Mi"}'

# A NodeSet of the chart with a confinement makes slurm.conf and cgroup.conf ready for others.
prepare() { # [OPTION of start_vm]
  start_vm "$@"
  need_release --set nodesets.unused.replicas=0 --set nodesets.unused.confinement=Cgroup
  kubectl label --overwrite namespace "$NAMESPACE" pod-security.kubernetes.io/enforce=privileged >/dev/null
  kubectl apply --filename=- >/dev/null <<JSON
{"apiVersion":"node.k8s.io/v1","kind":"RuntimeClass","metadata":{"name":"$CLASS"},"handler":"writable-cgroup"}
JSON
}
# put NAME CONFINEMENT RESOURCES [CLASS] [SECURITY-CONTEXT]: one node.
put() {
  local pod=$ON_THE_VM
  [[ -z ${4:-} ]] || pod="{\"runtimeClassName\":\"$4\",${ON_THE_VM#\{}"
  put_spec "$1" 1 "$pod" '"resources":{'"$3"'},"securityContext":'"${5:-null}" '"confinement":"'"$2"'"'
}

# Jobs of one CPU that write what they may use into a file of the pod, and stay.
start() { # NODE
  # shellcheck disable=SC2016 # the job's own
  submit -w "$1" -n1 --mem=40 -o /tmp/job-%j --wrap \
    'cd /proc/self; grep Cpus_allowed_list status; nproc; grep NoNewPrivs status; cat cgroup; sleep 900'
}
shown() { in_pod "$1" cat "/tmp/job-$2" 2>/dev/null; } # NODE JOB
has_shown() { [[ $(shown "$@") == *::* ]]; }
start_two() { # NODE: their ids are in FIRST and SECOND
  FIRST=$(start "$1")
  wait_job "$FIRST" RUNNING 600
  SECOND=$(start "$1")
  wait_job "$SECOND" RUNNING 120
  wait_for 120 "what job $FIRST may use" has_shown "$1" "$FIRST"
  wait_for 120 "what job $SECOND may use" has_shown "$1" "$SECOND"
}
start_in_two() { # NODE NODE: their ids are in FIRST and SECOND
  FIRST=$(start "$1")
  SECOND=$(start "$2")
  wait_job "$FIRST" RUNNING 600
  wait_job "$SECOND" RUNNING 600
  wait_for 120 "what job $FIRST may use" has_shown "$1" "$FIRST"
  wait_for 120 "what job $SECOND may use" has_shown "$2" "$SECOND"
}
cpus_of() { shown "$@" | sed -n '1s/.*\t//p;2p' | paste -sd ' '; } # NODE JOB: "0 1": the list, and what nproc says
# The job's group, NODE JOB: its name differs between releases.
group_of() { shown "$@" | sed -n 's,^0::\(.*\)/step_batch/user/task_.*,\1,p'; }
file_of_job() { in_pod "$1" cat "/sys/fs/cgroup$(group_of "$1" "$2")/$3"; } # NODE JOB FILE

# The groups of jobs are below that of the container, as the machine sees it, with the limit of the kubelet.
is_below_the_container() { # NODE JOB
  local group scope
  [[ $(group_of "$1" "$2") == "/system.slice/$1_slurmstepd.scope/"* ]] || fail "job $2: $(shown "$1" "$2")"
  group=$(in_vm find /sys/fs/cgroup -type d -path "'*$(group_of "$1" "$2")'")
  scope=${group%/system.slice/*}
  [[ $scope == /sys/fs/cgroup/kubepods.slice/*/cri-containerd-*.scope ]] || fail "group of job $2: $group"
  assert_equal "memory.max of the container" $((256 << 20)) "$(in_vm cat "$scope/memory.max")"
}

# A task over its memory ends alone.
memory_is_confined() { # NODE, where FIRST runs
  local uid job
  uid=$(pod_uid "$1")
  job=$(submit --requeue -w "$1" -n1 --mem=60 --wrap "$(eat 100)")
  wait_job "$job" OUT_OF_MEMORY 300
  assert_equal "restarts of job $job" 0 "$(job_field "$job" Restarts)"
  is_job_in "$FIRST" RUNNING || fail "its neighbour is $(job_state "$FIRST")"
  assert_equal "uid of the pod, restarts" "$uid 0" "$(pod_uid "$1") $(restarts_of_slurmd "$1")"
}

# A job of one CPU is in its group, with the time of that CPU.
is_confined() { # NODE JOB
  [[ $(shown "$1" "$2") == *NoNewPrivs:$'\t'1* ]] || fail "job $2 can get privileges"
  is_below_the_container "$1" "$2"
  assert_equal "time of job $2" "100000 100000" "$(file_of_job "$1" "$2" cpu.max)"
}

# What a program cannot do: leave its CPU, or change its limit.
cannot_undo() { # NODE JOB
  local limit out
  limit=$(file_of_job "$1" "$2" memory.max)
  assert_equal "memory.max of job $2" $((40 << 20)) "$limit"
  # shellcheck disable=SC2016 # the task's own
  out=$(slurm srun --overlap --jobid "$2" --mem=0 sh -c 'taskset -pc 0,1 $$ >/dev/null; nproc
    job=$(cut -d : -f 3 /proc/self/cgroup | sed "s,/step_.*,,"); limit=/sys/fs/cgroup$job/memory.max; cat $limit
    echo max >$limit; echo $?' 2>/dev/null | paste -sd ' ')
  [[ $out == "1 $limit "[1-9]* ]] || fail "CPUs of a task that asks for more, its limit, status of a change: $out"
  assert_equal "memory.max of job $2 after a change" "$limit" "$(file_of_job "$1" "$2" memory.max)"
}

# slurmd replaces itself by another one, with this variable.
has_reconfigured() { # NODE
  # shellcheck disable=SC2016 # the pod's own
  in_pod "$1" sh -c 'tr "\0" "\n" </proc/$(pidof slurmd)/environ | grep -qx SLURMD_RECONF=1'
}

# The jobs go on, and the next one is confined as they are. Twice: the second slurmd starts where the first one was.
reconfigures() { # NODE, where FIRST and SECOND run
  local uid cpus job third
  uid=$(pod_uid "$1")
  cpus=$(cpus_of "$1" "$SECOND")
  slurm scontrol reconfigure
  wait_for 60 "slurmd reads its files" has_reconfigured "$1"
  slurm scontrol reconfigure
  for job in "$FIRST" "$SECOND"; do
    slurm srun --overlap --jobid "$job" --mem=0 true
    is_job_in "$job" RUNNING || fail "job $job is $(job_state "$job")"
    assert_equal "restarts of job $job" 0 "$(job_field "$job" Restarts)"
    is_confined "$1" "$job"
  done
  assert_equal "uid of the pod, restarts" "$uid 0" "$(pod_uid "$1") $(restarts_of_slurmd "$1")"
  slurm scancel "$SECOND"
  third=$(start "$1")
  wait_job "$third" RUNNING 120
  wait_for 120 "what job $third may use" has_shown "$1" "$third"
  is_confined "$1" "$third"
  assert_equal "CPUs of job $third" "$cpus" "$(cpus_of "$1" "$third")"
  slurm scancel "$third"
}

# With Cgroup and Privileged, in a pod with CPUs of its own.
jobs_are_confined() { # NODE
  start_two "$1"
  assert_equal "CPUs of both jobs" "0 1,1 1" "$( (cpus_of "$1" "$FIRST"; cpus_of "$1" "$SECOND") | sort | paste -sd ,)"
  is_confined "$1" "$FIRST"
  is_confined "$1" "$SECOND"
  cannot_undo "$1" "$FIRST"
  reconfigures "$1"
  memory_is_confined "$1"
}

test_cgroup() {
  trap 'remove_nodeset cg' EXIT
  prepare
  put cg Cgroup "$OWN" "$CLASS"
  jobs_are_confined cg-0
  assert_equal "memory.oom.group of the pod" 0 "$(in_pod cg-0 cat /sys/fs/cgroup/memory.oom.group)"
  # The container has no right that it would not have without.
  assert_equal "securityContext" '{"allowPrivilegeEscalation":false,"capabilities":{"drop":["NET_RAW","MKNOD"]}}' \
    "$(kubectl get pod cg-0 -o jsonpath='{.spec.containers[0].securityContext}')"
}

test_privileged() {
  local set
  trap 'remove_nodeset priv' EXIT
  prepare
  put priv Privileged "$OWN"
  jobs_are_confined priv-0
  # slurmd, and so jobs, cannot get CAP_SYS_ADMIN (bit 21) back.
  for set in CapInh CapPrm CapEff CapBnd CapAmb; do
    assert_equal "CAP_SYS_ADMIN in $set of slurmd" 0 "$((0x$(capabilities_of_slurmd priv-0 "$set") >> 21 & 1))"
  done
}
capabilities_of_slurmd() { # NODE SET
  # shellcheck disable=SC2016 # the pod's own
  in_pod "$1" sh -c 'sed -n "s/^$0:\t//p" /proc/$(pidof slurmd)/status' "$2"
}

# Its cgroup namespace is that of the machine: jobs would be outside of the pod's limits.
test_a_privileged_container() {
  trap 'remove_nodeset full' EXIT
  prepare
  put full Privileged "$OWN" "" '{"privileged":true}'
  FIRST=$(start full-0)
  wait_job "$FIRST" RUNNING 600
  wait_for 120 "what job $FIRST may use" has_shown full-0 "$FIRST"
  is_below_the_container full-0 "$FIRST"
  slurm scontrol reconfigure
  wait_for 60 "slurmd reads its files" has_reconfigured full-0
  memory_is_confined full-0
}

# Nothing binds the jobs of pods that share the CPUs of a machine: they would share one of them, and leave the other.
test_pods_that_share_cpus() {
  trap 'remove_nodeset one; remove_nodeset two' EXIT
  prepare
  put one Cgroup "$SHARED" "$CLASS"
  put two Cgroup "$SHARED" "$CLASS"
  start_in_two one-0 two-0
  assert_equal "CPUs of both jobs" "0-1 2,0-1 2" "$(cpus_of one-0 "$FIRST"),$(cpus_of two-0 "$SECOND")"
  assert_equal "their time" "100000 100000,100000 100000" \
    "$(file_of_job one-0 "$FIRST" cpu.max),$(file_of_job two-0 "$SECOND" cpu.max)"
}

# The kubelet's static CPU manager gives CPUs to pods whose requests are their limits.
test_pods_with_cpus_of_their_own() {
  trap 'remove_nodeset own; remove_nodeset beside' EXIT
  prepare --static-cpu-manager
  put own Cgroup '"requests":{"cpu":"1","memory":"256Mi"},"limits":{"cpu":"1","memory":"256Mi"}' "$CLASS"
  put beside Cgroup "$SHARED" "$CLASS"
  start_in_two own-0 beside-0
  assert_equal "CPUs of both jobs" "1 1,0 1" "$(cpus_of own-0 "$FIRST"),$(cpus_of beside-0 "$SECOND")"
  assert_equal "CPUs of the first one's group" 1 "$(file_of_job own-0 "$FIRST" cpuset.cpus.effective)"
  is_below_the_container own-0 "$FIRST"
  assert_equal "the node's state" mixed "$(slurm sinfo -h -n own-0 -o %T | sed 's/allocated/mixed/')"
}

# In a cluster where other NodeSets are confined: memory is watched, CPUs are all of the pod.
test_none() {
  trap 'remove_nodeset none' EXIT
  prepare
  put none None "$OWN"
  start_two none-0
  assert_equal "CPUs of both jobs" "0-1 2,0-1 2" "$(cpus_of none-0 "$FIRST"),$(cpus_of none-0 "$SECOND")"
  [[ $(shown none-0 "$FIRST") == *$'\n0::/' ]] || fail "job $FIRST: $(shown none-0 "$FIRST")"
  slurm scancel "$SECOND"
  memory_is_confined none-0
}

test_cgroup_without_the_runtime_class() {
  local job
  trap 'remove_nodeset bare' EXIT
  prepare
  put bare Cgroup "$SHARED"
  job=$(submit -w bare-0 -n1 --wrap true)
  wait_for 400 "the job is told what the pod lacks" is_told "$job" \
    "confinement Cgroup: /sys/fs/cgroup is read-only: the pod needs a RuntimeClass"
}
