# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Faults for tests: a component or a container that hangs, dies, or comes back.

fault_signal() {
  process_signal "$1" "$2" || die "$2: not running"
}

fault_start() {
  process_signal CONT "$1" || component_start "$1"
  component_wait "$1"
}

fault_component() {
  case $1 in
    stop) fault_signal STOP "$2" ;;
    continue) fault_signal CONT "$2" ;;
    kill)
      process_pid "$2" >/dev/null || die "$2: not running"
      process_kill "$2"
      ;;
    start) fault_start "$2" ;;
    *) usage_error "fault $1 $2: unknown" ;;
  esac
}

# Containers are reached by containerd, so that it works while the API server doesn't.

fault_ctr() {
  ctr --address "$CONTAINERD_SOCKET" --namespace k8s.io "$@"
}

# Prints the id of the running container POD/CONTAINER; containers that have ended are listed for a while too.
fault_container_id() {
  local known running
  known=$(fault_ctr containers list --quiet "labels.\"io.kubernetes.pod.namespace\"==$BED_NAMESPACE,\
labels.\"io.kubernetes.pod.name\"==${1%%/*},labels.\"io.kubernetes.container.name\"==${1#*/}")
  running=$(fault_ctr tasks list | awk '$3 == "RUNNING" { print $1 }')
  comm -12 <(sort <<<"$known") <(sort <<<"$running") | grep -m 1 .
}

fault_container_is_gone() {
  ! fault_ctr tasks list | grep -q "^$1 .*RUNNING"
}

fault_container() {
  local action=$1 id
  id=$(fault_container_id "$2") || die "container $2: not running"
  shift 2
  case $action in
    kill)
      # Its first process: the kernel ends the others with it.
      fault_ctr tasks kill --signal SIGKILL "$id"
      wait_until 10 "container $id: end of its processes" fault_container_is_gone "$id"
      ;;
    exec)
      (($#)) || usage_error 'fault exec: COMMAND: required'
      exec ctr --address "$CONTAINERD_SOCKET" --namespace k8s.io tasks exec --exec-id "bed-$BASHPID-$RANDOM" "$id" "$@"
      ;;
    *) usage_error "fault $action: not for a container" ;;
  esac
}

fault_main() {
  local action=${1:-} name=${2:-}
  if [[ $name == */* ]]; then
    state_require_up
    fault_container "$@"
    return
  fi
  (($# == 2)) ||
    usage_error 'fault: stop|continue|kill|start COMPONENT, kill POD/CONTAINER, exec POD/CONTAINER COMMAND...'
  component_require "$name"
  state_require_up
  fault_component "$action" "$name"
}
