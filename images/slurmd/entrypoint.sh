#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Starts slurmd for the node that the pod's environment names; arguments go to slurmd. It is on the way of every job
# that waits for its nodes: nothing slow may come in here.
set -euo pipefail
# shellcheck source=images/slurm-auth.sh
source /usr/local/lib/slurm-auth.sh

# Slurm's messages tell a user by his number: that of a SlurmUser outside is another one than this image's.
be_slurm_user() { # ID
  if [[ ! $1 =~ ^[1-9][0-9]*$ ]]; then
    echo "slurmd-entrypoint: SLURM_USER_ID=$1: not a user's number" >&2
    exit 2
  fi
  sed -Ei "s/^slurm:([^:]*):[0-9]+:[0-9]+:/slurm:\\1:$1:$1:/" /etc/passwd
  sed -Ei "s/^slurm:([^:]*):[0-9]+:/slurm:\\1:$1:/" /etc/group
}

for name in SLURMD_NODENAME SLURMD_CONF_SERVER SLURMD_CONF; do
  if [[ -z ${!name:-} ]]; then
    echo "slurmd-entrypoint: $name: not set" >&2
    exit 2
  fi
done

# Where the pod mounts the key: readable by root alone. One called munge.key is for AuthType=auth/munge.
key=${SLURM_SACK_KEY:-/run/slurm-k8s/key/slurm.key}
munge_key=/run/slurm-k8s/key/munge.key
if [[ ! -r $munge_key ]] && ! has_auth_slurm; then munge_key=$key; fi
if [[ ! -r $key && ! -r $munge_key ]]; then
  echo "slurmd-entrypoint: $key: no such key, or not readable" >&2
  exit 1
fi

# For jobs, by way of the SPANK plugin: what their pod is. The ids of its GPUs are there when a device plugin gave it
# some.
if [[ -n ${NVIDIA_VISIBLE_DEVICES:-} ]]; then export SLURM_K8S_GPUS=$NVIDIA_VISIBLE_DEVICES; fi
for name in ${!SLURM_K8S_@}; do
  if [[ -n ${!name} ]]; then printf '%s=%s\n' "$name" "${!name//$'\n'/ }"; fi
done >/run/slurm-k8s/pod.env

if [[ -n ${SLURM_USER_ID:-} ]]; then be_slurm_user "$SLURM_USER_ID"; fi
if [[ -r $munge_key ]]; then start_munged "$munge_key"; else export SLURM_SACK_KEY=$key; fi

options=()
if has_auth_slurm; then
  # As old as auth/slurm: shown by scontrol show node, and there for `sbatch --extra` (SchedulerParameters=
  # extra_constraints).
  printf -v place '{"namespace":"%s","pod":"%s","kubernetesNode":"%s"}' \
    "${SLURM_K8S_NAMESPACE:-}" "${SLURM_K8S_POD:-}" "${SLURM_K8S_NODE:-}"
  options+=(--extra "$place")
fi

# -Z: a dynamic node, found by name only. -b: reports its own start as the boot, not the Kubernetes node's.
exec slurmd -D -Z -b -N "$SLURMD_NODENAME" --conf-server "$SLURMD_CONF_SERVER" --conf "$SLURMD_CONF" \
  "${options[@]}" "$@"
