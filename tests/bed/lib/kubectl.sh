# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Commands that act on the cluster, run inside the bed's network namespace.

kubectl_run() {
  network_run "$BED_BIN/kubectl" --kubeconfig "$BED_KUBECONFIG" "$@"
}

# Runs any program of the host there; replaces this process, so that its exit code is the bed's.
kubectl_exec_host() {
  state_require_up
  (($#)) || usage_error 'exec: COMMAND: required'
  KUBECONFIG=$BED_KUBECONFIG PATH=$BED_BIN:$PATH NO_PROXY='*' no_proxy='*' \
    exec nsenter --net="$BED_NETNS_FILE" -- "$@"
}

# kubectl exec reads what it gets with -i, so not from a terminal in the background or /dev/null.
kubectl_exec_slurm() {
  local options=()
  (($#)) || usage_error 'slurm: COMMAND: required'
  if [[ -t 0 && -t 1 ]]; then
    options=(--stdin --tty)
  elif [[ -p /dev/stdin || -f /dev/stdin ]]; then
    options=(--stdin)
  fi
  kubectl_exec_host kubectl exec --quiet "${options[@]}" --namespace "$BED_NAMESPACE" slurm-controller-0 \
    --container slurmctld -- "$@"
}
