#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Starts slurmdbd in the foreground, as the container's user. Arguments are passed to slurmdbd.
# Needs, below /run/slurm-k8s: config/slurmdbd.conf without StoragePass, database/password, key/slurm.key. /etc/slurm
# must be writable.
set -euo pipefail
# shellcheck source=images/slurm-auth.sh
source /usr/local/lib/slurm-auth.sh
# shellcheck source=images/slurmdbd/database.sh
source /usr/local/lib/slurmdbd-database.sh

folder=/run/slurm-k8s
conf=/etc/slurm/slurmdbd.conf
password=$(<"$folder/database/password")
# slurmdbd.conf has no escapes for them.
if [[ -z $password || $password == *[\"\\#$'\n']* ]]; then
  echo "slurmdbd-entrypoint: database password: must not be empty, nor contain \", \\, # or a newline" >&2
  exit 1
fi

# slurmdbd refuses a file that others can read. The shell writes it: a password in a command line could be read.
umask 077
{
  cat "$folder/config/slurmdbd.conf"
  printf 'StoragePass="%s"\n' "$password"
} >"$conf"
umask 022
wait_for_settings "$conf" /etc/slurm/client.cnf

check_users
key=${SLURM_SACK_KEY:-$folder/key/slurm.key}
# --force: munged refuses a /run that is writable by others, as a volume is.
if has_auth_slurm; then use_key "$key"; else start_munged "$key" --force; fi

exec slurmdbd -D "$@"
