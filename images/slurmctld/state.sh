# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Functions of slurmctld's entrypoint: the cluster id in a StateSaveLocation, which Slurm wrote it, and whether the
# installed one reads it. slurmctld itself would say "start with '-i' to ignore this", which loses all jobs.

# Releases of Slurm by the number of their protocol: SLURM_24_11_PROTOCOL_VERSION is 42 << 8.
PROTOCOLS=([38]=22.05 [39]=23.02 [40]=23.11 [41]=24.05 [42]=24.11 [43]=25.05 [44]=25.11 [45]=26.05)

protocol_of() { # RELEASE: 0 for one that the table does not have
  local number
  for number in "${!PROTOCOLS[@]}"; do
    if [[ ${PROTOCOLS[number]} == "$1" ]]; then echo "$number"; return; fi
  done
  echo 0
}

# last_config_lite begins with the protocol, the others after a string of 17 bytes and its length (dump_all_job_state()
# in job_mgr.c, dump_config_state_lite() in read_config.c, 22.05 to 26.05). 0: no such file, or none of slurmctld's.
# Another slurmctld may replace it meanwhile: between its names the file is not there.
file_protocol() { # FILE
  local skip=0 number=
  if [[ -f $1 ]]; then
    if [[ $1 != */last_config_lite ]]; then
      skip=21
      if [[ $(head -c 20 "$1" | tail -c 16) != PROTOCOL_VERSION ]]; then echo 0; return; fi
    fi
    number=$(od --address-radix=n --format=u1 --skip-bytes=$skip --read-bytes=1 "$1" 2>/dev/null || true)
  fi
  echo $((number))
}

# Of the newest Slurm that wrote one of them: a slurmctld that is killed leaves files of two releases.
state_protocol() { # StateSaveLocation
  local name number newest=0
  for name in last_config_lite job_state node_state part_state resv_state trigger_state; do
    number=$(file_protocol "$1/$name")
    if ((number > newest)); then newest=$number; fi
  done
  echo "$newest"
}

# slurmctld reads states of two former releases, from 24.11 on of three (SLURM_MIN_PROTOCOL_VERSION).
oldest_readable() { echo $(($1 - ($1 < 42 ? 2 : 3))); } # PROTOCOL

# check_state StateSaveLocation VERSION: ends the script when Slurm VERSION (24.11.5) cannot read the state.
check_state() {
  local state installed writer
  state=$(state_protocol "$1")
  installed=$(protocol_of "${2%.*}")
  if ((state == 0 || installed == 0)); then return; fi
  if ((state > installed)); then
    writer="Slurm ${PROTOCOLS[state]:-newer than ${PROTOCOLS[-1]}}"
    echo "slurmctld-entrypoint: $1: written by $writer, which is newer than the installed $2. Nothing was changed." \
      "Install images of $writer again (helm upgrade), or restore a backup of Slurm ${PROTOCOLS[installed]} or older" \
      "(slurm-k8s-backup restore)." >&2
    exit 1
  fi
  if ((state < $(oldest_readable "$installed"))); then
    echo "slurmctld-entrypoint: $1: written by Slurm ${PROTOCOLS[state]:-older than 22.05}, which the installed $2" \
      "cannot read. Nothing was changed. Install the previous images again, and upgrade to a release between first." >&2
    exit 1
  fi
}

# forget_cluster_id StateSaveLocation ClusterName: removes the file NAME|ID, in which slurmctld writes the name in small
# letters. Of a cluster of another name the file stays, which slurmctld refuses.
forget_cluster_id() {
  if [[ $(cut -d '|' -f 1 "$1/clustername" 2>/dev/null) == "${2,,}" ]]; then rm "$1/clustername"; fi
}

# A job_state begins with a string of 17 bytes and its length, 2 bytes of version, 8 of time, and the next job id; all
# big-endian (dump_all_job_state() in Slurm's job_mgr.c, 22.05 to 26.05).
JOB_ID_OFFSET=31
is_job_state() { [[ $(head -c 20 "$1" | tail -c 16) == PROTOCOL_VERSION ]]; }
read_job_id() { # FILE: its next job id, or 0
  local id=
  if [[ -f $1 ]] && is_job_state "$1"; then
    id=$(od --address-radix=n --format=u4 --endian=big --skip-bytes=$JOB_ID_OFFSET --read-bytes=4 "$1")
  fi
  echo $((id))
}
write_job_id() { # FILE ID
  # shellcheck disable=SC2059 # the escapes are the bytes
  printf "$(printf '%08x' "$2" | sed 's/../\\x&/g')" |
    dd of="$1" bs=1 seek=$JOB_ID_OFFSET conv=notrunc status=none
}

# skip_job_ids StateSaveLocation: a killed slurmctld may not have saved its last job ids (SAVE_MAX_WAIT: 5 s). Their
# number is unknown. slurmdbd has records of these jobs, so no other job may have the same id.
JOB_ID_SKIP=1000
skip_job_ids() {
  local file id=0 other
  for file in "$1"/job_state "$1"/job_state.old; do
    other=$(read_job_id "$file")
    if ((other > id)); then id=$other; fi
  done
  for file in "$1"/job_state "$1"/job_state.old; do
    if ((id > 0)) && [[ -f $file ]] && is_job_state "$file"; then write_job_id "$file" $((id + JOB_ID_SKIP)); fi
  done
}
