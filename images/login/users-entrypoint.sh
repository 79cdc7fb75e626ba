#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Copies users of the LDAP directory for Slurm's daemons, which ask no directory: nslcd, and slurm-users, which asks
# nslcd. Arguments are passed to slurm-users. Needs what nslcd-entrypoint needs.
set -euo pipefail

# Starts nslcd again when it has ended, and with a changed file. One that it refuses must not keep slurmctld from its
# start.
keep_nslcd() {
  while true; do
    nslcd-entrypoint &
    while kill -0 $! 2>/dev/null && [[ ! /run/slurm-k8s/ldap/nslcd.conf -nt /run/slurm-k8s/nslcd/nslcd.conf ]]; do
      sleep 5
    done
    kill $! 2>/dev/null || true
    wait $! || true
  done
}
keep_nslcd &
for ((i = 0; i < 50; i++)); do # 5 s
  [[ ! -S /run/nslcd/socket ]] || break
  sleep 0.1
done

exec slurm-users "$@"
