# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The controllers of JobSet and LeaderWorkerSet, as their projects build them, with their definitions and webhooks. They
# run beside the API server, which calls the webhooks by address.

# shellcheck disable=SC2034 # usage
CONTROLLERS=(jobset lws)

controller_group() {
  case $1 in
    jobset) echo jobset.x-k8s.io ;;
    lws) echo leaderworkerset.x-k8s.io ;;
  esac
}
# The label of its pods: its webhooks see no others.
controller_label() {
  case $1 in
    jobset) echo jobset.sigs.k8s.io/jobset-name ;;
    lws) echo leaderworkerset.sigs.k8s.io/name ;;
  esac
}
# Of the webhooks; the next one is that of the probes.
controller_port() {
  case $1 in
    jobset) echo 9443 ;;
    lws) echo 9445 ;;
  esac
}
controller_folder() { echo "$BED_STATE/controllers/$1"; }
controller_file() { dirname "$(readlink -f "$BED_BIN/$1")"; }

controller_configuration() {
  local port
  port=$(controller_port "$1")
  cat <<END
apiVersion: config.$1.x-k8s.io/v1alpha1
kind: Configuration
health: {healthProbeBindAddress: "127.0.0.1:$((port + 1))"}
metrics: {bindAddress: "0"}
webhook: {port: $port, host: "$NODE_ADDRESS", certDir: "$(controller_folder "$1")"}
internalCertManagement: {enable: false}
leaderElection: {leaderElect: false}
END
}

controller_write_certificate() {
  (cd "$BED_STATE/pki" && umask 077 && certificate_issue "$1" "/CN=$1" "subjectAltName=IP:$NODE_ADDRESS")
  cp "$BED_STATE/pki/$1.crt" "$(controller_folder "$1")/tls.crt"
  cp "$BED_STATE/pki/$1.key" "$(controller_folder "$1")/tls.key"
}

# A definition that something else made goes first, with its objects.
controller_create_definition() {
  controller_remove_definition "$1"
  kubectl_run create --filename "$(controller_file "$1")/definition.yaml" >/dev/null
}
controller_remove_definition() {
  local name
  for name in $(kubectl_run get customresourcedefinitions --output name | grep "[.]$(controller_group "$1")\$"); do
    kubectl_run delete "$name" >/dev/null
  done
}

# With the address instead of a Service, and for the controller's own pods.
controller_create_webhooks() {
  kubectl_run create --dry-run=client --output json --filename "$(controller_file "$1")/webhooks.yaml" |
    python3 "$BED_DIR/lib/webhooks.py" "$1" "https://$NODE_ADDRESS:$(controller_port "$1")" \
      "$BED_STATE/pki/ca.crt" "$(controller_label "$1")" |
    kubectl_run apply --filename=- >/dev/null
}
controller_remove_webhooks() {
  kubectl_run delete mutatingwebhookconfigurations,validatingwebhookconfigurations "$1" --ignore-not-found >/dev/null
}

controller_is_ready() { component_get "http://127.0.0.1:$(($(controller_port "$1") + 1))/readyz"; }

controller_start() {
  package_install python3
  program_ensure "$1"
  if process_is_gone "$1"; then
    mkdir -p "$(controller_folder "$1")"
    controller_write_certificate "$1"
    controller_configuration "$1" >"$(controller_folder "$1")/config.yaml"
    controller_create_definition "$1"
    process_start "$1" "KUBECONFIG=$BED_KUBECONFIG" "$BED_BIN/$1" --config "$(controller_folder "$1")/config.yaml"
  fi
  wait_until 60 "$1: ready (its log: $BED_LOG/$1.log)" controller_is_ready "$1"
  controller_create_webhooks "$1"
}

# Its objects go with their definition.
controller_stop() {
  controller_remove_webhooks "$1"
  controller_remove_definition "$1"
  process_kill "$1"
  rm -rf "$(controller_folder "$1")"
}

controller_main() {
  local action=${1:-}
  [[ $action == start || $action == stop ]] || usage_error 'controller: start or stop'
  [[ " ${CONTROLLERS[*]} " == *" ${2:-} "* && ${2:-} ]] || usage_error "controller $action: one of ${CONTROLLERS[*]}"
  state_require_up
  "controller_$action" "$2"
}
