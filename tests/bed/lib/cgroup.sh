# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The bed's cgroup, in version 1 (one tree per controller) and version 2 (one tree): the kubelet
# makes all pods below it (cgroupRoot), and its child `daemons` has the components, so that they
# outlive the session that started them.

cgroup_is_v2() {
  [[ $(stat -f -c %T /sys/fs/cgroup) == cgroup2fs ]]
}

# Prints where each cgroup tree is mounted.
cgroup_mounts() {
  if cgroup_is_v2; then
    echo /sys/fs/cgroup
  else
    awk '$3 ~ /^cgroup2?$/ && $2 ~ "^/sys/fs/cgroup/" { print $2 }' /proc/self/mounts
  fi
}

# Version 2: hands the controllers down from a group to its children.
cgroup_delegate() {
  local group=$1 controller
  for controller in cpu cpuset io memory pids; do
    grep -qw "$controller" "$group/cgroup.controllers" ||
      die "cgroup $group: has no controller $controller: the machine, or the container that this is, must delegate it"
    grep -qw "$controller" "$group/cgroup.subtree_control" && continue
    printf '+%s' "$controller" >"$group/cgroup.subtree_control" ||
      die "cgroup $group: cannot enable $controller for its children;" \
        "in a container, move the processes of its top group to a child first"
  done
  # The kubelet takes huge pages along where the kernel has them.
  if grep -qw hugetlb "$group/cgroup.controllers"; then
    printf '+hugetlb' >"$group/cgroup.subtree_control"
  fi
}

cgroup_create_v2() {
  cgroup_delegate /sys/fs/cgroup
  mkdir -p "/sys/fs/cgroup/$BED_CGROUP"
  cgroup_delegate "/sys/fs/cgroup/$BED_CGROUP"
  mkdir -p "/sys/fs/cgroup/$BED_CGROUP/daemons"
}

# Version 1: a new cpuset has no processors until somebody writes them.
cgroup_create_v1() {
  local mount group file
  while read -r mount; do
    for group in "$mount/$BED_CGROUP" "$mount/$BED_CGROUP/daemons"; do
      mkdir -p "$group"
      for file in cpuset.cpus cpuset.mems; do
        [[ ! -e $mount/$file ]] || cat "$mount/$file" >"$group/$file"
      done
    done
  done < <(cgroup_mounts)
}

cgroup_create() {
  if cgroup_is_v2; then cgroup_create_v2; else cgroup_create_v1; fi
  cgroup_set_weight
}

# By default a group weighs as much as one process beside it: beside compilers the whole cluster would nearly stand
# still.
cgroup_set_weight() {
  local mount
  while read -r mount; do
    [[ ! -w $mount/$BED_CGROUP/cpu.shares ]] || echo 8192 >"$mount/$BED_CGROUP/cpu.shares"
    [[ ! -w $mount/$BED_CGROUP/cpu.weight ]] || echo 800 >"$mount/$BED_CGROUP/cpu.weight"
  done < <(cgroup_mounts)
}

# cgroup_join PID: moves a process into the group of the daemons.
cgroup_join() {
  local mount
  while read -r mount; do
    printf '%s' "$1" >"$mount/$BED_CGROUP/daemons/cgroup.procs"
  done < <(cgroup_mounts)
}

# Prints the directories of our groups, children first.
cgroup_directories() {
  local mount
  while read -r mount; do
    [[ ! -d $mount/$BED_CGROUP ]] || find "$mount/$BED_CGROUP" -depth -type d
  done < <(cgroup_mounts)
}

cgroup_processes() {
  local directory
  while read -r directory; do
    cat "$directory/cgroup.procs" 2>/dev/null || true
  done < <(cgroup_directories) | sort -nu
}

# Kills what is left and says whether nothing was: for wait_until.
cgroup_kill_processes() {
  local pids directory
  mapfile -t pids < <(cgroup_processes)
  ((${#pids[@]})) || return 0
  # A frozen process does not end.
  while read -r directory; do
    [[ ! -w $directory/freezer.state ]] || echo THAWED >"$directory/freezer.state"
    [[ ! -w $directory/cgroup.freeze ]] || echo 0 >"$directory/cgroup.freeze"
  done < <(cgroup_directories)
  kill -s KILL "${pids[@]}" 2>/dev/null || true
  return 1
}

cgroup_rmdir() {
  local directory
  while read -r directory; do
    rmdir "$directory" 2>/dev/null || true
  done < <(cgroup_directories)
  [[ -z $(cgroup_directories) ]]
}

cgroup_remove() {
  wait_until 20 "cgroup $BED_CGROUP: end of its processes" cgroup_kill_processes
  wait_until 10 "cgroup $BED_CGROUP: removal" cgroup_rmdir
}
