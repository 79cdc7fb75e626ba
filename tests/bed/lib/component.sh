# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The daemons of the bed: how each is started, and how to see that it serves.

component_require() {
  local name
  for name in "${COMPONENTS[@]}"; do
    [[ $name != "${1:-}" ]] || return 0
  done
  usage_error "component ${1:-(none given)}: not one of ${COMPONENTS[*]}"
}

component_program() {
  case $1 in
    containerd) echo containerd ;;
    *) echo "$BED_BIN/$1" ;;
  esac
}

# Each question may take 10 s: with 2 s an emulated machine that loads images found no containerd that answers.
component_get() {
  network_run curl --silent --fail --max-time 10 --output /dev/null --noproxy '*' "$@"
}

component_serves() {
  case $1 in
    etcd) component_get http://127.0.0.1:2379/health ;;
    containerd) timeout 10 ctr --address "$CONTAINERD_SOCKET" version >/dev/null 2>&1 ;;
    kube-apiserver) component_get --cacert "$BED_STATE/pki/ca.crt" "https://$NODE_ADDRESS:6443/readyz" ;;
    # Each of these two makes a certificate for itself that nobody knows.
    kube-controller-manager) component_get --insecure https://127.0.0.1:10257/healthz ;;
    kube-scheduler) component_get --insecure https://127.0.0.1:10259/healthz ;;
    kubelet) component_get http://127.0.0.1:10248/healthz ;;
    kube-proxy) component_get http://127.0.0.1:10256/healthz ;;
    coredns) component_get http://127.0.0.1:8181/ready ;;
  esac
}

component_start() {
  local arguments
  process_is_gone "$1" || return 0
  mapfile -t arguments < <(config_arguments "$1")
  process_start "$1" "$(component_program "$1")" "${arguments[@]}"
}

# True when it serves; ends the program when its process has ended.
component_is_ready() {
  component_serves "$1" && return
  process_is_gone "$1" || return 1
  tail -n 5 "$BED_LOG/$1.log" >&2
  die "$1: has ended, see $BED_LOG/$1.log"
}

component_wait() {
  # On two idle processors each takes 3 s at most; tests run on busy machines, too.
  wait_until 180 "$1: ready (its log: $BED_LOG/$1.log)" component_is_ready "$1"
  progress "$1 ready"
}

components_all_serve() {
  local name
  for name in "${COMPONENTS[@]}"; do
    process_pid "$name" >/dev/null && component_serves "$name" || return 1
  done
}
