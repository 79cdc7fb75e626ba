#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# images/slurmctld/state.sh: slurmctld does not start with a state that it cannot read, and says what to do. Prints TAP.
set -euo pipefail

top=$(cd "${TOP_SRCDIR:-../..}" && pwd)
# shellcheck source=tests/support/expect.sh
source "$top/tests/support/expect.sh"

state=$folder/state
cat >"$folder/check" <<'SCRIPT'
#!/bin/bash
source "$1"
check_state "$2" "$3"
SCRIPT
chmod +x "$folder/check"
check=("$folder/check" "$top/images/slurmctld/state.sh" "$state") # VERSION
# Files as slurmctld writes them.
begin_state() { rm -rf "$state"; mkdir "$state"; }
add_file() { # NAME PROTOCOL
  # shellcheck disable=SC2059 # the escape is the byte
  printf "\\0\\0\\0\\x11PROTOCOL_VERSION\\0\\x$(printf %x "$2")\\0rest" >"$state/$1"
}
add_config() { # PROTOCOL
  # shellcheck disable=SC2059
  printf "\\x$(printf %x "$1")\\0rest" >"$state/last_config_lite"
}

cat >"$folder/compare" <<'SCRIPT'
#!/bin/bash
# The releases and protocols of the table are those of compat.hpp, which says the oldest one without a condition.
source "$1"
in_table() { for number in "${!PROTOCOLS[@]}"; do echo "${PROTOCOLS[number]} $number"; done; }
in_header() { # FILE
  echo "22.05 38"
  sed -nE 's/.*SLURM_VERSION_NUM\(([0-9]+), ([0-9]+), 0\) *\? ([0-9]{2})$/\1 \2 \3/p' "$1" |
    while read -r year month number; do printf '%d.%02d %d\n' "$year" "$month" "$number"; done
}
diff <(in_table) <(in_header "$2" | sort)
SCRIPT
chmod +x "$folder/compare"
expect "the table of releases is that of the plugins" 0 "" "" "$folder/compare" "$top/images/slurmctld/state.sh" \
  "$top/plugins/slurmctld/compat.hpp"

cat >"$folder/forget" <<'SCRIPT'
#!/bin/bash
source "$1"
forget_cluster_id "$2" "$3"
ls "$2"
SCRIPT
chmod +x "$folder/forget"
forget=("$folder/forget" "$top/images/slurmctld/state.sh" "$state") # ClusterName
begin_state
expect "no cluster id" 0 "" "" "${forget[@]}" alpha
echo 'alpha|7' >"$state/clustername"
expect "of another cluster: it stays" 0 clustername "" "${forget[@]}" beta
expect "slurmctld has written the name in small letters" 0 "" "" "${forget[@]}" Alpha

begin_state
expect "an empty state" 0 "" "" "${check[@]}" 24.11.5
add_file job_state 42
add_config 42
expect "of the same release" 0 "" "" "${check[@]}" 24.11.5
expect "of three releases before" 0 "" "" "${check[@]}" 26.05.5
expect "of a newer one" 1 "" "slurmctld-entrypoint: $state: written by Slurm 24.11, which is newer than the installed \
24.05.3. Nothing was changed. *helm upgrade*restore a backup of Slurm 24.05 or older*" "${check[@]}" 24.05.3
expect "a Slurm that the table does not have" 0 "" "" "${check[@]}" 27.05.1

begin_state
add_file job_state 42
add_file node_state 45
expect "one file of a newer one" 1 "" "*written by Slurm 26.05*" "${check[@]}" 24.11.5
begin_state
add_config 45
expect "the configuration alone" 1 "" "*written by Slurm 26.05*" "${check[@]}" 24.11.5
begin_state
add_file job_state 46
expect "of a release that the table does not have" 1 "" "*written by Slurm newer than 26.05,*" "${check[@]}" 26.05.5

begin_state
add_file job_state 38
expect "too old" 1 "" "*by Slurm 22.05, which the installed 24.11.5 cannot read*release between*" "${check[@]}" 24.11.5
expect "two releases before 24.11" 0 "" "" "${check[@]}" 23.11.1
expect "three releases before 24.11" 1 "" "*cannot read*" "${check[@]}" 24.05.1
echo "something else" >"$state/job_state"
expect "a file of another program" 0 "" "" "${check[@]}" 24.11.5

cat >"$folder/skip" <<'SCRIPT'
#!/bin/bash
source "$1"
skip_job_ids "$2"
for file in job_state job_state.old; do read_job_id "$2/$file"; done
SCRIPT
chmod +x "$folder/skip"
skip=("$folder/skip" "$top/images/slurmctld/state.sh" "$state")
add_jobs() { # FILE NEXT-JOB-ID-IN-HEX
  printf '\0\0\0\x11PROTOCOL_VERSION\0\x2a\0\0\0\0\0\0\0\0\0%bthe jobs' "$2" >"$state/$1"
}
begin_state
expect "no jobs yet: their first id stays" 0 $'0\n0' "" "${skip[@]}"
add_jobs job_state '\0\0\x01\x02'
expect "ids after those that were saved" 0 $'1258\n0' "" "${skip[@]}"
expect "and once more" 0 $'2258\n0' "" "${skip[@]}"
expect "the jobs stay" 0 "*the jobs" "" tail -c 8 "$state/job_state"
add_jobs job_state '\0\0\x01\x02'
add_jobs job_state.old '\0\0\x01\x01'
expect "of both files, by the greater one" 0 $'1258\n1258' "" "${skip[@]}"
rm "$state/job_state"
expect "killed between its names" 0 $'0\n2258' "" "${skip[@]}"
echo "something else that is longer than a header of job_state" >"$state/job_state"
before=$(<"$state/job_state")
expect "a file of another program" 0 $'0\n3258' "" "${skip[@]}"
expect "it stays" 0 "$before" "" cat "$state/job_state"

echo "1..$number"
