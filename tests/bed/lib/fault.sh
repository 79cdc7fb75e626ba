# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Faults for tests: a component that hangs, dies, or comes back.

fault_signal() {
  process_signal "$1" "$2" || die "$2: does not run"
}

fault_start() {
  process_signal CONT "$1" || component_start "$1"
  component_wait "$1"
}

fault_main() {
  local action=${1:-} name=${2:-}
  (($# == 2)) || usage_error 'fault: stop|continue|kill|start COMPONENT'
  component_require "$name"
  state_require_up
  case $action in
    stop) fault_signal STOP "$name" ;;
    continue) fault_signal CONT "$name" ;;
    kill)
      process_pid "$name" >/dev/null || die "$name: does not run"
      process_kill "$name"
      ;;
    start) fault_start "$name" ;;
    *) usage_error "fault $action: unknown" ;;
  esac
}
