#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# images/slurmd/gres.sh: which device files a pod's GPUs are, and what gres.conf says of them. Prints TAP.
set -euo pipefail

top=$(cd "${TOP_SRCDIR:-../..}" && pwd)
# shellcheck source=tests/support/expect.sh
source "$top/tests/support/expect.sh"
if ! mknod "$folder/null" c 1 3 2>/dev/null; then
  echo "1..0 # SKIP makes device files: root"
  exit 77
fi

# A function of the file, in a bash of its own, then what it has written.
cat >"$folder/call" <<'SCRIPT'
#!/bin/bash
set -euo pipefail
source "$SCRIPT"
"$@"
if [[ $1 == write_gres_conf ]]; then
  cd "$SLURMD_RUN"
  grep -v '^#' gres.conf | sed "s|$SLURMD_RUN/||" || true
  for link in gpu[0-9]*; do
    if [[ -L $link ]]; then printf '%s -> %s\n' "$link" "$(readlink "$link" | sed "s|^$SLURMD_DEVICES/||")"; fi
  done
  if [[ -e gpu-files ]]; then sed "s|$SLURMD_DEVICES/||" gpu-files; fi
fi
SCRIPT
chmod +x "$folder/call"
export SCRIPT=$top/images/slurmd/gres.sh SLURMD_RUN=$folder/run SLURMD_DEVICES=$folder/dev
export SLURMD_NVIDIA_DRIVER=$folder/driver
unset NVIDIA_VISIBLE_DEVICES SLURM_K8S_BRIDGE_DEVICES

begin() { # DEVICE…: the pod's
  local device
  rm -rf "$SLURMD_RUN" "$SLURMD_DEVICES" "$SLURMD_NVIDIA_DRIVER"
  mkdir -p "$SLURMD_RUN" "$SLURMD_DEVICES/dri" "$SLURMD_NVIDIA_DRIVER/gpus"
  for device in "$@"; do mknod --mode=660 "$SLURMD_DEVICES/$device" c 1 3; done
}
know() { # ID MINOR: as the driver says; MINOR may be empty
  local gpu=$SLURMD_NVIDIA_DRIVER/gpus/$1
  mkdir -p "$gpu"
  {
    printf 'Model: \t\t Debian\nGPU UUID: \t %s\n' "$1"
    [[ -z $2 ]] || printf 'Device Minor: \t %s\n' "$2"
  } >"$gpu/information"
}
files() { # NAME EXPECTED IDS
  expect "$1" 0 "$2" "" "$folder/call" files_of_ids "$3"
}
conf() { # NAME EXPECTED GRES
  expect "$1" 0 "${2//\[/\\[}" "" "$folder/call" write_gres_conf "$3" # "[" as it is
}
lines() { printf '%s\n' "$@"; }

# ---- device files of ids ----

begin nvidia0 nvidia1 nvidia3
know GPU-a 3
know GPU-b 0
know GPU-c 2 # not the pod's
know GPU-d ''
files "in the order of the ids" "$(lines "$SLURMD_DEVICES/nvidia3" "$SLURMD_DEVICES/nvidia0")" GPU-a,GPU-b
files "one that the pod does not have" "$SLURMD_DEVICES/nvidia0" GPU-c,GPU-b
files "one without a minor number" "" GPU-d
files "one that the driver does not know" "" GPU-x,all,void
files "shared: the id is there twice" "$SLURMD_DEVICES/nvidia0" GPU-b,GPU-b
files "no ids" "" ""
printf 'Device Minor: \t 1\n' >"$SLURMD_NVIDIA_DRIVER/gpus/GPU-d/information"
files "information without an id" "$SLURMD_DEVICES/nvidia3" GPU-a,GPU-d
rm -rf "$SLURMD_NVIDIA_DRIVER"
files "no driver" "" GPU-a

# ---- gres.conf ----

begin nvidia0 nvidia10 nvidia2
conf "no GPUs" "" ""
conf "all GPUs, by number" "$(lines "Name=gpu Type=a100 File=gpu[0-2]" "gpu0 -> nvidia0" "gpu1 -> nvidia2" \
  "gpu2 -> nvidia10" "any 0 0 660 nvidia0" "any 0 0 660 nvidia2" "any 0 0 660 nvidia10")" gpu:a100:3
begin nvidia0
conf "another number than the device files'" "$(lines "Name=gpu File=gpu[0-1]" "gpu0 -> /dev/null" \
  "gpu1 -> /dev/null" "any 0 0 660 nvidia0")" gpu:2
begin nvidia0 nvidia1
know GPU-a 1
NVIDIA_VISIBLE_DEVICES=GPU-a conf "one of two, by its id" \
  "$(lines "Name=gpu File=gpu[0-0]" "gpu0 -> nvidia1" "0 0 0 660 nvidia1")" gpu:1
conf "of two types" "$(lines "Name=gpu Type=a File=gpu[0-0]" "Name=gpu Type=b File=gpu[1-1]" "gpu0 -> nvidia0" \
  "gpu1 -> nvidia1" "any 0 0 660 nvidia0" "any 0 0 660 nvidia1")" gpu:a:1,gpu:b:1
begin nvidia0
SLURM_K8S_BRIDGE_DEVICES=nvidia.com/gpu conf "for pods of the bridge: counted alone" \
  "$(lines "Name=gpu File=gpu[0-0]" "gpu0 -> /dev/null")" gpu:1
begin dri/renderD129 dri/renderD128 dri/card0
conf "AMD: the card is for jobs with GPUs, and no GPU of its own" "$(lines "Name=gpu File=gpu[0-1]" \
  "gpu0 -> dri/renderD128" "gpu1 -> dri/renderD129" "any 0 0 660 dri/renderD128" "any 0 0 660 dri/renderD129" \
  "any 0 0 660 dri/card0")" gpu:2
echo "1..$number"
