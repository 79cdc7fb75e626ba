#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Starts sshd in the foreground, as root. Arguments are passed to sshd.
# Needs, below /run/slurm-k8s: host-keys, a folder of private keys; sackd, the /run of the container with sackd; and
# keys, a folder in memory for the copies of the keys.
set -euo pipefail

options=()
umask 077
# sshd refuses keys that a group can read, as those of a Secret may be.
for key in /run/slurm-k8s/host-keys/*; do
  if [[ ! -f $key ]]; then continue; fi
  cat "$key" >"/run/slurm-k8s/keys/${key##*/}"
  options+=(-h "/run/slurm-k8s/keys/${key##*/}")
done
umask 022

exec /usr/sbin/sshd -D -e "${options[@]}" "$@"
