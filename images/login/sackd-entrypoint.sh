#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Starts sackd in the foreground, as SlurmUser. Arguments are passed to sackd.
# Needs /run/slurm-k8s/key/slurm.key, a /run of its own that the container with sshd can read, and /var/lib/slurm-k8s, a
# folder in memory for the copy of the key.
set -euo pipefail

if [[ ! -x /usr/sbin/sackd ]]; then
  echo "sackd-entrypoint: this image's Slurm has no sackd: it needs Slurm 24.05 or later" >&2
  exit 1
fi

# Slurm refuses a key that others can read. Without fsGroup, which would change the group of users' homes, the Secret is
# readable by this container's user only if it is by all.
export SLURM_SACK_KEY=/var/lib/slurm-k8s/slurm.key
rm -f "$SLURM_SACK_KEY"
install -m 400 /run/slurm-k8s/key/slurm.key "$SLURM_SACK_KEY"

mkdir -p /run/slurm
# By its path: it executes itself again when slurmctld reconfigures.
exec /usr/sbin/sackd -D "$@"
