#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Starts slurmd for the node in the pod's environment. Arguments are passed to slurmd. Every job that waits for its
# nodes waits for this script: it must be fast.
set -euo pipefail
# shellcheck source=images/slurm-auth.sh
source /usr/local/lib/slurm-auth.sh
# shellcheck source=images/slurmd/confinement.sh
source /usr/local/lib/slurmd-confinement.sh

# Slurm's messages identify users by UID. The SlurmUser of an external slurmctld may have another UID than this image's.
be_slurm_user() { # ID
  if [[ ! $1 =~ ^[1-9][0-9]*$ ]]; then
    echo "slurmd-entrypoint: SLURM_USER_ID=$1: not a user id" >&2
    exit 2
  fi
  sed -Ei "s/^slurm:([^:]*):[0-9]+:[0-9]+:/slurm:\\1:$1:$1:/" /etc/passwd
  sed -Ei "s/^slurm:([^:]*):[0-9]+:/slurm:\\1:$1:/" /etc/group
}

# Prints the device files of GPUs in the pod, in the order of their numbers. Those of MIG devices are not told apart.
gpu_files() {
  shopt -s nullglob
  local -a files=(/dev/nvidia[0-9]* /dev/dri/renderD[0-9]* /dev/accel/accel[0-9]*)
  ((${#files[@]} == 0)) || printf '%s\n' "${files[@]}" | sort --version-sort
}

# Prints the device files of these NVIDIA GPUs, in the order of their ids, as far as the driver knows the ids.
files_of_ids() { # GPU-ID,GPU-ID…
  local -A minors=()
  local file line id='' minor=''
  for file in "${SLURMD_NVIDIA_DRIVER:-/proc/driver/nvidia}"/gpus/*/information; do
    [[ -r $file ]] || continue
    while IFS= read -r line || [[ -n $line ]]; do
      if [[ $line =~ ^GPU\ UUID:[[:space:]]*([^[:space:]]+) ]]; then id=${BASH_REMATCH[1]}; fi
      if [[ $line =~ ^Device\ Minor:[[:space:]]*([0-9]+) ]]; then minor=${BASH_REMATCH[1]}; fi
    done <"$file"
    minors[${id:-none}]=$minor
  done
  for id in ${1//,/ }; do
    minor=${minors[$id]:-}
    minors[$id]='' # one that is there twice is shared
    if [[ -n $minor && -c /dev/nvidia$minor ]]; then echo "/dev/nvidia$minor"; fi
  done
}

# For prep/k8s, which gives jobs the files of their GPUs: GPU OWNER GROUP MODE FILE. GPU is Slurm's number where it is
# known, otherwise "any": then the files are for all jobs with GPUs.
write_gpu_files() { # any|known FILE…
  local what=$1 number=0 file
  for file in "${@:2}"; do
    printf '%s %s %s\n' "$([[ $what == known ]] && echo "$number" || echo any)" "$(stat -c '%u %g %a' "$file")" "$file"
    number=$((number + 1))
  done >/run/slurm-k8s/gpu-files
}

# The pod's part of gres.conf, which slurmctld's includes: NAME:COUNT or NAME:TYPE:COUNT, with commas. Slurm counts a
# node's GPUs from 0, whatever the numbers of the device files that the kubelet gave the pod: gpu0 is the first of them,
# or that of the first id. Where the files cannot be told from others, and where the GPUs are for pods of the bridge, a
# GPU is /dev/null: slurmd only counts them.
write_gres_conf() { # GRES
  local entry name type count first=0 i
  local -a files cards
  echo "# Of this pod" >/run/slurm-k8s/gres.conf
  for entry in ${1//,/ }; do
    IFS=: read -r name type count <<<"$entry"
    if [[ -z $count ]]; then count=$type type=''; fi
    printf 'Name=%s%s File=/run/slurm-k8s/gpu[%d-%d]\n' "$name" "${type:+ Type=$type}" "$first" $((first + count - 1))
    first=$((first + count))
  done >>/run/slurm-k8s/gres.conf
  rm -rf /run/slurm-k8s/gpu-files /run/slurm-k8s/gpu-jobs
  ((first > 0)) || return 0
  mapfile -t files < <(files_of_ids "${NVIDIA_VISIBLE_DEVICES:-}")
  if [[ -n ${SLURM_K8S_BRIDGE_DEVICES:-} ]]; then
    files=()
  elif ((${#files[@]} == first)); then
    write_gpu_files known "${files[@]}"
  else
    mapfile -t files < <(gpu_files)
    mapfile -t cards < <(compgen -G '/dev/dri/card[0-9]*')
    write_gpu_files any "${files[@]}" "${cards[@]}"
  fi
  ((${#files[@]} == first)) || files=()
  for ((i = 0; i < first; i++)); do
    ln -sfn "${files[i]:-/dev/null}" "/run/slurm-k8s/gpu$i"
  done
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
