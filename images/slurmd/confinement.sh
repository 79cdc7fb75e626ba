# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Confinement of jobs in a pod (spec.confinement of its NodeSet): the pod's part of cgroup.conf, and a control group
# that slurmd may write to. CGROUPS, SELF and RUN are for tests.
: "${CGROUPS:=/sys/fs/cgroup}" "${SELF:=/proc/self}" "${RUN:=/run/slurm-k8s}"

# "fatal: " is what the engine looks for in the end of the log (lib/nodeset/last_words.cc).
confine_refuse() { # TEXT
  echo "slurmd-entrypoint: fatal: confinement $SLURMD_CONFINEMENT: $1" >&2
  exit 2
}

# The kind of file system at a path: tests have none of cgroups.
file_system_of() { stat --file-system --format=%T "$1"; }

# The options of a mount in the table of mounts, such as rw,nosuid.
mount_options_of() { awk -v "path=$1" '$5 == path { options = $6 } END { print options }' "$SELF/mountinfo"; }

# Prints what is to be done so that the control group of the container is at CGROUPS, and writable: nothing, or the name
# of a function; "refuse TEXT" when it cannot be.
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
  mount -o remount,bind,rw "$CGROUPS" ||
    confine_refuse 'mount: not permitted: does an AppArmor profile or seccomp forbid it?'
}

# In namespaces in which the container's own control group is the root.
enter_own_cgroups() {
  # shellcheck disable=SC2016 # the inner shell's own
  exec unshare --cgroup --mount --propagation slave \
    bash -c 'umount "$0" && mount -t cgroup2 cgroup2 "$0" && exec "$@"' "$CGROUPS" slurmd-entrypoint "$@"
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
  printf '%s\n' CgroupPlugin=cgroup/v2 IgnoreSystemd=yes EnableControllers=yes ConstrainRAMSpace=yes
}

# The command of slurmd, as words in SLURMD, for the entrypoint: without what the entrypoint needed, and without the way
# to get it back.
# shellcheck disable=SC2034 # the entrypoint uses them
set_slurmd() {
  SLURMD=(slurmd)
  if [[ ${SLURMD_CONFINEMENT:-} == Privileged ]]; then
    SLURMD=(setpriv --no-new-privs --bounding-set=-sys_admin slurmd)
  fi
}

is_before_24_05() { # VERSION, such as "slurm-wlm 24.11.5"
  [[ $1 =~ ([0-9]+)\.([0-9]+) ]] && ((10#${BASH_REMATCH[1]} * 100 + 10#${BASH_REMATCH[2]} < 2405))
}

# Before slurmd starts; may replace this process by another entrypoint.
confine() { # ARGUMENT-OF-ENTRYPOINT...
  local plan
  rm -f "$RUN/confinement"
  print_cgroup_conf >"$RUN/cgroup.conf"
  set_slurmd
  [[ -n ${SLURMD_CONFINEMENT:-} ]] || return 0
  ! is_before_24_05 "$(slurmd -V)" || confine_refuse 'Slurm 24.05 or later is required'
  plan=$(plan_cgroup "$SLURMD_CONFINEMENT" "$(file_system_of "$CGROUPS")" "$(grep '^0::' "$SELF/cgroup")" \
    "$(mount_options_of "$CGROUPS")")
  case $plan in
    '') ;;
    refuse\ *) confine_refuse "${plan#refuse }" ;;
    *) "$plan" "$@" ;;
  esac
  # What is over the pod's own limit is killed alone, by its score, and not everything in the pod.
  { echo 0 >"$CGROUPS/memory.oom.group"; } 2>/dev/null || true
  describe_cpus "${SLURMD_CONF:-}" "${SLURMD_CPU_REQUEST:-}" "${SLURM_K8S_CPU_LIMIT:-}" >"$RUN/confinement"
}
