# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Devices that the kubelet gives to pods: a device plugin without hardware (device-plugin/main.go) offers what
# config/device-plugin.args says.

# Prints RESOURCE COUNT, one a line.
device_list() {
  config_arguments device-plugin | awk -F ';' 'NF == 5 { print $1, split($5, numbers, " ") }'
}

device_is_offered() { # RESOURCE COUNT
  [[ $(kubectl_run get node "$BED_NODE" -o "jsonpath={.status.allocatable.${1//./\\.}}") == "$2" ]]
}

device_start() {
  local arguments resource count
  state_require_up
  program_ensure device-plugin
  lock_take state # two tests may start it at once
  if process_is_gone device-plugin; then
    mapfile -t arguments < <(config_arguments device-plugin)
    process_start device-plugin "$BED_BIN/device-plugin" "${arguments[@]}"
  fi
  while read -r resource count; do
    wait_until 60 "$resource: $count on the node (log: $BED_LOG/device-plugin.log)" \
      device_is_offered "$resource" "$count"
  done < <(device_list)
  device_list
}

# Containers keep their devices. The node goes on to name the resources, with none allocatable.
device_stop() {
  state_require_up
  lock_take state
  process_kill device-plugin
  rm -rf "$BED_STATE/devices"
  device_remove_sockets
}

# The bed's sockets, beside those of a kubelet's other plugins.
device_remove_sockets() {
  rm -f /var/lib/kubelet/device-plugins/slurm-k8s-bed-*.sock
}

device_main() {
  case ${1:-} in
    start) device_start ;;
    stop) device_stop ;;
    *) usage_error 'device: start or stop' ;;
  esac
}
