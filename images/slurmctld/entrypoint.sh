#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Starts slurmctld in the foreground, as the user that the container runs as; arguments go to slurmctld.
# Expects /etc/slurm with slurm.conf, and slurm.key beside it or named by $SLURM_SACK_KEY.
set -euo pipefail
# shellcheck source=images/slurm-auth.sh
source /usr/local/lib/slurm-auth.sh

# The engine's socket; /run may be an empty volume.
mkdir -p /run/slurm-k8s

# --force: as such a volume /run may be written to by all who are in this pod, which munged would refuse.
has_auth_slurm || start_munged "${SLURM_SACK_KEY:-/etc/slurm/slurm.key}" --force

exec slurmctld -D "$@"
