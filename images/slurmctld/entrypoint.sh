#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Starts slurmctld in the foreground, as the container's user. Arguments are passed to slurmctld.
# Needs /etc/slurm/slurm.conf, and the key as /etc/slurm/slurm.key or $SLURM_SACK_KEY.
set -euo pipefail
# shellcheck source=images/slurm-auth.sh
source /usr/local/lib/slurm-auth.sh

# setting NAME: its last value in slurm.conf.
setting() { sed -En "s/^ *$1 *= *([^ #]+).*/\\1/Ip" /etc/slurm/slurm.conf | tail -1; }

wait_for_slurmdbd() { # HOST PORT
  until timeout 2 bash -c "</dev/tcp/$1/$2" 2>/dev/null; do
    echo "slurmctld-entrypoint: waiting for slurmdbd at $1:$2" >&2
    sleep 2
  done
}

# slurmdbd chooses the id of a new cluster. slurmctld refuses another one, such as it chose itself without slurmdbd.
# A cluster that slurmdbd knows may be another one of the same name: slurmctld decides.
take_cluster_id() { # CLUSTER FILE: the file has NAME|ID
  local known
  known=$(timeout 60 sacctmgr --noheader --parsable2 list cluster "$1" format=cluster) || return 0
  if [[ -z $known && $(cut -d '|' -f 1 "$2" 2>/dev/null) == "$1" ]]; then rm "$2"; fi
}

# The first slurmctld with slurmdbd does not start without it. Later ones have in StateSaveLocation what they need.
begin_accounting() {
  local state begun
  state=$(setting StateSaveLocation)
  begun=$state/slurm-k8s-accounting
  if [[ $(setting AccountingStorageType) != */slurmdbd || -e $begun ]]; then return; fi
  wait_for_slurmdbd "$(setting AccountingStorageHost)" "$(setting AccountingStoragePort)"
  take_cluster_id "$(setting ClusterName)" "$state/clustername"
  touch "$begun"
}

# Directory of the engine's socket: /run may be an empty volume.
mkdir -p /run/slurm-k8s

# The sidecar keeps the nodes' GPUs in this file, which gres.conf includes. It stays with slurmctld's state: without the
# lines of a node that is restored, slurmctld would drain it.
gres_conf=/var/spool/slurmctld/gres.conf
if [[ ! -e $gres_conf && -w ${gres_conf%/*} ]]; then touch "$gres_conf"; fi
ln -sfn "$gres_conf" /run/slurm-k8s/gres.conf

# --force: munged refuses a /run that is writable by others, as a volume is.
has_auth_slurm || start_munged "${SLURM_SACK_KEY:-/etc/slurm/slurm.key}" --force

begin_accounting

exec slurmctld -D "$@"
