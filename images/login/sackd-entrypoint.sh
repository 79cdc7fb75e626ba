#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Starts sackd in the foreground, as SlurmUser. Arguments are passed to sackd.
# Needs /run/slurm-k8s/key/slurm.key, a /run of its own that the container with sshd can read, and /var/lib/slurm-k8s, a
# folder in memory for the copy of the key.
set -euo pipefail
# shellcheck source=images/slurm-auth.sh
source /usr/local/lib/slurm-auth.sh

if [[ ! -x /usr/sbin/sackd ]]; then
  echo "sackd-entrypoint: this image's Slurm has no sackd: it needs Slurm 24.05 or later" >&2
  exit 1
fi

# Slurm refuses a key that others can read. Without fsGroup, which would change the group of users' homes, the Secret is
# readable by this container's user only if it is by all.
key=/var/lib/slurm-k8s/slurm.key
rm -f "$key"
install -m 400 /run/slurm-k8s/key/slurm.key "$key"
use_key "$key"

mkdir -p /run/slurm
# By its path: it executes itself again when slurmctld reconfigures.
exec /usr/sbin/sackd -D "$@"
