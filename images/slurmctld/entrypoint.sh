#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Starts slurmctld in the foreground, as the container's user. Arguments are passed to slurmctld.
# Needs /etc/slurm/slurm.conf, and the key as /etc/slurm/slurm.key or $SLURM_SACK_KEY.
set -euo pipefail
# shellcheck source=images/slurm-auth.sh
source /usr/local/lib/slurm-auth.sh

# Directory of the engine's socket: /run may be an empty volume.
mkdir -p /run/slurm-k8s

# The sidecar keeps the nodes' GPUs in this file, which gres.conf includes. It stays with slurmctld's state: without the
# lines of a node that is restored, slurmctld would drain it.
gres_conf=/var/spool/slurmctld/gres.conf
if [[ ! -e $gres_conf && -w ${gres_conf%/*} ]]; then touch "$gres_conf"; fi
ln -sfn "$gres_conf" /run/slurm-k8s/gres.conf

# --force: munged refuses a /run that is writable by others, as a volume is.
has_auth_slurm || start_munged "${SLURM_SACK_KEY:-/etc/slurm/slurm.key}" --force

exec slurmctld -D "$@"
