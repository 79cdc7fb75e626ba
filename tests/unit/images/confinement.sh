#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# images/slurmd/confinement.sh: what the entrypoint of a node's pod does with the container's control group, for each
# confinement. Prints TAP.
set -euo pipefail

top=$(cd "${TOP_SRCDIR:-../..}" && pwd)
# shellcheck source=tests/support/expect.sh
source "$top/tests/support/expect.sh"

# A function of the file, in a bash of its own.
cat >"$folder/call" <<'SCRIPT'
#!/bin/bash
set -euo pipefail
source "$SCRIPT"
"$@"
SCRIPT
chmod +x "$folder/call"
export SCRIPT=$top/images/slurmd/confinement.sh
call=("$folder/call")

# ---- the plan ----

readonly_options=ro,nosuid,nodev,noexec,relatime
writable_options=rw,nosuid,nodev,noexec,relatime
plan() { # NAME EXPECTED PROFILE FILE-SYSTEM CGROUP OPTIONS
  expect "$1" 0 "$2" "" "${call[@]}" plan_cgroup "${@:3}"
}
plan "Cgroup: a writable cgroup" "" Cgroup cgroup2fs 0::/ $writable_options
plan "Cgroup: a read-only one" "refuse *read-only*RuntimeClass with cgroup_writable (containerd 2.1)" \
  Cgroup cgroup2fs 0::/ $readonly_options
plan "Cgroup: the namespace of the Kubernetes node" "refuse *cgroup namespace of the Kubernetes node" \
  Cgroup cgroup2fs 0::/kubepods.slice/x.scope $writable_options
plan "Cgroup: version 1" "refuse *no cgroup version 2" Cgroup tmpfs "" $readonly_options
plan "Privileged: a read-only cgroup" make_cgroups_writable Privileged cgroup2fs 0::/ $readonly_options
plan "Privileged: a writable one" "" Privileged cgroup2fs 0::/ $writable_options
plan "Privileged: a privileged container" enter_own_cgroups \
  Privileged cgroup2fs 0::/kubepods.slice/x.scope $writable_options
plan "Privileged: version 1" "refuse *no cgroup version 2" Privileged tmpfs "" $writable_options
plan "an option that has rw in its name" "refuse *read-only*" Cgroup cgroup2fs 0::/ ro,arwx

init() { # NAME EXPECTED PID OWN-CGROUP CGROUP-OF-PROCESS-1
  expect "$1" 0 "$2" "" "${call[@]}" plan_init "${@:3}"
}
init "below an init" "" 7 0::/ 0::/
init "without an init" "refuse slurmd would be process 1: *" 1 0::/ 0::/
init "the init of another container" "refuse *shareProcessNamespace*" 7 0::/ 0::/../cri-containerd-a.scope

controllers() { # NAME EXPECTED CONTROLLERS
  expect "$1" 0 "$2" "" "${call[@]}" plan_controllers "$3"
}
controllers "all controllers" "+memory +cpu +cpuset" "cpuset cpu io memory hugetlb pids rdma misc"
controllers "no cpuset" "+memory +cpu" "cpu memory"
controllers "no memory" 'refuse *no controller "memory"' "cpuset cpu"
controllers "no cpu: a name that begins so" 'refuse *no controller "cpu"' "cpuset memory"

# ---- CPUs of its own ----

describe() { # NAME EXPECTED DEFINITION THOUSANDTHS LIMIT
  expect "$1" 0 "$2" "" "${call[@]}" describe_cpus "${@:3}"
}
describe "as many as the limit" "cpus=2 threads=1 own=yes" "CPUs=2 RealMemory=936" 2000 2
describe "less than the limit" "cpus=2 threads=1 own=no" "CPUs=2 RealMemory=936" 50 2
describe "half a CPU in the limit, which is rounded up" "cpus=1 threads=1 own=no" "CPUs=1 RealMemory=936" 1500 2
describe "threads of cores" "cpus=8 threads=2 own=yes" "CPUs=8 RealMemory=9 threadsPerCore=2" 8000 8
describe "nothing known" "cpus=1 threads=1 own=no" "" "" ""

# ---- old releases ----

expect "Slurm 24.05" 0 "" "" "${call[@]}" is_before_24_11 "slurm-wlm 24.05.8"
expect "Slurm 24.11" 1 "" "" "${call[@]}" is_before_24_11 "slurm-wlm 24.11.0"
expect "Slurm 26.05" 1 "" "" "${call[@]}" is_before_24_11 "slurm 26.05.3-1"

# ---- all of it ----

export SLURMD_CGROUPS=$folder/cgroups SLURMD_PROC=$folder/proc SLURMD_RUN=$folder/run FAKE=$folder/fake
mkdir -p "$SLURMD_CGROUPS" "$SLURMD_PROC"/{self,1} "$SLURMD_RUN" "$FAKE"
PATH=$FAKE:$PATH
cat >"$FAKE/slurmd" <<'END'
#!/bin/bash
echo "slurm-wlm ${VERSION:-24.11.5}"
END
cat >"$FAKE/stat" <<'END'
#!/bin/bash
echo "${TYPE:-cgroup2fs}"
END
cat >"$FAKE/mount" <<'END'
#!/bin/bash
echo "mount $*"
exit "${MOUNT_STATUS:-0}"
END
cat >"$FAKE/unshare" <<'END'
#!/bin/bash
[[ "${!#}" == true ]] || echo "unshare $*"
exit "${UNSHARE_STATUS:-0}"
END
chmod +x "$FAKE"/*
begin() { # OPTIONS CGROUP
  rm -rf "${SLURMD_RUN:?}"/* "${SLURMD_CGROUPS:?}"/*
  echo stale >"$SLURMD_RUN/confinement"
  echo 1 >"$SLURMD_CGROUPS/memory.oom.group"
  echo "cpuset cpu memory pids" >"$SLURMD_CGROUPS/cgroup.controllers"
  printf '%s\n' 1 7 >"$SLURMD_CGROUPS/cgroup.procs"
  echo "0::$2" | tee "$SLURMD_PROC/self/cgroup" >"$SLURMD_PROC/1/cgroup"
  echo "36 35 0:30 / $SLURMD_CGROUPS $1 - cgroup2 cgroup rw" >"$SLURMD_PROC/self/mountinfo"
}
# Calls confine, and prints the files it wrote and slurmd's command.
cat >"$folder/confine" <<'SCRIPT'
#!/bin/bash
set -euo pipefail
source "$SCRIPT"
confine "$@"
{ cat "$SLURMD_RUN"/{cgroup.conf,confinement} "$SLURMD_CGROUPS/memory.oom.group" 2>/dev/null || true; } | paste -sd ' '
echo "${SLURMD[*]}"
SCRIPT
chmod +x "$folder/confine"
export SLURMD_NODENAME=c-0 SLURMD_CONF="CPUs=2 RealMemory=936" SLURMD_CPU_REQUEST=2000 SLURM_K8S_CPU_LIMIT=2
conf="CgroupPlugin=cgroup/v2 EnableControllers=yes ConstrainRAMSpace=yes"

begin $readonly_options /
expect "None: a plugin without effect" 0 "CgroupPlugin=cgroup/v1 1"$'\nslurmd' "" "$folder/confine"
begin $writable_options /
expect "Cgroup" 0 "$conf cpus=2 threads=1 own=yes 0"$'\nslurmd' "" \
  env SLURMD_CONFINEMENT=Cgroup "$folder/confine"
# What slurmd finds: the last process that was moved, controllers, and both scopes.
groups=$(cd "$SLURMD_CGROUPS" && cat system/cgroup.procs cgroup.subtree_control system.slice/cgroup.subtree_control &&
  ls -d system.slice/*/)
expect "its control groups" 0 "7
+memory +cpu +cpuset
+memory +cpu +cpuset
system.slice/c-0_slurmstepd.scope/
system.slice/slurmstepd.scope/" "" echo "$groups"
begin $writable_options /
echo "cpuset cpu" >"$SLURMD_CGROUPS/cgroup.controllers"
expect "Cgroup without a controller" 2 "" 'slurmd-entrypoint: fatal: confinement Cgroup: *no controller "memory"' \
  env SLURMD_CONFINEMENT=Cgroup "$folder/confine"
begin $writable_options /
mkdir "$SLURMD_CGROUPS/cgroup.subtree_control"
expect "a process that stays" 2 "" "slurmd-entrypoint: fatal: confinement Cgroup: processes stay in *" \
  env SLURMD_CONFINEMENT=Cgroup "$folder/confine"
begin $writable_options /
echo 0::/../pause.scope >"$SLURMD_PROC/1/cgroup"
expect "a shared process namespace" 2 "" "slurmd-entrypoint: fatal: confinement Cgroup: *shareProcessNamespace*" \
  env SLURMD_CONFINEMENT=Cgroup "$folder/confine"
begin $readonly_options /
expect "Cgroup without the RuntimeClass" 2 "" \
  "slurmd-entrypoint: fatal: confinement Cgroup: /sys/fs/cgroup is read-only: *" \
  env SLURMD_CONFINEMENT=Cgroup "$folder/confine"
sets="--ambient-caps=-sys_admin --inh-caps=-sys_admin --bounding-set=-sys_admin"
dropped="setpriv --no-new-privs $sets slurmd"
begin $readonly_options /
expect "Privileged" 0 \
  "mount -o remount,bind,rw $SLURMD_CGROUPS"$'\n'"$conf cpus=2 threads=1 own=yes 0"$'\n'"$dropped" "" \
  env SLURMD_CONFINEMENT=Privileged "$folder/confine"
begin $readonly_options /
expect "Privileged, where mounts are forbidden" 2 "mount *" \
  "slurmd-entrypoint: fatal: confinement Privileged: mount: not permitted*" \
  env SLURMD_CONFINEMENT=Privileged MOUNT_STATUS=1 "$folder/confine"
begin $writable_options /kubepods.slice/x.scope
expect "Privileged, in a privileged container" 0 \
  "unshare --cgroup bash * slurmd-entrypoint -v -v" "" \
  env SLURMD_CONFINEMENT=Privileged "$folder/confine" -v -v
expect "Privileged, where namespaces are forbidden" 2 "" \
  "slurmd-entrypoint: fatal: confinement Privileged: unshare: not permitted *" \
  env SLURMD_CONFINEMENT=Privileged UNSHARE_STATUS=1 "$folder/confine"
# The inner shell: what follows the options of unshare.
cat >"$FAKE/unshare" <<'END'
#!/bin/bash
shift
exec "$@"
END
printf '#!/bin/bash\necho "umount $*"\n' >"$FAKE/umount"
printf '#!/bin/bash\necho "again: $*"\n' >"$FAKE/slurmd-entrypoint"
chmod +x "$FAKE"/*
expect "the entrypoint in its own namespaces" 0 \
  "umount $SLURMD_CGROUPS"$'\n'"mount -t cgroup2 cgroup2 $SLURMD_CGROUPS"$'\n'"again: -v" "" \
  env SLURMD_CONFINEMENT=Privileged "$folder/confine" -v
expect "a mount that is forbidden there" 2 "umount *" \
  "slurmd-entrypoint: fatal: confinement Privileged: mount: not permitted in *" \
  env SLURMD_CONFINEMENT=Privileged MOUNT_STATUS=1 "$folder/confine" -v
begin $writable_options /
expect "Slurm is too old" 2 "" "slurmd-entrypoint: fatal: confinement Cgroup: Slurm 24.11 or later is required" \
  env SLURMD_CONFINEMENT=Cgroup VERSION=24.05.8 "$folder/confine"

echo "1..$number"
