# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Functions of the entrypoints for Slurm's authentication. From 23.11 on it is auth/slurm, which needs only the key;
# before, it is auth/munge, which needs a munged in each pod.

has_auth_slurm() { compgen -G '/usr/lib/*/slurm-wlm/auth_slurm.so' >/dev/null; }

# use_key FILE: Slurm's key. A file that begins with {"keys" has several, as slurm.jwks of Slurm 24.05 and later.
use_key() {
  export SLURM_SACK_KEY=$1
  if [[ $(head -c 100 "$1" | tr -cd '[:graph:]') == '{"keys"'* ]]; then export SLURM_SACK_JWKS=$1; fi
}

# check_users: ends the script when a file of users has a last line without a newline. libnss-extrausers would not end
# its search there, and the daemon would take all memory.
check_users() {
  local file
  for file in /var/lib/extrausers/passwd /var/lib/extrausers/group; do
    if [[ -s $file && -n $(tail -c 1 "$file") ]]; then
      echo "$file: the last line does not end with a newline" >&2
      exit 1
    fi
  done
}

# start_munged KEY [OPTION...]: munged is ready when this returns. It gets a copy of the key, since munged refuses a key
# that its user does not own or that others can read.
start_munged() {
  local key=$1 folder=/run/munge
  shift
  rm -rf "$folder" # of a previous container, where /run is a volume
  mkdir -m 755 "$folder"
  install -m 400 "$key" "$folder/munge.key"
  munged --key-file="$folder/munge.key" --socket="$folder/munge.socket.2" --pid-file="$folder/munged.pid" \
    --seed-file="$folder/munge.seed" --log-file="$folder/munged.log" "$@"
}
