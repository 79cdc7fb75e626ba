# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The GPUs of a node's pod: its part of gres.conf, and the device files. Sourced by the entrypoint.

gres_run=${SLURMD_RUN:-/run/slurm-k8s}
gres_devices=${SLURMD_DEVICES:-/dev}

# Prints the device files of GPUs in the pod, in the order of their numbers. Those of MIG devices are not told apart.
gpu_files() {
  shopt -s nullglob
  local -a files=("$gres_devices"/nvidia[0-9]* "$gres_devices"/dri/renderD[0-9]* "$gres_devices"/accel/accel[0-9]*)
  ((${#files[@]} == 0)) || printf '%s\n' "${files[@]}" | sort --version-sort
}

# Prints the device files of these NVIDIA GPUs, in the order of their ids, as far as the driver knows the ids.
files_of_ids() { # GPU-ID,GPU-ID…
  local -A minors=()
  local file line id minor
  for file in "${SLURMD_NVIDIA_DRIVER:-/proc/driver/nvidia}"/gpus/*/information; do
    [[ -r $file ]] || continue
    id='' minor=''
    while IFS= read -r line || [[ -n $line ]]; do
      if [[ $line =~ ^GPU\ UUID:[[:space:]]*([^[:space:]]+) ]]; then id=${BASH_REMATCH[1]}; fi
      if [[ $line =~ ^Device\ Minor:[[:space:]]*([0-9]+) ]]; then minor=${BASH_REMATCH[1]}; fi
    done <"$file"
    minors[${id:-none}]=$minor
  done
  for id in ${1//,/ }; do
    minor=${minors[$id]:-}
    minors[$id]='' # one that is there twice is shared
    if [[ -n $minor && -c $gres_devices/nvidia$minor ]]; then echo "$gres_devices/nvidia$minor"; fi
  done
}

# For prep/k8s, which gives jobs the files of their GPUs: GPU OWNER GROUP MODE FILE. GPU is Slurm's number where it is
# known, otherwise "any": then the files are for all jobs with GPUs.
write_gpu_files() { # any|known FILE…
  local what=$1 number=0 file
  for file in "${@:2}"; do
    printf '%s %s %s\n' "$([[ $what == known ]] && echo "$number" || echo any)" "$(stat -c '%u %g %a' "$file")" "$file"
    number=$((number + 1))
  done >"$gres_run/gpu-files"
}

# The pod's part of gres.conf, which slurmctld's includes: NAME:COUNT or NAME:TYPE:COUNT, with commas. Slurm counts a
# node's GPUs from 0, whatever the numbers of the device files that the kubelet gave the pod: gpu0 is the first of them,
# or that of the first id. Where the files cannot be told from others, and where the GPUs are for pods of the bridge, a
# GPU is /dev/null: slurmd only counts them.
write_gres_conf() { # GRES
  local entry name type count first=0 i
  local -a files cards
  echo "# Of this pod" >"$gres_run/gres.conf"
  for entry in ${1//,/ }; do
    IFS=: read -r name type count <<<"$entry"
    if [[ -z $count ]]; then count=$type type=''; fi
    printf 'Name=%s%s File=%s/gpu[%d-%d]\n' "$name" "${type:+ Type=$type}" "$gres_run" "$first" $((first + count - 1))
    first=$((first + count))
  done >>"$gres_run/gres.conf"
  rm -rf "$gres_run/gpu-files" "$gres_run/gpu-jobs"
  ((first > 0)) || return 0
  mapfile -t files < <(files_of_ids "${NVIDIA_VISIBLE_DEVICES:-}")
  if [[ -n ${SLURM_K8S_BRIDGE_DEVICES:-} ]]; then
    files=()
  elif ((${#files[@]} == first)); then
    write_gpu_files known "${files[@]}"
  else
    mapfile -t files < <(gpu_files)
    mapfile -t cards < <(compgen -G "$gres_devices/dri/card[0-9]*")
    write_gpu_files any "${files[@]}" "${cards[@]}"
  fi
  ((${#files[@]} == first)) || files=()
  for ((i = 0; i < first; i++)); do
    ln -sfn "${files[i]:-/dev/null}" "$gres_run/gpu$i"
  done
}
