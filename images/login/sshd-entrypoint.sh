#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Starts sshd in the foreground, as root. Arguments are passed to sshd.
# Needs, below /run/slurm-k8s: host-keys, a folder of private keys; sackd, the /run of the container with sackd; and
# keys, a folder in memory for the copies of the keys. SSHD_OWN_HOME=true: /home is a volume of the pod alone.
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

# The kubelet lets all write to folders of the pod alone, without the sticky bit: each user could rename another's
# files, and make another's home.
if [[ -O /tmp ]]; then chmod 1777 /tmp; fi
if [[ ${SSHD_OWN_HOME:-} == true ]]; then chmod 755 /home; fi
if [[ $(stat -c %A /home) == d???????w[^tT] ]]; then
  echo "sshd-entrypoint: warning: all users can write to /home: each can take another's home away" >&2
fi

exec /usr/sbin/sshd -D -e "${options[@]}" "$@"
