# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Faults for tests: a component, a virtual machine or a container that hangs, dies, or comes back.

fault_signal() {
  process_signal "$1" "$2" || die "$2: not running"
}

fault_start() {
  process_signal CONT "$1" || component_start "$1"
  component_wait "$1"
}

# With the kubelet that it had.
fault_start_vm() {
  local options=()
  [[ ! -e $(vm_folder "$1")/options ]] || mapfile -t options <"$(vm_folder "$1")/options"
  process_signal CONT "$1" || vm_start "$1" "${options[@]}"
}

fault_component() {
  case $1 in
    stop) fault_signal STOP "$2" ;;
    continue) fault_signal CONT "$2" ;;
    kill)
      process_pid "$2" >/dev/null || die "$2: not running"
      process_kill "$2"
      ;;
    start) if vm_is_name "$2"; then fault_start_vm "$2"; else fault_start "$2"; fi ;;
    *) usage_error "fault $1 $2: unknown" ;;
  esac
}

fault_container() {
  local action=$1 name=$2 id
  shift 2
  case $action in
    kill)
      id=$(container_id "$name") || die "container $name: not running"
      # Its first process: the kernel ends the others with it.
      container_ctr tasks kill --signal SIGKILL "$id"
      wait_until 10 "container $id: end of its processes" container_is_gone "$id"
      ;;
    exec)
      (($#)) || usage_error 'fault exec: COMMAND: required'
      # Not by `ctr tasks exec`, which on a busy machine may lose the output of a short command, and ends with 0.
      container_enter "$name" "$@"
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
    usage_error 'fault: stop|continue|kill|start COMPONENT|VM, kill POD/CONTAINER, exec POD/CONTAINER COMMAND...'
  vm_is_name "$name" || component_require "$name"
  state_require_up
  fault_component "$action" "$name"
}
