#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Starts slurmctld in the foreground, as the container's user. Arguments are passed to slurmctld.
# Needs /etc/slurm/slurm.conf, and the key as /etc/slurm/slurm.key or $SLURM_SACK_KEY.
set -euo pipefail
# shellcheck source=images/slurm-auth.sh
source /usr/local/lib/slurm-auth.sh

# setting NAME: its last value in slurm.conf.
setting() { sed -En "s/^ *$1 *= *([^ #]+).*/\\1/Ip" /etc/slurm/slurm.conf | tail -1; }

# The first slurmctld of a cluster does not start without slurmdbd. Later ones have in StateSaveLocation what they need.
wait_for_slurmdbd() {
  local host port
  [[ $(setting AccountingStorageType) == */slurmdbd && ! -e $(setting StateSaveLocation)/last_tres ]] || return 0
  host=$(setting AccountingStorageHost)
  port=$(setting AccountingStoragePort)
  until timeout 2 bash -c "</dev/tcp/${host:-localhost}/${port:-6819}" 2>/dev/null; do
    echo "slurmctld-entrypoint: waiting for slurmdbd at ${host:-localhost}:${port:-6819}" >&2
    sleep 2
  done
}

# Directory of the engine's socket: /run may be an empty volume.
mkdir -p /run/slurm-k8s

# --force: munged refuses a /run that is writable by others, as a volume is.
has_auth_slurm || start_munged "${SLURM_SACK_KEY:-/etc/slurm/slurm.key}" --force

wait_for_slurmdbd

exec slurmctld -D "$@"
