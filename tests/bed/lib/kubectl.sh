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

# A terminal needs kubectl, which can be the container's user only. Otherwise standard input is passed on when it is a
# pipe or a file.
kubectl_exec_slurm() {
  if [[ ${1:-} == --user ]]; then
    [[ ${2:-} =~ ^[0-9]+$ ]] || usage_error 'slurm --user: ID: required'
    CONTAINER_USER=$2
    shift 2
  fi
  (($#)) || usage_error 'slurm: COMMAND: required'
  state_require_up
  if [[ -t 0 && -t 1 && -z ${CONTAINER_USER:-} ]]; then
    kubectl_exec_host kubectl exec --quiet --stdin --tty --namespace "$BED_NAMESPACE" slurm-controller-0 \
      --container slurmctld -- "$@"
  fi
  [[ -p /dev/stdin || -f /dev/stdin ]] || exec </dev/null
  container_enter slurm-controller-0/slurmctld "$@"
}
