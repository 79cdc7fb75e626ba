#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# examples/health-check/check: what it finds in a pod whose GPUs images/slurmd/gres.sh has linked. Prints TAP.
set -euo pipefail

top=$(cd "${TOP_SRCDIR:-../..}" && pwd)
# shellcheck source=tests/support/expect.sh
source "$top/tests/support/expect.sh"

# What scontrol is called with, and how full the pod's folders are.
mkdir "$folder/bin"
printf '#!/bin/sh\necho "$@"\n' >"$folder/bin/scontrol"
# shellcheck disable=SC2016 # for that script
printf '#!/bin/sh\nprintf "Use%%%%\\n %%s%%%%\\n" "$USED"\n' >"$folder/bin/df"
chmod +x "$folder"/bin/*
# The entrypoint's part, then slurmd's.
cat >"$folder/call" <<'SCRIPT'
#!/bin/bash
set -euo pipefail
source "$TOP/images/slurmd/gres.sh"
write_gres_conf "$1"
if [[ ${LOST:-} ]]; then rm "$SLURMD_DEVICES/$LOST"; fi
PATH=$FAKES:$PATH exec "$TOP/examples/health-check/check"
SCRIPT
chmod +x "$folder/call"
export TOP=$top FAKES=$folder/bin SLURMD_RUN=$folder/run SLURMD_DEVICES=$folder/dev SLURMD_NODENAME=gpu-0 USED=10
export SLURMD_NVIDIA_DRIVER=$folder/driver
unset NVIDIA_VISIBLE_DEVICES SLURM_K8S_BRIDGE_DEVICES

begin() { # FILE…: device files of the pod
  rm -rf "$SLURMD_RUN" "$SLURMD_DEVICES"
  mkdir -p "$SLURMD_RUN" "$SLURMD_DEVICES/dri"
  echo SLURM_K8S_POD=gpu-0 >"$SLURMD_RUN/pod.env"
  (cd "$SLURMD_DEVICES" && touch "$@")
}
ids() { echo "SLURM_K8S_GPUS=$1" >>"$SLURMD_RUN/pod.env"; }
finds() { # NAME PROBLEM GRES
  local asked=''
  if [[ $2 ]]; then asked="reboot asap nextstate=RESUME reason=health check: $2 gpu-0"; fi
  expect "$1" 0 "$asked" "" "$folder/call" "$3"
}

begin nvidiactl
finds "no GPUs" "" ""
USED=90 finds "a full folder" "/tmp is 90 % full" ""
begin nvidia0 nvidia3
finds "all GPUs" "" gpu:2
LOST=nvidia3 finds "one is lost after the start" "cannot open $SLURMD_DEVICES/nvidia3" gpu:2
begin nvidia0 nvidiactl
ids GPU-a,GPU-b
finds "one was lost before the start" "1 of 2 GPUs have a device file" gpu:2
begin dri/renderD128 nvidiactl
ids GPU-a
finds "all were lost: files of graphics do not count" "0 of 1 GPUs have a device file" gpu:a100:1
begin dri/renderD128 dri/renderD129
finds "AMD, without ids: all of them" "" gpu:2
begin dri/renderD128
finds "AMD: one was lost before the start" "1 of 2 GPUs have a device file" gpu:2
begin nvidia0
ids MIG-a,MIG-b
finds "two MIG devices of one GPU" "" gpu:1g.10gb:2
begin nvidia0
ids GPU-a,GPU-a
finds "one GPU that is shared" "" gpu:2
begin nvidia0
ids void
finds "other words than ids" "" gpu:2
begin nvidiactl
finds "claims without device files" "" gpu:2
begin nvidia0
echo SLURM_K8S_BRIDGE_DEVICES=nvidia.com/gpu >>"$SLURMD_RUN/pod.env"
SLURM_K8S_BRIDGE_DEVICES=nvidia.com/gpu finds "for pods of the bridge" "" gpu:2
echo "1..$number"
