#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# images/archive.sh, the steps of a backup and a restore, on folders and with programs of Slurm and MariaDB that are
# fakes. Prints TAP.
set -euo pipefail

top=$(cd "${TOP_SRCDIR:-../..}" && pwd)
# shellcheck source=tests/support/expect.sh
source "$top/tests/support/expect.sh"

export BACKUPS=$folder/backups STATE=$folder/state RUN=$folder/run CLUSTER=Alpha CHART=0.1.0 HOSTNAME=pod
export DATABASE_HOST=db DATABASE_PORT=3306 DATABASE_USER=slurm DATABASE_PASSWORD_FILE=$folder/password DATABASE_WAIT=0
export STATE_LIBRARY=$top/images/slurmctld/state.sh
# Where the fakes are, and what they know.
export FAKE=$folder/fake
PATH=$FAKE:$PATH
mkdir "$FAKE" "$BACKUPS" "$RUN"

# ---- fakes ----

cat >"$FAKE/slurmctld" <<'END'
#!/bin/bash
echo "slurm-wlm $(<"$FAKE/version")"
END
# What it is asked; its answer to questions about others, tables and jobs.
cat >"$FAKE/mariadb" <<'END'
#!/bin/bash
if [[ -e $FAKE/down ]]; then echo "ERROR 2002 (HY000): cannot connect" >&2; exit 1; fi
if [[ "$*" != *--execute=* ]]; then exec cat >"$FAKE/loaded"; fi
echo "$*" >>"$FAKE/queries"
if [[ "$*" == *PROCESSLIST* ]]; then cat "$FAKE/others"; fi
if [[ "$*" == *information_schema.TABLES* ]]; then echo alpha_job_table; fi
if [[ "$*" == *MAX\(id_job\)* ]]; then cat "$FAKE/job_id"; fi
END
cat >"$FAKE/mariadb-dump" <<'END'
#!/bin/bash
echo "$*" >"$FAKE/dump"
cat "$FAKE/content"
exit "$(cat "$FAKE/dump_status" 2>/dev/null || echo 0)"
END
chmod +x "$FAKE"/*
echo 24.11.5 >"$FAKE/version"
echo 0 >"$FAKE/others"
echo 0 >"$FAKE/job_id"
echo "-- records" >"$FAKE/content"
# shellcheck disable=SC1003 # it ends with a backslash
printf '%s' 'pass"word\' >"$DATABASE_PASSWORD_FILE"

# A job_state as slurmctld writes it: next job id 0x0102 = 258.
make_state() { # NEXT-JOB-ID-IN-HEX TEXT
  rm -rf "$STATE"
  mkdir -p "$STATE/hash.1/job.1" "$STATE/slurm-k8s-config"
  printf '\0\0\0\x11PROTOCOL_VERSION\0\x2a\0\0\0\0\0\0\0\0\0%b%s' "$1" "$2" >"$STATE/job_state"
  cp "$STATE/job_state" "$STATE/job_state.old"
  printf 'alpha|7' >"$STATE/clustername"
  echo nodes >"$STATE/node_state"
  echo half >"$STATE/part_state.new"
  echo script >"$STATE/hash.1/job.1/script"
  echo secret >"$STATE/slurm-k8s-config/job_container.conf"
  mkdir "$STATE/slurm-k8s-config-started"
}
job_id() { od --address-radix=n --format=u4 --endian=big --skip-bytes=31 --read-bytes=4 "$1" | tr -d ' '; }

run() { "$top/images/archive.sh" "$@"; }
step() { expect "${@:1:4}" "$top/images/archive.sh" "${@:5}"; } # NAME CODE OUT ERR STEP...
backup() { # prints its name
  rm -f "$FAKE/dump"
  run save-state && run save-database && run pack
}
restore() { run begin "$@" && run load-database "$@" && run load-state "$@"; }
is() { # NAME EXPECTED ACTUAL
  expect "$1" 0 "$2" "" echo "$3"
}
has_no() { expect "$1" 1 "*" "*" test -e "$2"; } # NAME PATH

# ---- usage ----

step "help" 0 "usage: *" "" --help
step "no step" 2 "" "usage: *"
step "unknown step" 2 "" "usage: *" unknown
step "no archive" 1 "" "*$BACKUPS: no archive of cluster alpha" check

# ---- backup ----

make_state '\0\0\x01\x02' "jobs of the first"
export DATABASE=slurm_acct_db KEEP=2
expect "a backup" 0 "alpha-????????T??????Z.tar" "*state copied at attempt 1*" bash -c \
  "cd '$top' && images/archive.sh save-state && images/archive.sh save-database && images/archive.sh pack"
first=$(<"$folder/out")
is "its members" "SHA256SUMS manifest state.tar.gz database.sql.gz" "$(tar -tf "$BACKUPS/$first" | paste -sd ' ')"
is "its mode" 600 "$(stat -c %a "$BACKUPS/$first")"
is "the manifest" "format=1 cluster=alpha created=* slurm=24.11.5 chart=0.1.0 next_job_id=258 database=slurm_acct_db" \
  "$(tar -xOf "$BACKUPS/$first" manifest | paste -sd ' ')"
is "a consistent dump" "*--single-transaction*" "$(<"$FAKE/dump")"
is "no password in a command line" 0 "$(grep -c 'pass"' "$FAKE/dump" || true)"
is "the password, quoted" 'password="pass\\"word\\\\"' "$(grep password "$RUN/my.cnf")"
is "its file is the user's alone" 600 "$(stat -c %a "$RUN/my.cnf")"
is "no file that is being written" 0 \
  "$(tar -xOf "$BACKUPS/$first" state.tar.gz | tar -tz | grep -c '\.new$' || true)"
has_no "nothing partial is left" "$BACKUPS/.partial-pod"
step "pack without the steps before it" 1 "" "*step save-state is missing" pack
step "list" 0 "$first  *Slurm 24.11.5, chart 0.1.0, database" "" list

rm -f "$BACKUPS"/*
echo 3 >"$FAKE/dump_status"
expect "a dump that fails" 1 "" "*database slurm_acct_db at db:3306: cannot be dumped" bash -c \
  "cd '$top' && images/archive.sh save-state && images/archive.sh save-database && images/archive.sh pack"
rm "$FAKE/dump_status"
is "has no archive" "" "$(run list)"

for name in 20200101T000000Z 20200102T000000Z 20200103T000000Z; do touch "$BACKUPS/alpha-$name.tar"; done
touch "$BACKUPS/alpha-other.tar" "$BACKUPS/beta-20200101T000000Z.tar"
first=$(backup 2>/dev/null)
is "KEEP=2: the newest, and what is not ours" \
  "alpha-20200103T000000Z.tar $first alpha-other.tar beta-20200101T000000Z.tar" \
  "$(ls "$BACKUPS" | LC_ALL=C sort | paste -sd ' ')"
rm "$BACKUPS"/alpha-2020* "$BACKUPS/alpha-other.tar"

# slurmctld replaces a file during the first copies.
mkdir "$folder/busy"
cat >"$folder/busy/cp" <<'END'
#!/bin/bash
if ! [[ -e $FAKE/calm ]]; then
  echo newer >"$STATE/node_state.new" && mv "$STATE/node_state.new" "$STATE/node_state"
  echo >>"$FAKE/replaced"
  if (($(wc -l <"$FAKE/replaced") > 3)); then touch "$FAKE/calm"; fi
fi
exec /bin/cp "$@"
END
chmod +x "$folder/busy/cp"
expect "a state that changes is copied again" 0 "" "*state copied at attempt [234]*" \
  env PATH="$folder/busy:$PATH" "$top/images/archive.sh" save-state
is "until it did not change" "newer" "$(tar -xOf "$BACKUPS/.partial-pod/state.tar.gz" ./node_state -z)"

rm -rf "$BACKUPS/.partial-pod"
mkdir "$folder/full"
printf '#!/bin/bash\necho "cp: error writing X: No space left on device" >&2\nexit 1\n' >"$folder/full/cp"
chmod +x "$folder/full/cp"
expect "a volume that is full" 1 "" "*$STATE: cp: error writing X: No space left on device" \
  env PATH="$folder/full:$PATH" "$top/images/archive.sh" save-state
has_no "nothing is left for the next attempt to miss" "$BACKUPS/.partial-pod"
printf '#!/bin/bash\necho "tar: No space left on device" >&2\nexit 2\n' >"$folder/full/tar"
rm "$folder/full/cp"
chmod +x "$folder/full/tar"
expect "a volume that the copy fills" 1 "" "*tar: No space left on device*$STATE: cannot be packed" \
  env PATH="$folder/full:$PATH" "$top/images/archive.sh" save-state
has_no "nothing is left of that either" "$BACKUPS/.partial-pod"

printf 'beta|7' >"$STATE/clustername"
step "the state of another cluster" 1 "" "*the state of cluster beta, not alpha" save-state

# ---- refusals ----

good=$BACKUPS/$first
tries() { # NAME ERR: the archive bad.tar
  step "$1" 1 "" "*$BACKUPS/bad.tar: $2" check bad.tar
}
head -c 3000 "$good" >"$BACKUPS/bad.tar"
tries "an archive that is cut off" "*"
sed 's/chart=0.1.0/chart=0.1.9/' "$good" >"$BACKUPS/bad.tar"
tries "a changed manifest" "manifest has another checksum than when it was written"
echo text >"$BACKUPS/bad.tar"
tries "another file" "not an archive of slurm-k8s-archive, or cut off"
tar --create --file="$BACKUPS/bad.tar" --files-from=/dev/null
tries "an empty tar" "not an archive of slurm-k8s-archive, or cut off"
rm "$BACKUPS/bad.tar"
tries "no such archive" "no such file"
step "a path" 1 "" "*../x: must be a name without a folder" check ../x
echo 23.11.4 >"$FAKE/version"
step "a newer state" 1 "" "*$first: written by Slurm 24.11.5, which is newer than the installed 23.11.4" check "$first"
echo 24.11.1 >"$FAKE/version"
step "a newer micro release has the same state" 0 "" "*" check "$first"
echo 26.05.2 >"$FAKE/version"
step "an older state" 0 "" "*$first: cluster alpha, created *, Slurm 24.11.5, chart 0.1.0" check "$first"
step "three releases older" 0 "" "*Slurm 24.11.5*" check "$first"
echo 22.05.8 >"$FAKE/version"
sleep 1 # names have seconds
make_state '\x01\x02' jobs
run save-state 2>/dev/null && run save-database 2>/dev/null && run pack >/dev/null 2>&1
old=$(run list | cut -d ' ' -f 1 | tail -n 1)
echo 24.11.5 >"$FAKE/version"
step "a state that slurmctld cannot read" 1 "" \
  "*$old: written by Slurm 22.05.8, whose state the installed 24.11.5 cannot read" check "$old"
expect "to keep it" 0 "" "*Slurm 22.05.8*" env PART=state ANY_RELEASE=yes "$top/images/archive.sh" check "$old"
expect "its database" 0 "" "*Slurm 22.05.8*" env PART=database "$top/images/archive.sh" check "$old"
rm "$BACKUPS/$old"
echo 26.05.2 >"$FAKE/version"
expect "another cluster" 1 "" "*$first: of cluster alpha, not beta*" \
  env CLUSTER=beta "$top/images/archive.sh" check "$first"
expect "an unknown part" 1 "" "*PART=both: *" env PART=both "$top/images/archive.sh" check
expect "no number" 1 "" "*FIRST_JOB_ID=x: *" env FIRST_JOB_ID=x "$top/images/archive.sh" check

# ---- restore ----

restores() { # NAME CODE ERR [VARIABLE=VALUE...]
  expect "$1" "$2" "" "$3" env "${@:4}" bash -c \
    "cd '$top' && images/archive.sh begin && images/archive.sh load-database && images/archive.sh load-state"
}
make_state '\0\0\x01\0' "other jobs"
rm "$STATE/node_state"
echo lost >"$STATE/trigger_state"
echo good >"$STATE/slurm-k8s-config/slurm.conf"
touch "$STATE/slurm-k8s-config-started/1"
restores "a restore" 0 "*next job id: 1258*restored"
is "jobs" "*jobs of the first" "$(tr -d '\0' <"$STATE/job_state")"
is "nodes" "*" "$(<"$STATE/node_state")"
is "scripts" script "$(<"$STATE/hash.1/job.1/script")"
is "files that the archive does not have are gone" no "$([[ -e $STATE/trigger_state ]] && echo yes || echo no)"
is "the last good configuration stays" good "$(<"$STATE/slurm-k8s-config/slurm.conf")"
is "what controllers started with stays" 1 "$(ls "$STATE/slurm-k8s-config-started")"
is "next job id: the archive's and 1000" 1258 "$(job_id "$STATE/job_state")"
is "of the older copy, too" 1258 "$(job_id "$STATE/job_state.old")"
is "records" "-- records" "$(<"$FAKE/loaded")"
is "the database is dropped first" "*DROP DATABASE*CREATE DATABASE*" "$(<"$FAKE/queries")"
has_no "slurmctld may start" "$STATE/slurm-k8s-restoring"
restores "the same once more" 0 "*next job id: 1258*restored"

make_state '\0\0\x10\0' "later jobs"
restores "next job id: the present state's" 0 "*next job id: 4096*"
echo 9000 >"$FAKE/job_id"
restores "next job id: the database's" 0 "*next job id: 9000*"
echo 0 >"$FAKE/job_id"
restores "next job id: as asked for" 0 "*next job id: 12345*" FIRST_JOB_ID=12345

rm -f "$FAKE/loaded"
make_state '\0\0\x01\0' "other jobs"
echo 9000 >"$FAKE/job_id"
restores "next job id: the database's, of the state alone" 0 "*next job id: 9000*restored" PART=state
echo 0 >"$FAKE/job_id"
make_state '\0\0\x01\0' "other jobs"
restores "the state alone" 0 "*restored" PART=state
is "no records" no "$([[ -e $FAKE/loaded ]] && echo yes || echo no)"
touch "$FAKE/down"
make_state '\0\0\x01\0' "other jobs"
restores "the state alone, without the server" 0 "*cannot be read; the next job id is*restored" PART=state
make_state '\0\0\x01\0' "other jobs"
restores "all, without the server" 1 "*cannot be read"
rm "$FAKE/down" "$STATE/slurm-k8s-restoring"
make_state '\0\0\x01\0' "other jobs"
restores "the database alone" 0 "*restored" PART=database
is "state as it was" "*other jobs" "$(tr -d '\0' <"$STATE/job_state")"
is "records again" "-- records" "$(<"$FAKE/loaded")"

echo 2 >"$FAKE/others"
restores "slurmdbd is connected" 1 "*database slurm_acct_db at db:3306: in use; stop slurmdbd first"
is "slurmctld would not start" "$first" "$(<"$STATE/slurm-k8s-restoring")"
step "no backup of it" 1 "" "*the restore of $first is not complete" save-state
echo 0 >"$FAKE/others"
restores "repeated" 0 "*restored"

archives=$(run list)
# A restore that begins, and one that also ends, between two steps of a backup.
during_a_backup() { # NAME COMMANDS
  expect "$1" 1 "" "*a restore began meanwhile: no archive is made" bash -c \
    "cd '$top' && images/archive.sh save-state && images/archive.sh save-database && ($2) && images/archive.sh pack"
}
during_a_backup "a restore begins during a backup" "images/archive.sh begin"
run load-database 2>/dev/null && run load-state 2>/dev/null
during_a_backup "a restore ends during a backup" \
  "images/archive.sh begin && images/archive.sh load-database && images/archive.sh load-state"
is "no archive of them" "$archives" "$(run list)"

# A port with a listener.
python3 -c '
import socket, time
server = socket.create_server(("127.0.0.1", 0))
print(server.getsockname()[1], flush=True)
time.sleep(60)' >"$folder/port" &
listener=$!
until [[ -s $folder/port ]]; do sleep 0.05; done
restores "slurmctld answers" 1 "*slurmctld answers at 127.0.0.1:*; stop it first" \
  "CONTROLLER=127.0.0.1:$(<"$folder/port")"
kill "$listener"
wait "$listener" 2>/dev/null || true
has_no "nothing was begun" "$STATE/slurm-k8s-restoring"

find "$STATE" "$BACKUPS" -mindepth 1 -delete
unset DATABASE
expect "no accounting, no jobs yet" 0 "alpha-*.tar" "*" bash -c \
  "cd '$top' && images/archive.sh save-state && images/archive.sh save-database && images/archive.sh pack"
restores "restored" 0 "*restored"
expect "an archive without a database" 1 "" "*: has no database; to restore the state alone choose part state" \
  env DATABASE=slurm_acct_db "$top/images/archive.sh" check

echo "1..$number"
