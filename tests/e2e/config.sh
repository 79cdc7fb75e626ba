# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A release whose configuration changes without a restart, and what is said of it.

config_condition() { # FIELD [POD]
  kubectl get pod "${2:-$CONTROLLER}" -o jsonpath="{.status.conditions[?(@.type=='slurm-k8s.io/ConfigApplied')].$1}"
}
config_is() { [[ $(config_condition reason) == "$1" && $(config_condition message) == *"$2"* ]]; } # REASON WORDS
config_events() { # REASON: their messages, of this release
  local uid
  uid=$(kubectl get configmap slurm-config -o jsonpath='{.metadata.uid}')
  kubectl get events --field-selector "reason=$1,involvedObject.uid=$uid" \
    -o jsonpath='{range .items[*]}{.message}{"\n"}{end}'
}
config_event_has() { [[ $(config_events "$1") == *"$2"* ]]; } # REASON WORDS
has_refusal() { [[ $(config_events ConfigRefused) =~ $1 ]]; } # PATTERN
controller_starts() {
  kubectl get pod "$CONTROLLER" -o jsonpath='{.metadata.uid}{range .status.containerStatuses[*]} {.restartCount}{end}'
}
upgrade() { # HELM-OPTION…
  "$BED" helm upgrade slurm "$E2E_FOLDER/../../helm/slurm" -n "$NAMESPACE" "${VALUES[@]}" \
    --wait --timeout 180s "$@" 2>&1
}
