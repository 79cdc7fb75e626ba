# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The controllers of JobSet and LeaderWorkerSet and the Prometheus Operator, as their projects build them, with their
# definitions and webhooks. They run beside the API server, which calls the webhooks by address.

# shellcheck disable=SC2034 # usage
CONTROLLERS=(jobset lws prometheus-operator)

controller_group() {
  case $1 in
    jobset) echo jobset.x-k8s.io ;;
    lws) echo leaderworkerset.x-k8s.io ;;
    prometheus-operator) echo monitoring.coreos.com ;;
  esac
}
# The label of its pods: its webhooks see no others. Those of the Prometheus Operator see no pods.
controller_label() {
  case $1 in
    jobset) echo jobset.sigs.k8s.io/jobset-name ;;
    lws) echo leaderworkerset.sigs.k8s.io/name ;;
    prometheus-operator) echo none ;;
  esac
}
# Of the webhooks; the next one is that of the probes.
controller_port() {
  case $1 in
    jobset) echo 9443 ;;
    lws) echo 9445 ;;
    prometheus-operator) echo 9447 ;;
  esac
}
controller_folder() { echo "$BED_STATE/controllers/$1"; }
controller_file() { dirname "$(readlink -f "$BED_BIN/$1")"; }

# The programs that run; the first one has the controller's name.
controller_programs() {
  case $1 in
    prometheus-operator) echo "$1" prometheus-admission-webhook ;;
    *) echo "$1" ;;
  esac
}

# Prints the arguments of a program, one a line. The reloader gets processor time: by default it has a hundredth of a
# processor, and takes half a minute to start.
controller_arguments() { # CONTROLLER PROGRAM
  local port folder
  port=$(controller_port "$1")
  folder=$(controller_folder "$1")
  case $2 in
    prometheus-operator)
      printf '%s\n' "--web.listen-address=127.0.0.1:$((port + 1))" --config-reloader-cpu-limit=0 \
        "--prometheus-config-reloader=$PROMETHEUS_IMAGE" --feature-gates=StatusForConfigurationResources=true
      ;;
    prometheus-admission-webhook)
      printf '%s\n' "--web.listen-address=$NODE_ADDRESS:$port" "--web.cert-file=$folder/tls.crt" \
        "--web.key-file=$folder/tls.key"
      ;;
    *) printf '%s\n' --config "$folder/config.yaml" ;;
  esac
}

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

controller_definitions() {
  kubectl_run get customresourcedefinitions --output name | sed -n "s/^.*\/\(.*[.]$(controller_group "$1")\)\$/\1/p"
}
controller_definitions_serve() {
  local names
  names=$(controller_definitions "$1" | paste -sd ,)
  kubectl_run get --all-namespaces "$names" >/dev/null 2>&1
}
# A definition that something else made goes first, with its objects. The Prometheus Operator never serves a kind that
# is not there when it starts.
controller_create_definition() {
  controller_remove_definition "$1"
  kubectl_run create --filename "$(controller_file "$1")/definition.yaml" >/dev/null
  wait_until 30 "$1: definitions" controller_definitions_serve "$1"
}
controller_remove_definition() {
  local name
  for name in $(controller_definitions "$1"); do
    kubectl_run delete customresourcedefinition "$name" >/dev/null
  done
}

# With the address instead of a Service, and for the controller's own pods.
controller_webhooks() {
  case $1 in
    prometheus-operator) echo "$BED_DIR/config/$1-webhooks.yaml" ;;
    *) echo "$(controller_file "$1")/webhooks.yaml" ;;
  esac
}
controller_create_webhooks() {
  kubectl_run create --dry-run=client --output json --filename "$(controller_webhooks "$1")" |
    python3 "$BED_DIR/lib/webhooks.py" "$1" "https://$NODE_ADDRESS:$(controller_port "$1")" \
      "$BED_STATE/pki/ca.crt" "$(controller_label "$1")" |
    kubectl_run apply --filename=- >/dev/null
}
controller_remove_webhooks() {
  kubectl_run delete mutatingwebhookconfigurations,validatingwebhookconfigurations "$1" --ignore-not-found >/dev/null
}

controller_is_ready() {
  local port
  port=$(controller_port "$1")
  case $1 in
    prometheus-operator)
      component_get "http://127.0.0.1:$((port + 1))/healthz" &&
        component_get --cacert "$BED_STATE/pki/ca.crt" "https://$NODE_ADDRESS:$port/healthz"
      ;;
    *) component_get "http://127.0.0.1:$((port + 1))/readyz" ;;
  esac
}

controller_start() {
  local program arguments programs
  read -ra programs < <(controller_programs "$1")
  package_install python3
  program_ensure "${programs[@]}"
  if [[ $1 == prometheus-operator ]]; then
    image_build prometheus
    image_load prometheus
  fi
  if process_is_gone "$1"; then
    mkdir -p "$(controller_folder "$1")"
    controller_write_certificate "$1"
    [[ $1 == prometheus-operator ]] || controller_configuration "$1" >"$(controller_folder "$1")/config.yaml"
    controller_create_definition "$1"
    for program in "${programs[@]}"; do
      mapfile -t arguments < <(controller_arguments "$1" "$program")
      process_start "$program" "KUBECONFIG=$BED_KUBECONFIG" "$BED_BIN/$program" "${arguments[@]}"
    done
  fi
  wait_until 60 "$1: ready (its log: $BED_LOG/$1.log)" controller_is_ready "$1"
  controller_create_webhooks "$1"
  [[ $1 != prometheus-operator ]] || printf '%s\n' "$PROMETHEUS_IMAGE"
}

# Its objects go with their definition.
controller_stop() {
  controller_remove_webhooks "$1"
  controller_remove_definition "$1"
  local program
  for program in $(controller_programs "$1"); do process_kill "$program"; done
  rm -rf "$(controller_folder "$1")"
}

controller_main() {
  local action=${1:-}
  [[ $action == start || $action == stop ]] || usage_error 'controller: start or stop'
  [[ " ${CONTROLLERS[*]} " == *" ${2:-} "* && ${2:-} ]] || usage_error "controller $action: one of ${CONTROLLERS[*]}"
  state_require_up
  "controller_$action" "$2"
}
