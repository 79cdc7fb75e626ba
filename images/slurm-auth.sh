# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# For the entrypoints: what this image's Slurm signs its messages with. auth/slurm, which needs the key alone, came with
# 23.11; before, it is auth/munge, which needs a munged in each pod.

has_auth_slurm() { compgen -G '/usr/lib/*/slurm-wlm/auth_slurm.so' >/dev/null; }

# start_munged KEY [OPTION...]: it serves when this returns. Its own copy of the key: munged refuses one that isn't its
# user's, or that others may read.
start_munged() {
  local key=$1 folder=/run/munge
  shift
  rm -rf "$folder" # that of a container before this one, where /run is a volume
  mkdir -m 755 "$folder"
  install -m 400 "$key" "$folder/munge.key"
  munged --key-file="$folder/munge.key" --socket="$folder/munge.socket.2" --pid-file="$folder/munged.pid" \
    --seed-file="$folder/munge.seed" --log-file="$folder/munged.log" "$@"
}
