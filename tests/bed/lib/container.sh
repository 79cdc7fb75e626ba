# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Containers of pods in BED_NAMESPACE, by containerd: the API server and the kubelet are not asked, and may be away.

container_ctr() {
  ctr --address "$CONTAINERD_SOCKET" --namespace k8s.io "$@"
}

# Prints the id of the running container POD/CONTAINER: containers that have ended are listed for a while too, and that
# of a pod that was deleted by force may still run beside its successor, which has the larger pid.
container_id() {
  local known
  known=$(container_ctr containers list --quiet "labels.\"io.kubernetes.pod.namespace\"==$BED_NAMESPACE,\
labels.\"io.kubernetes.pod.name\"==${1%%/*},labels.\"io.kubernetes.container.name\"==${1#*/}")
  container_ctr tasks list | awk '$3 == "RUNNING" { print $1, $2 }' | sort --key=2,2nr |
    awk -v known="$known" 'BEGIN { split(known, ids, "\n"); for (i in ids) is_known[ids[i]] }
      $1 in is_known && !id { id = $1 } END { if (id) print id; exit !id }'
}

container_is_gone() { # ID
  ! container_ctr tasks list | grep -q "^$1 .*RUNNING"
}

# Prints the pid of the first process of POD/CONTAINER, which is remembered as long as it runs.
container_pid() {
  local name=container-$BED_NAMESPACE-${1/\//-} id pid
  process_pid "$name" && return
  id=$(container_id "$1") || return 1
  pid=$(container_ctr tasks list | awk -v id="$id" '$1 == id { print $2 }')
  process_remember "$name" "$pid" || return 1
  printf '%s\n' "$pid"
}

# container_enter POD/CONTAINER COMMAND...: as its first process: user, environment, folder. A tenth of the processor
# time of `kubectl exec`, which tests would mostly consist of. CONTAINER_USER: another user, and the group of this
# number.
container_enter() {
  local name=$1 pid user group environment
  shift
  pid=$(container_pid "$name") || die "container $name: not running"
  user=${CONTAINER_USER:-$(awk '/^Uid:/ { print $3 }' "/proc/$pid/status")}
  group=${CONTAINER_USER:-$(awk '/^Gid:/ { print $3 }' "/proc/$pid/status")}
  mapfile -d '' environment <"/proc/$pid/environ"
  exec nsenter --target "$pid" --mount --uts --ipc --net --pid --setuid "$user" --setgid "$group" \
    --wd="/proc/$pid/cwd" -- env -i "${environment[@]}" "$@"
}
