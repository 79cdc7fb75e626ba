#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Archives of slurmctld's state and of slurmdbd's database: the steps of the chart's backup and restore pods, each in a
# container of its own. docs/admin/backup.md describes the archives, slurm-k8s-backup(8) the command that runs the pods.
set -euo pipefail
shopt -s inherit_errexit
# Archives have scripts and environments of jobs.
umask 077

PROGRAM="slurm-k8s-archive"
usage() {
  cat <<END
usage: $PROGRAM STEP [ARCHIVE]

Backup, in this order; the archive gets its name when it is complete
  save-state            copies StateSaveLocation while slurmctld runs
  save-database         dumps the database while slurmdbd runs
  pack                  writes the archive, and deletes old ones
Restore, in this order, with slurmctld and slurmdbd stopped; without ARCHIVE the newest one
  check [ARCHIVE]       only reads: checksums, cluster, version of Slurm
  begin [ARCHIVE]       check; from then on slurmctld does not start until the restore is complete
  load-database [ARCHIVE]
  load-state [ARCHIVE]
Archives
  list                  name, size, versions

Environment
  BACKUPS         folder of the archives (/var/backups/slurm)
  STATE           StateSaveLocation (/var/spool/slurmctld)
  RUN             folder in memory that the containers share (/run/slurm-k8s-backup)
  CLUSTER         ClusterName
  CHART           version of the chart
  ARCHIVE         where a step of a restore has no argument
  KEEP            number of archives to keep; 0: all of them
  CONTROLLER      HOST:PORT of slurmctld, which must not answer in a restore
  PART            what is restored: all, state or database
  FIRST_JOB_ID    next job id after a restore, at least
  ANY_RELEASE     step check takes an archive of a Slurm whose state this one cannot read, too
  DATABASE, DATABASE_HOST, DATABASE_PORT, DATABASE_USER
                  the database; without DATABASE there is none
  DATABASE_PASSWORD_FILE
                  file with its password (/run/slurm-k8s/database/password)
  DATABASE_CONF   file with further lines of a client's my.cnf (/run/slurm-k8s/client/my.cnf)
Exit code: 0, 1 for an error on standard error, 2 for wrong usage.
END
}

say() { echo "$PROGRAM: $*" >&2; }
die() {
  say "$*"
  exit 1
}
# Ends a backup. What it has written would take room from the next attempt.
give_up() {
  rm -rf "$WORK"
  die "$*"
}
now() { date --utc +%Y-%m-%dT%H:%M:%SZ; }

BACKUPS=${BACKUPS:-/var/backups/slurm}
STATE=${STATE:-/var/spool/slurmctld}
RUN=${RUN:-/run/slurm-k8s-backup}
PART=${PART:-all}
# Slurm's spelling of it.
CLUSTER=${CLUSTER:-}
CLUSTER=${CLUSTER,,}
# Of one pod: two backups at a time do not share it.
WORK=$BACKUPS/.partial-${HOSTNAME:-host}
# slurmctld does not start while this file is there (slurmctld-entrypoint).
MARK="slurm-k8s-restoring"
NEW=".slurm-k8s-restore"
# What slurmctld-config keeps there: the last good configuration, and what two controllers tell each other of theirs.
CONFIG_FILES="slurm-k8s-config*"
# When the last restore was complete: a backup that overlaps it may have half of each.
RESTORED=".slurm-k8s-restored"
# In a file, for a restore that is repeated: no id is given out twice, whatever of the cluster is left.
JOB_ID_FILE=$BACKUPS/.next-job-id-$CLUSTER
# A restore adds this to the next job id of the archive: jobs after the archive had ids that may be recorded nowhere.
JOB_ID_GAP=1000

# is_job_state(), read_job_id(), write_job_id(), protocol_of(): of slurmctld's image, whose steps need them.
STATE_LIBRARY=${STATE_LIBRARY:-/usr/local/lib/slurmctld-state.sh}
if [[ -e $STATE_LIBRARY ]]; then
  # shellcheck source=images/slurmctld/state.sh
  source "$STATE_LIBRARY"
fi

# with_progress TEXT COMMAND...: says every 5 s that COMMAND still runs.
with_progress() {
  local status=0 watch
  while sleep 5 >/dev/null 2>&1 && kill -0 $$ 2>/dev/null; do say "$1: $SECONDS s so far"; done &
  watch=$!
  "${@:2}" || status=$?
  kill "$watch" 2>/dev/null || true
  wait "$watch" 2>/dev/null || true
  return "$status"
}

# ---- slurmctld's state ----

# slurmctld never writes into a file that is there: it writes NAME.new, makes NAME to NAME.old, and NAME.new to NAME
# by links (save_buf_to_state() in Slurm's state_save.c). So each file is whole, and one that was replaced has another
# number. The scripts of jobs are in hash.*. slurm-k8s-config, which slurmctld-config writes at each start, has files of
# the site's Secrets.
state_names() {
  find "$STATE" -mindepth 1 -maxdepth 1 ! -name '*.new' ! -name heartbeat ! -name lost+found ! -name 'hash.*' \
    ! -name "$CONFIG_FILES" ! -name "$MARK" ! -name "$NEW" ! -name "$RESTORED" -printf '%f %i %T@ %s\n' | LC_ALL=C sort
}
WHY_NOT=
copy_once() { # FOLDER: fails when a file was replaced meanwhile, or sets WHY_NOT
  local before name error=
  before=$(state_names)
  WHY_NOT=
  rm -rf "$1"
  mkdir "$1"
  while read -r name _; do
    [[ -z $name ]] || error=$(cp --recursive --preserve=mode,timestamps "$STATE/$name" "$1/" 2>&1) || break
  done <<<"$before"
  [[ $(state_names) == "$before" ]] || return 1
  # With all files still there it is something else, such as a full volume.
  WHY_NOT=$error
  [[ -z $WHY_NOT ]]
}
copy_state() { # FOLDER
  local try
  for try in {1..50}; do
    if copy_once "$1"; then
      say "state copied at attempt $try"
      return
    fi
    sleep 0.2
  done
  give_up "$STATE: ${WHY_NOT:-files were replaced during each of 50 attempts to copy them}"
}
# Of jobs that the copy has: slurmctld writes a script before it saves its job, and deletes it MinJobAge after the job's
# end. tar says 1 when a job's folder came or went meanwhile.
tar_state() { # FOLDER FILE
  local scripts status=0
  mapfile -t scripts < <(cd "$STATE" && compgen -G 'hash.*')
  if ((${#scripts[@]})); then scripts=("--directory=$STATE" "${scripts[@]}"); fi
  tar --create --gzip --warning=no-file-changed --warning=no-file-removed --file="$2" --directory="$1" . \
    "${scripts[@]}" || status=$?
  ((status <= 1))
}

saved_cluster() { cut -d '|' -f 1 "$1/clustername" 2>/dev/null || true; } # FOLDER
slurm_version() { slurmctld -V | cut -d ' ' -f 2; }

last_restore() { cat "$STATE/$MARK" "$STATE/$RESTORED" 2>/dev/null || true; }

save_state() {
  local saved
  [[ -d $STATE ]] || die "$STATE: no such folder"
  [[ ! -e $STATE/$MARK ]] || die "$STATE: the restore of $(<"$STATE/$MARK") is not complete"
  saved=$(saved_cluster "$STATE")
  [[ -z $saved || $saved == "$CLUSTER" ]] || die "$STATE: the state of cluster $saved, not $CLUSTER"
  # Left by pods that were killed.
  find "$BACKUPS" -mindepth 1 -maxdepth 1 -name '.partial-*' -mmin +720 -exec rm -rf {} +
  rm -rf "$WORK"
  mkdir -p "$WORK"
  last_restore >"$WORK/restored"
  copy_state "$WORK/state"
  with_progress "packing $STATE" tar_state "$WORK/state" "$WORK/state.tar.gz" ||
    give_up "$STATE: cannot be packed"
  printf '%s\n' format=1 "cluster=$CLUSTER" "created=$(now)" "slurm=$(slurm_version)" "chart=$CHART" \
    "next_job_id=$(read_job_id "$WORK/state/job_state")" "database=${DATABASE:-}" >"$WORK/manifest"
  rm -rf "$WORK/state"
  say "state of cluster $CLUSTER: $(stat -c %s "$WORK/state.tar.gz") bytes"
}

# ---- the database ----

quote() { # TEXT: as a value in my.cnf
  local text=${1//\\/\\\\}
  printf '"%s"' "${text//\"/\\\"}"
}
# Prints the path of a my.cnf. The password is in no command line and no environment.
client_conf() {
  local conf=$RUN/my.cnf password
  password=$(<"${DATABASE_PASSWORD_FILE:-/run/slurm-k8s/database/password}")
  {
    printf '[client]\nhost=%s\nport=%s\nuser=%s\npassword=%s\n' "$DATABASE_HOST" "$DATABASE_PORT" "$DATABASE_USER" \
      "$(quote "$password")"
    cat "${DATABASE_CONF:-/run/slurm-k8s/client/my.cnf}" 2>/dev/null || true
  } >"$conf"
  echo "$conf"
}
query() { mariadb --defaults-file="$CONF" --batch --skip-column-names --execute="$1" "${@:2}"; } # SQL [DATABASE]
place() { echo "database $DATABASE at $DATABASE_HOST:$DATABASE_PORT"; }

# One transaction reads all tables as they were at its begin; slurmdbd goes on. --no-tablespaces: they take a privilege
# that slurmdbd's user does not have.
dump_database() { # FILE
  mariadb-dump --defaults-file="$CONF" --single-transaction --quick --no-tablespaces --hex-blob \
    --default-character-set=utf8mb4 "$DATABASE" | gzip >"$1"
}
save_database() {
  if [[ -z ${DATABASE:-} ]]; then
    say "no database: accounting is not the chart's"
    return
  fi
  CONF=$(client_conf)
  with_progress "$(place)" dump_database "$WORK/database.sql.gz" ||
    give_up "$(place): cannot be dumped"
  say "$(place): $(stat -c %s "$WORK/database.sql.gz") bytes"
}

# Is anybody else of our user connected to the database?
database_is_in_use() {
  local others
  others=$(query "SELECT COUNT(*) FROM information_schema.PROCESSLIST
    WHERE DB = '$DATABASE' AND ID <> CONNECTION_ID()") || die "$(place): cannot be read"
  ((others > 0))
}
await_unused_database() {
  local deadline=$((SECONDS + ${DATABASE_WAIT:-30}))
  while database_is_in_use; do
    ((SECONDS < deadline)) || die "$(place): in use; stop slurmdbd first"
    sleep 1
  done
}
# The next job id that the database knows of, or 0.
database_job_id() {
  local table
  table=$(query "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = '$DATABASE'
    AND TABLE_NAME = '${CLUSTER}_job_table'") || return 1
  if [[ $table ]]; then query "SELECT COALESCE(MAX(id_job) + 1, 0) FROM \`$table\`" "$DATABASE"; else echo 0; fi
}
fill_database() { # FILE
  query "DROP DATABASE IF EXISTS \`$DATABASE\`; CREATE DATABASE \`$DATABASE\`" || return 1
  member "$1" database.sql.gz | gzip --decompress |
    mariadb --defaults-file="$CONF" --default-character-set=utf8mb4 "$DATABASE"
}
load_database() { # FILE
  local before
  if [[ -z ${DATABASE:-} ]]; then return; fi
  CONF=$(client_conf)
  if before=$(database_job_id); then
    note_job_id "$before"
  elif [[ $PART == state ]]; then
    say "$(place): cannot be read; the next job id is that of the states, or FIRST_JOB_ID"
  else
    die "$(place): cannot be read"
  fi
  if [[ $PART == state || -z $(manifest "$1" database) ]]; then return; fi
  await_unused_database
  say "$(place): being replaced by that of ${1##*/}"
  with_progress "$(place)" fill_database "$1" || die "$(place): cannot be restored; repeat the restore"
  say "$(place): restored"
}

# ---- archives ----

archives() { # oldest first: names have the time
  find "$BACKUPS" -mindepth 1 -maxdepth 1 -type f -name "$CLUSTER-????????T??????Z.tar" -printf '%f\n' | LC_ALL=C sort
}
prune() { # NEW: keeps it and the newest others
  local name
  ((${KEEP:-0} > 0)) || return 0
  archives | head -n "-$KEEP" | while read -r name; do
    if [[ $name != "$1" ]]; then
      rm "$BACKUPS/$name"
      say "$name: deleted, KEEP=$KEEP"
    fi
  done
}
# Its own name last: what has the name is complete and on the disk.
pack() {
  local name members=(manifest state.tar.gz)
  [[ -e $WORK/manifest ]] || die "$WORK: step save-state is missing"
  [[ $(last_restore) == "$(<"$WORK/restored")" ]] || die "a restore began meanwhile: no archive is made"
  name=$CLUSTER-$(sed -n 's/^created=//p' "$WORK/manifest" | tr -d ':-').tar
  if [[ -e $WORK/database.sql.gz ]]; then members+=(database.sql.gz); fi
  (cd "$WORK" && sha256sum "${members[@]}" >SHA256SUMS)
  tar --create --directory="$WORK" --file="$WORK/archive" SHA256SUMS "${members[@]}" ||
    give_up "$BACKUPS: cannot be written"
  sync "$WORK/archive"
  [[ ! -e $BACKUPS/$name ]] || die "$BACKUPS/$name: exists"
  mv "$WORK/archive" "$BACKUPS/$name"
  sync "$BACKUPS"
  rm -rf "$WORK"
  prune "$name"
  say "$name: $(stat -c %s "$BACKUPS/$name") bytes"
  echo "$name"
}

# --occurrence: what comes after the member is not read.
member() { tar --extract --to-stdout --occurrence=1 --file="$1" "$2" 2>/dev/null; } # FILE NAME
manifest() { member "$1" manifest | sed -n "s/^$2=//p" | head -1; } # FILE KEY
list() {
  local name file
  archives | while read -r name; do
    file=$BACKUPS/$name
    printf '%s  %s bytes  Slurm %s, chart %s%s\n' "$name" "$(stat -c %s "$file")" "$(manifest "$file" slurm)" \
      "$(manifest "$file" chart)" "$([[ -z $(manifest "$file" database) ]] || echo ", database")"
  done
}

# Prints the path of the named archive, or of the newest.
find_archive() {
  local name=$1
  [[ $name ]] || name=$(archives | tail -n 1)
  [[ $name ]] || die "$BACKUPS: no archive of cluster $CLUSTER"
  [[ $name != */* && $name != .* ]] || die "$name: must be a name without a folder"
  [[ -f $BACKUPS/$name ]] || die "$BACKUPS/$name: no such file"
  echo "$BACKUPS/$name"
}
check_members() { # FILE
  local sum name sums
  sums=$(member "$1" SHA256SUMS) || die "$1: not an archive of $PROGRAM, or cut off"
  while read -r sum name; do
    [[ $(member "$1" "$name" | sha256sum) == "$sum  -" ]] ||
      die "$1: $name has another checksum than when it was written"
  done <<<"$sums"
  for name in manifest state.tar.gz; do
    [[ $sums == *"  $name"* ]] || die "$1: has no $name"
  done
}
release() { cut -d . -f 1,2 <<<"$1"; } # 24.11.5 -> 24.11
# Whether slurmctld reads a state of that release; true for those that slurmctld-state.sh does not know.
reads_state_of() { # RELEASE INSTALLED
  local from to
  from=$(protocol_of "$1")
  to=$(protocol_of "$2")
  ((from == 0 || to == 0 || from >= $(oldest_readable "$to")))
}
check_manifest() { # FILE
  local slurm installed
  [[ $(manifest "$1" format) == 1 ]] || die "$1: format $(manifest "$1" format), not 1: written by a newer $PROGRAM"
  [[ $(manifest "$1" cluster) == "$CLUSTER" ]] ||
    die "$1: of cluster $(manifest "$1" cluster), not $CLUSTER (clusterName of the chart)"
  slurm=$(manifest "$1" slurm)
  installed=$(slurm_version)
  # Releases are dates.
  [[ ! $(release "$slurm") > $(release "$installed") ]] ||
    die "$1: written by Slurm $slurm, which is newer than the installed $installed"
  [[ $PART == database || ${ANY_RELEASE:-} ]] || reads_state_of "$(release "$slurm")" "$(release "$installed")" ||
    die "$1: written by Slurm $slurm, whose state the installed $installed cannot read"
  if [[ $PART != state && -n ${DATABASE:-} && -z $(manifest "$1" database) ]]; then
    die "$1: has no database; to restore the state alone choose part state"
  fi
  [[ $PART != database || -n $(manifest "$1" database) ]] || die "$1: has no database"
}
check() { # FILE
  say "${1##*/}: reading"
  with_progress "${1##*/}" check_members "$1"
  check_manifest "$1"
  say "${1##*/}: cluster $(manifest "$1" cluster), created $(manifest "$1" created)," \
    "Slurm $(manifest "$1" slurm), chart $(manifest "$1" chart)"
}

# ---- restore ----

require_stopped() {
  [[ -z ${CONTROLLER:-} ]] || ! timeout 2 bash -c "</dev/tcp/${CONTROLLER%:*}/${CONTROLLER##*:}" 2>/dev/null ||
    die "slurmctld answers at $CONTROLLER; stop it first"
}
begin() { # FILE
  check "$1"
  require_stopped
  note_job_id "$(read_job_id "$STATE/job_state")"
  echo "${1##*/}" >"$STATE/$MARK"
  sync "$STATE/$MARK"
}
# The greatest next job id of the state and of the database that were there.
max() { printf '%s\n' "$@" | sort -n | tail -n 1; }
noted_job_id() { if [[ -s $JOB_ID_FILE ]]; then cat "$JOB_ID_FILE"; else echo 0; fi; }
note_job_id() { # ID
  local id
  id=$(max "$1" "$(noted_job_id)")
  echo "$id" >"$JOB_ID_FILE"
}
set_job_id() { # FOLDER
  local file id
  id=$(max $(($(read_job_id "$1/job_state") + JOB_ID_GAP)) "$(noted_job_id)" "${FIRST_JOB_ID:-0}")
  for file in "$1"/job_state "$1"/job_state.old; do
    if [[ -f $file ]] && is_job_state "$file"; then write_job_id "$file" "$id"; fi
  done
  say "next job id: $id"
}
swap_state() { # FOLDER: its files for those of StateSaveLocation
  find "$STATE" -mindepth 1 -maxdepth 1 ! -name "$MARK" ! -name "$NEW" ! -name "$CONFIG_FILES" ! -name lost+found \
    -exec rm -rf {} +
  find "$1" -mindepth 1 -maxdepth 1 -exec mv --target-directory="$STATE" {} +
  rmdir "$1"
}
load_state() { # FILE
  local new=$STATE/$NEW
  [[ -e $STATE/$MARK ]] || die "$STATE: step begin is missing"
  if [[ $PART != database ]]; then
    say "$STATE: being replaced by that of ${1##*/}"
    rm -rf "$new"
    mkdir "$new"
    member "$1" state.tar.gz | tar --extract --gzip --preserve-permissions --no-same-owner --directory="$new"
    set_job_id "$new"
    sync -f "$new"
    swap_state "$new"
    sync -f "$STATE"
  fi
  echo "${1##*/} $(date +%s.%N)" >"$STATE/$RESTORED"
  rm -f "$JOB_ID_FILE" "$STATE/$MARK"
  sync "$STATE"
  say "${1##*/}: restored"
}

# begin has chosen: a backup meanwhile would be newer.
choose_archive() { # STEP [ARCHIVE]
  if [[ $1 == load-* && -s $RUN/archive ]]; then
    cat "$RUN/archive"
  else
    find_archive "${2:-${ARCHIVE:-}}"
  fi
}
check_settings() {
  [[ ${FIRST_JOB_ID:-0} =~ ^[0-9]{1,8}$ ]] || die "FIRST_JOB_ID=$FIRST_JOB_ID: must be a number"
  [[ $PART == @(all|state|database) ]] || die "PART=$PART: must be all, state or database"
}

main() {
  local step=${1:-} file
  case $step in
    -h | --help) usage ;;
    save-state | save-database | pack | list)
      (($# == 1)) || { usage >&2; exit 2; }
      "${step//-/_}"
      ;;
    check | begin | load-database | load-state)
      (($# <= 2)) || { usage >&2; exit 2; }
      check_settings
      file=$(choose_archive "$@")
      if [[ $step == begin ]]; then echo "$file" >"$RUN/archive"; fi
      "${step//-/_}" "$file"
      ;;
    *) usage >&2; exit 2 ;;
  esac
}

main "$@"
