#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Starts slurmctld in the foreground, as the user that the container runs as; arguments go to slurmctld.
# Expects /etc/slurm with slurm.conf, and slurm.key beside it or named by $SLURM_SACK_KEY.
set -euo pipefail

# The engine's socket; /run may be an empty volume.
mkdir -p /run/slurm-k8s

exec slurmctld -D "$@"
