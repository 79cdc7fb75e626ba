#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Starts slurmctld in the foreground, as the container's user. Arguments are passed to slurmctld.
# Needs /etc/slurm/slurm.conf, and the key as /etc/slurm/slurm.key or $SLURM_SACK_KEY.
set -euo pipefail
# shellcheck source=images/slurm-auth.sh
source /usr/local/lib/slurm-auth.sh
# shellcheck source=images/slurmctld/state.sh
source /usr/local/lib/slurmctld-state.sh

# setting NAME: its last value in slurm.conf.
setting() { sed -En "s/^ *$1 *= *([^ #]+).*/\\1/Ip" /etc/slurm/slurm.conf | tail -1; }

wait_for_slurmdbd() { # HOST PORT
  until timeout 2 bash -c "</dev/tcp/$1/$2" 2>/dev/null; do
    echo "slurmctld-entrypoint: waiting for slurmdbd at $1:$2" >&2
    sleep 2
  done
}

# Before slurmctld starts with slurmdbd for the first time: it does not start without slurmdbd (later it has in
# StateSaveLocation what it needs), and refuses the cluster id of slurmdbd if it has saved one that it chose itself.
begin_accounting() {
  local state
  state=$(setting StateSaveLocation)
  if [[ $(setting AccountingStorageType) != */slurmdbd || -e $state/slurm-k8s-accounting ]]; then return; fi
  wait_for_slurmdbd "$(setting AccountingStorageHost)" "$(setting AccountingStoragePort)"
  forget_cluster_id "$state" "$(setting ClusterName)"
  touch "$state/slurm-k8s-accounting"
}

# Not beside another controller, which may write the state at this moment.
begin_job_ids() {
  local controllers
  controllers=$(grep -ciE '^ *SlurmctldHost *=' /etc/slurm/slurm.conf || true)
  if [[ $(setting AccountingStorageType) != */slurmdbd ]] || ((controllers > 1)); then return; fi
  skip_job_ids "$(setting StateSaveLocation)"
}

# Of two states in one folder slurmctld would take what it finds.
refuse_half_restore() {
  local mark
  mark=$(setting StateSaveLocation)/slurm-k8s-restoring
  [[ -e $mark ]] || return 0
  echo "slurmctld-entrypoint: the restore of $(<"$mark") is not complete: repeat it (slurm-k8s-backup restore)" >&2
  exit 1
}

# Directory of the engine's socket: /run may be an empty volume.
mkdir -p /run/slurm-k8s

# The sidecar keeps the nodes' GPUs in this file, which gres.conf includes. It stays with slurmctld's state: without the
# lines of a node that is restored, slurmctld would drain it.
gres_conf=/var/spool/slurmctld/gres.conf
if [[ ! -e $gres_conf && -w ${gres_conf%/*} ]]; then echo "# Kept by slurm-k8s-sidecar" >"$gres_conf"; fi
ln -sfn "$gres_conf" /run/slurm-k8s/gres.conf
# The same for cgroup.conf, of which nothing is slurmctld's: slurmd's entrypoint writes that of each pod.
echo "# Of each node's pod" >/run/slurm-k8s/cgroup.conf

check_users

key=${SLURM_SACK_KEY:-/etc/slurm/slurm.key}
# --force: munged refuses a /run that is writable by others, as a volume is.
if has_auth_slurm; then use_key "$key"; else start_munged "$key" --force; fi

refuse_half_restore
# -i and -c: an administrator wants to lose what cannot be read.
if [[ " $* " != *" -"[ic]" "* ]]; then
  check_state "$(setting StateSaveLocation)" "$(slurmctld -V | cut -d ' ' -f 2)"
fi
begin_accounting
begin_job_ids

exec slurmctld -D "$@"
