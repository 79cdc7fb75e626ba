# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Confinement of jobs in a pod (spec.confinement of its NodeSet): the pod's part of cgroup.conf, and a control group
# that slurmd may write to. SLURMD_CGROUPS, SLURMD_PROC and SLURMD_RUN are for tests.
: "${SLURMD_CGROUPS:=/sys/fs/cgroup}" "${SLURMD_PROC:=/proc}" "${SLURMD_RUN:=/run/slurm-k8s}"

# "fatal: " is what the engine looks for in the end of the log (lib/nodeset/last_words.cc).
confine_refuse() { # TEXT
  echo "slurmd-entrypoint: fatal: confinement $SLURMD_CONFINEMENT: $1" >&2
  exit 2
}

# The kind of file system at a path: tests have none of cgroups.
file_system_of() { stat --file-system --format=%T "$1"; }

# The options of a mount in the table of mounts, such as rw,nosuid.
mount_options_of() {
  awk -v "path=$1" '$5 == path { options = $6 } END { print options }' "$SLURMD_PROC/self/mountinfo"
}

# Prints the function that makes the container's control group writable at SLURMD_CGROUPS. Prints nothing when it is
# writable already, and "refuse TEXT" when it cannot be made so.
plan_cgroup() { # PROFILE FILE-SYSTEM CGROUP-OF-THIS-PROCESS OPTIONS-OF-MOUNT
  if [[ $2 != cgroup2fs ]]; then
    echo 'refuse the Kubernetes node has no cgroup version 2'
  elif [[ $3 != 0::/ && $1 == Privileged ]]; then
    # A privileged container has the cgroups of the whole Kubernetes node: jobs would leave the pod's limits.
    echo enter_own_cgroups
  elif [[ $3 != 0::/ ]]; then
    echo 'refuse the container has the cgroup namespace of the Kubernetes node'
  elif [[ ,$4, == *,rw,* ]]; then
    return
  elif [[ $1 == Privileged ]]; then
    echo make_cgroups_writable
  else
    echo 'refuse /sys/fs/cgroup is read-only: the pod needs a RuntimeClass with cgroup_writable (containerd 2.1)'
  fi
}

make_cgroups_writable() {
  mount -o remount,bind,rw "$SLURMD_CGROUPS" ||
    confine_refuse 'mount: not permitted: does an AppArmor profile or seccomp forbid it?'
}

# In a namespace in which the container's own control group is the root. The mounts are those of process 1, too: slurmd
# reads them there (_get_root_mount_mountinfo()).
enter_own_cgroups() {
  local fatal="slurmd-entrypoint: fatal: confinement $SLURMD_CONFINEMENT: mount: not permitted in the container"
  unshare --cgroup true || confine_refuse 'unshare: not permitted in the container'
  # shellcheck disable=SC2016 # the inner shell's own
  exec unshare --cgroup bash -c \
    '{ umount "$1" && mount -t cgroup2 cgroup2 "$1"; } || { echo "$0" >&2; exit 2; }; exec "${@:2}"' \
    "$fatal" "$SLURMD_CGROUPS" slurmd-entrypoint "$@"
}

# slurmd finds its place by the control group of process 1, which must stay where slurmd was started: slurmd leaves.
# Prints nothing, or "refuse TEXT".
plan_init() { # OWN-PID OWN-CGROUP CGROUP-OF-PROCESS-1
  if [[ $1 == 1 ]]; then
    echo "refuse slurmd would be process 1: the container needs an init, such as the image's tini"
  elif [[ $2 != "$3" ]]; then
    echo 'refuse process 1 is of another container (shareProcessNamespace)'
  fi
}

# What jobs need of the controllers that the container has, as cgroup.subtree_control takes it; or "refuse TEXT".
plan_controllers() { # CONTROLLERS
  local controller plan=''
  for controller in memory cpu cpuset; do
    if [[ " $1 " == *" $controller "* ]]; then
      plan+="${plan:+ }+$controller"
    elif [[ $controller != cpuset ]]; then
      echo "refuse the cgroup of the container has no controller \"$controller\""
      return
    fi
  done
  echo "$plan"
}

# A group that has others with limits must have no process itself. What `kubectl exec` has just started may be in the
# way: it is moved at the next attempt.
divide_root() { # CONTROLLERS
  local attempt pid
  local -a pids
  for ((attempt = 0; attempt < 100; attempt++)); do
    mapfile -t pids <"$SLURMD_CGROUPS/cgroup.procs"
    for pid in "${pids[@]}"; do
      { echo "$pid" >"$SLURMD_CGROUPS/system/cgroup.procs"; } 2>/dev/null || true # it has ended
    done
    if { echo "$1" >"$SLURMD_CGROUPS/cgroup.subtree_control"; } 2>/dev/null; then return 0; fi
    sleep 0.01
  done
  return 1
}

# The control groups in which slurmd expects the processes of the container, and puts jobs. Where it finds them it makes
# none, and asks no systemd (_init_slurmd_system_scope()). With IgnoreSystemd=yes it would make them: but 24.11 does so
# at each reconfiguration, now in its own group, and ends as that is in use. Slurm's build decides which of the two
# scopes it takes (MULTIPLE_SLURMD).
make_groups() {
  local controllers
  controllers=$(plan_controllers "$(<"$SLURMD_CGROUPS/cgroup.controllers")")
  [[ $controllers != refuse\ * ]] || confine_refuse "${controllers#refuse }"
  mkdir -p "$SLURMD_CGROUPS"/{system,system.slice} || confine_refuse 'no control group can be made'
  divide_root "$controllers" || confine_refuse "processes stay in the container's control group"
  { echo "$controllers" >"$SLURMD_CGROUPS/system.slice/cgroup.subtree_control"; } 2>/dev/null ||
    confine_refuse 'system.slice has no controllers'
  mkdir -p "$SLURMD_CGROUPS/system.slice"/{,"${SLURMD_NODENAME}_"}slurmstepd.scope ||
    confine_refuse 'no control group can be made for jobs'
}

# A number of thousandths from the environment is as large as the limit: no other pod on the Kubernetes node has the
# same CPUs, if the kubelet gives it some of its own, or if it has them all.
has_own_cpus() { # THOUSANDTHS CPUS
  [[ ${1:-} =~ ^[0-9]+$ && ${2:-} =~ ^[0-9]+$ ]] && (($1 == $2 * 1000))
}

# For the SPANK plugin: the node's CPUs, those of a core, and whether no other pod has them.
describe_cpus() { # NODE-DEFINITION THOUSANDTHS CPU-LIMIT
  local cpus=1 threads=1 own=no
  if [[ " $1" =~ \ CPUs=([0-9]+) ]]; then cpus=${BASH_REMATCH[1]}; fi
  if [[ " ${1,,}" =~ \ threadspercore=([0-9]+) ]]; then threads=${BASH_REMATCH[1]}; fi
  if has_own_cpus "${2:-}" "${3:-}"; then own=yes; fi
  echo "cpus=$cpus threads=$threads own=$own"
}

# What slurmctld's cgroup.conf includes, in this pod. CPUs and devices are not Slurm's: it counts CPUs as the Kubernetes
# node does, and devices need rights that slurmd does not have. Without confinement: a plugin that does nothing, since
# it is told to limit nothing. task/cgroup ends slurmd with CgroupPlugin=disabled (task_cgroup.c).
print_cgroup_conf() {
  if [[ -z ${SLURMD_CONFINEMENT:-} ]]; then
    echo CgroupPlugin=cgroup/v1
    return
  fi
  printf '%s\n' CgroupPlugin=cgroup/v2 EnableControllers=yes ConstrainRAMSpace=yes
}

# The command of slurmd, as words in SLURMD, for the entrypoint: without what the entrypoint needed, and without the way
# to get it back.
# shellcheck disable=SC2034 # the entrypoint uses them
set_slurmd() {
  SLURMD=(slurmd)
  if [[ ${SLURMD_CONFINEMENT:-} == Privileged ]]; then
    SLURMD=(setpriv --no-new-privs --ambient-caps=-sys_admin --inh-caps=-sys_admin --bounding-set=-sys_admin slurmd)
  fi
}

# 24.05 has the former code of cgroup/v2 (no false root), and was not tried.
is_before_24_11() { # VERSION, such as "slurm-wlm 24.11.5"
  [[ $1 =~ ([0-9]+)\.([0-9]+) ]] && ((10#${BASH_REMATCH[1]} * 100 + 10#${BASH_REMATCH[2]} < 2411))
}

# Does what a plan says: nothing, the refusal, or the function of this name.
follow_plan() { # PLAN ARGUMENT...
  case $1 in
    '') ;;
    refuse\ *) confine_refuse "${1#refuse }" ;;
    *) "$@" ;;
  esac
}

# Before slurmd starts; may replace this process by another entrypoint.
confine() { # ARGUMENT-OF-ENTRYPOINT...
  local own
  rm -f "$SLURMD_RUN/confinement"
  print_cgroup_conf >"$SLURMD_RUN/cgroup.conf"
  set_slurmd
  [[ -n ${SLURMD_CONFINEMENT:-} ]] || return 0
  ! is_before_24_11 "$(slurmd -V)" || confine_refuse 'Slurm 24.11 or later is required'
  own=$(grep '^0::' "$SLURMD_PROC/self/cgroup" || true)
  follow_plan "$(plan_cgroup "$SLURMD_CONFINEMENT" "$(file_system_of "$SLURMD_CGROUPS")" "$own" \
    "$(mount_options_of "$SLURMD_CGROUPS")")" "$@"
  follow_plan "$(plan_init $$ "$own" "$(grep '^0::' "$SLURMD_PROC/1/cgroup" || true)")"
  make_groups
  # What is over the pod's own limit is killed alone, by its score, and not everything in the pod.
  { echo 0 >"$SLURMD_CGROUPS/memory.oom.group"; } 2>/dev/null || true
  describe_cpus "${SLURMD_CONF:-}" "${SLURMD_CPU_REQUEST:-}" "${SLURM_K8S_CPU_LIMIT:-}" >"$SLURMD_RUN/confinement"
}
