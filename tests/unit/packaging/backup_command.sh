#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# packaging/slurm-k8s-backup with a kubectl that is a fake: what it asks for, in which order, and what it says. Prints
# TAP.
set -euo pipefail

top=$(cd "${TOP_SRCDIR:-../..}" && pwd)
# shellcheck source=tests/support/expect.sh
source "$top/tests/support/expect.sh"

# ---- the fake ----

export FAKE=$folder/fake
mkdir "$FAKE"
PATH=$FAKE:$PATH
# What changes something is noted in $FAKE/asked. Jobs have the result of the file $FAKE/job; pods say what is in
# $FAKE/logs; a command in a pod ends with the code in $FAKE/exec.
cat >"$FAKE/kubectl" <<'END'
#!/bin/bash
note() { echo "$*" >>"$FAKE/asked"; }
line="$*"
line=${line#--namespace=* }
line=${line//=[0-9]*s / }
case $line in
  *"selector=slurm-k8s.io/backup="*) kind=${line#*backup=}; cat "$FAKE/template-${kind%% *}" 2>/dev/null || true ;;
  *"annotations"*"/controller}"*) echo slurm-controller ;;
  *"annotations"*"/controller-replicas}"*) echo 2 ;;
  *"annotations"*"/accounting}"*) cat "$FAKE/accounting" ;;
  "create job"*) echo "job of ${line##*from=}" ;;
  "set env"*) cat >/dev/null; echo "job with ${line#*--output=yaml }" ;;
  # $FAKE/long: the API server needs a moment.
  "create --filename=-") note "create $(cat)"; [[ ! -e $FAKE/long ]] || sleep 1 ;;
  "delete job"*) note "delete job" ;;
  *"selector=job-name"*) echo pod-1 ;;
  # $FAKE/gone: the pod was deleted, and its job fails for it.
  *"status.phase"*) if [[ -e $FAKE/gone ]]; then echo Failed >"$FAKE/job"; else echo Running; fi ;;
  *"initContainerStatuses"*) [[ -e $FAKE/gone ]] || printf '%s=2026\n' files pack begin ;;
  *"initContainers"*) echo " files pack" ;;
  "rollout status "*) note "$line"; [[ ! -e $FAKE/slow || $line != *"$(cat "$FAKE/slow")"* ]] ;;
  *"status.conditions"*) cat "$FAKE/job" ;;
  "get pods --output=name") printf 'pod/%s\n' slurm-controller-0 slurm-controller-1 slurm-accounting-0 compute-0 ;;
  logs*) cat "$FAKE/logs" ;;
  *"slurm-k8s-archive list"*) printf '%s  10 bytes\n' alpha-20260101T000000Z.tar alpha-20260102T000000Z.tar ;;
  exec*sha256sum*) echo "$(cat "$FAKE/sum")  file" ;;
  exec*"sh -c"*) cat >/dev/null; note "${line#*-- }" ;;
  "exec"*" cat "*) printf data ;;
  exec*) note "${line#*-- }"; exit "$(cat "$FAKE/exec")" ;;
  *) note "$line" ;;
esac
END
chmod +x "$FAKE/kubectl"
for kind in backup restore files; do echo "slurm-backup${kind/backup/}" >"$FAKE/template-$kind"; done
sed -i 's/up\(.\)/up-\1/' "$FAKE/template-restore" "$FAKE/template-files"
echo slurm-accounting >"$FAKE/accounting"
echo Complete >"$FAKE/job"
echo alpha-20260103T000000Z.tar >"$FAKE/logs"
echo 0 >"$FAKE/exec"
printf data | sha256sum | cut -d ' ' -f 1 >"$FAKE/sum"

command() { # NAME CODE OUT ERR ARGUMENT...
  : >"$FAKE/asked"
  expect "${@:1:4}" "$top/packaging/slurm-k8s-backup" "${@:5}"
}
asked() { expect "$1" 0 "$2" "" cat "$FAKE/asked"; } # NAME PATTERN

# ---- usage ----

command "help" 0 "usage: *" "" --help
command "version" 0 "slurm-k8s-backup *" "" --version
command "no command" 2 "" "*COMMAND: required*"
command "unknown command" 2 "" "*undo: no such command*" undo
command "unknown option" 2 "" "*--all: no such option*" create --all=1
command "unknown part" 2 "" "*--part: must be all, state or database*" restore --part=jobs
command "a job id that is no number" 2 "" "*--first-job-id: must be a number*" restore --first-job-id=0x1
command "an option without a value" 2 "" "*--context: needs a value*" list --context
command "get without a name" 2 "" "*get: 0 arguments*" get
command "a path" 1 "" "*a/b.tar: must be the name of an archive (see: list)" get a/b.tar

# ---- backup ----

command "create: prints the name" 0 alpha-20260103T000000Z.tar "*job slurm-backup-[0-9]*" -n apart create
asked "a job of the chart's" "create job of cronjob/slurm-backup *"
echo Failed >"$FAKE/job"
command "create: the job fails" 1 "" "*job slurm-backup-*: failed; nothing was archived" create
: >"$FAKE/job"
touch "$FAKE/gone"
command "create: its pod is deleted" 1 "" "*job slurm-backup-*: failed; nothing was archived" create
rm "$FAKE/gone"
echo Complete >"$FAKE/job"
command "list" 0 "alpha-20260101*alpha-20260102*" "" list
asked "its pod is deleted" "create job of cronjob/slurm-backup-files *delete job"
command "check: the newest" 0 "" "" check
asked "in the pod" "*env PART=all slurm-k8s-archive check alpha-20260102T000000Z.tar*delete job"

cd "$folder"
command "get" 0 "" "*alpha-20260101T000000Z.tar: 4 bytes" get alpha-20260101T000000Z.tar
expect "what it got" 0 data "" cat alpha-20260101T000000Z.tar
expect "for its user alone" 0 600 "" stat -c %a alpha-20260101T000000Z.tar
command "get: the file is there" 1 "" "*alpha-20260101T000000Z.tar: exists" get alpha-20260101T000000Z.tar
command "get: to standard output" 0 data "" get alpha-20260101T000000Z.tar -
echo other >"$FAKE/sum"
command "get: not all of it" 1 "" "*was not transferred completely*" get alpha-20260101T000000Z.tar other
expect "leaves no file" 2 "" "*" ls other other.partial
touch file.tar
command "put: another name" 1 "" "*file.tar: must be the name of an archive: CLUSTER-TIME.tar" put file.tar
command "put: not all of it" 1 "" "*was not transferred completely*" put alpha-20260101T000000Z.tar
asked "is removed" "*rm /var/backups/slurm/.partial-alpha-20260101T000000Z.tar*"
printf data | sha256sum | cut -d ' ' -f 1 >"$FAKE/sum"
command "put" 0 "" "" put alpha-20260101T000000Z.tar
asked "gets its name, and is checked" "*mv /var/backups/slurm/.partial-* /var/backups/slurm/alpha-*check alpha-*"

# ---- restore ----

command "restore: asks" 1 "" "*Restore alpha-20260102T000000Z.tar: needs --yes without a terminal" restore
asked "before it stops anything" "*slurm-k8s-archive check alpha-20260102T000000Z.tar?delete job"
echo 1 >"$FAKE/exec"
command "restore: a corrupt archive" 1 "" "" restore --yes
asked "stops nothing" "*slurm-k8s-archive check alpha-20260102T000000Z.tar?delete job"
echo 0 >"$FAKE/exec"
command "restore" 0 "" "*stopping statefulset/slurm-controller*starting statefulset/slurm-controller*: restored" \
  restore --yes --part=state --first-job-id=900 alpha-20260101T000000Z.tar
asked "its order" "*check alpha-20260101T000000Z.tar?delete job
scale statefulset/slurm-controller --replicas=0
wait --for=delete pod/slurm-controller-0 *
wait --for=delete pod/slurm-controller-1 *
scale statefulset/slurm-accounting --replicas=0
wait --for=delete pod/slurm-accounting-0 *
create job with ARCHIVE=alpha-20260101T000000Z.tar PART=state FIRST_JOB_ID=900
scale statefulset/slurm-accounting --replicas=1
scale statefulset/slurm-controller --replicas=2
rollout status statefulset/slurm-controller *
rollout status statefulset/slurm-accounting *"
echo slurm-accounting >"$FAKE/slow"
command "restore: a slurmdbd that needs long" 1 "" \
  "*statefulset/slurm-accounting: not ready after 600 s; the restore is complete: it goes on to start" restore --yes
expect "slurmctld is started" 0 "*statefulset/slurm-controller --replicas=2" "" \
  grep -- 'slurm-controller --replicas=2' "$FAKE/asked"
rm "$FAKE/slow"
: >"$FAKE/job"
cat >"$folder/interrupted" <<'END'
#!/bin/bash
# SIGINT is ignored in what runs in the background; SIGTERM is handled alike.
"$1" restore --yes &
until grep -q 'create job with ARCHIVE' "$FAKE/asked"; do sleep 0.1; done
kill -TERM $!
wait $!
END
chmod +x "$folder/interrupted"
: >"$FAKE/asked"
expect "restore: interrupted while its job runs" 1 "" "*ending job slurm-backup-restore-*are stopped: repeat*" \
  "$folder/interrupted" "$top/packaging/slurm-k8s-backup"
asked "its job is ended" "*create job with ARCHIVE=*delete job"
touch "$FAKE/long"
: >"$FAKE/asked"
expect "restore: interrupted while its job is created" 1 "" "*ending job slurm-backup-restore-*are stopped: repeat*" \
  "$folder/interrupted" "$top/packaging/slurm-k8s-backup"
asked "that job is ended" "*create job with ARCHIVE=*delete job"
rm "$FAKE/long"
echo Complete >"$FAKE/job"
: >"$FAKE/accounting"
command "restore: no accounting" 0 "" "*: restored" restore --yes
expect "nothing of it is started" 1 "" "" grep accounting "$FAKE/asked"
echo Failed >"$FAKE/job"
command "restore: the job fails" 1 "" \
  "*job slurm-backup-restore-*: failed*are stopped: repeat \"slurm-k8s-backup restore alpha-20260102T000000Z.tar\"*" \
  restore --yes
expect "nothing is started" 1 "" "" grep -- '--replicas=[12]' "$FAKE/asked"
rm "$FAKE/template-restore"
command "a chart without backups" 1 "" "*no CronJob with label slurm-k8s.io/backup=restore: install the chart with*" \
  restore --yes
echo "a b" >"$FAKE/template-files"
command "two of them" 1 "" "*several CronJobs with label slurm-k8s.io/backup=files: a b" list

echo "1..$number"
