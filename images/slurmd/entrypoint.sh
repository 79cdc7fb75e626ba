#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Starts slurmd for the node in the pod's environment. Arguments are passed to slurmd. Every job that waits for its
# nodes waits for this script: it must be fast.
set -euo pipefail
# shellcheck source=images/slurm-auth.sh
source /usr/local/lib/slurm-auth.sh
# shellcheck source=images/slurmd/confinement.sh
source /usr/local/lib/slurmd-confinement.sh
# shellcheck source=images/slurmd/gres.sh
source /usr/local/lib/slurmd-gres.sh

# Slurm's messages identify users by UID. The SlurmUser of an external slurmctld may have another UID than this image's.
be_slurm_user() { # ID
  if [[ ! $1 =~ ^[1-9][0-9]*$ ]]; then
    echo "slurmd-entrypoint: SLURM_USER_ID=$1: not a user id" >&2
    exit 2
  fi
  sed -Ei "s/^slurm:([^:]*):[0-9]+:[0-9]+:/slurm:\\1:$1:$1:/" /etc/passwd
  sed -Ei "s/^slurm:([^:]*):[0-9]+:/slurm:\\1:$1:/" /etc/group
}

# slurmctld would drain a node that registers with less. "fatal: " is what the engine looks for in the end of the log.
check_tmp_disk() { # CONF
  local blocks size mib
  [[ \ $1 =~ \ [Tt][Mm][Pp][Dd][Ii][Ss][Kk]=([0-9]+) ]] || return 0
  read -r blocks size < <(stat --file-system --format='%b %S' /tmp)
  mib=$((blocks * size / 1048576))
  if ((mib < BASH_REMATCH[1])); then
    echo "slurmd-entrypoint: fatal: TmpDisk=${BASH_REMATCH[1]}: the file system of /tmp has $mib MiB;" \
      "set TmpDisk in the NodeSet's extraConf" >&2
    exit 1
  fi
}

for name in SLURMD_NODENAME SLURMD_CONF_SERVER SLURMD_CONF; do
  if [[ -z ${!name:-} ]]; then
    echo "slurmd-entrypoint: $name: not set" >&2
    exit 2
  fi
done

# The pod mounts the key here, readable by root only. munge.key is for AuthType=auth/munge.
key=${SLURM_SACK_KEY:-/run/slurm-k8s/key/slurm.key}
munge_key=/run/slurm-k8s/key/munge.key
if [[ ! -r $munge_key ]] && ! has_auth_slurm; then munge_key=$key; fi
if [[ ! -r $key && ! -r $munge_key ]]; then
  echo "slurmd-entrypoint: $key: no such key, or not readable" >&2
  exit 1
fi

check_tmp_disk "$SLURMD_CONF"
confine "$@"
write_gres_conf "${SLURMD_DEVICE_GRES:-}"

# Facts about the pod, which the SPANK plugin passes to jobs. A device plugin sets the ids of GPUs.
if [[ -n ${NVIDIA_VISIBLE_DEVICES:-} ]]; then export SLURM_K8S_GPUS=$NVIDIA_VISIBLE_DEVICES; fi
for name in ${!SLURM_K8S_@}; do
  if [[ -n ${!name} ]]; then printf '%s=%s\n' "$name" "${!name//$'\n'/ }"; fi
done >/run/slurm-k8s/pod.env

if [[ -n ${SLURM_USER_ID:-} ]]; then be_slurm_user "$SLURM_USER_ID"; fi
if [[ -r $munge_key ]]; then start_munged "$munge_key"; else use_key "$key"; fi

options=()
if has_auth_slurm; then
  # --extra came with the same release as auth/slurm. scontrol show node shows it, and `sbatch --extra` selects by it
  # (SchedulerParameters=extra_constraints).
  printf -v place '{"namespace":"%s","pod":"%s","kubernetesNode":"%s"}' \
    "${SLURM_K8S_NAMESPACE:-}" "${SLURM_K8S_POD:-}" "${SLURM_K8S_NODE:-}"
  options+=(--extra "$place")
fi

# -Z: dynamic node, found by name only. -b: report slurmd's start as boot time, not the Kubernetes node's.
exec "${SLURMD[@]}" -D -Z -b -N "$SLURMD_NODENAME" --conf-server "$SLURMD_CONF_SERVER" --conf "$SLURMD_CONF" \
  "${options[@]}" "$@"
