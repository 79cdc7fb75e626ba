# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Backups: archives of slurmctld's state and of the database, made while both run; a cluster whose volumes are lost is
# restored from one.
#
# Release: backup

backup() { "$BED" exec "$E2E_FOLDER/../../packaging/slurm-k8s-backup" --namespace="$NAMESPACE" "$@" </dev/null; }
sacct() { slurm sacct --noheader --parsable2 --allocations --duplicates --allusers "$@"; }
sacct_all() { sacct --starttime=now-1day --format="$1"; } # FIELD,…
sacct_of() { sacct --jobs="$1" --format="$2"; } # JOB FIELD,…
is_in_sacct() { [[ $(sacct_of "$1" JobID,State) == "$1|$2" ]]; } # JOB STATE
is_ready() { [[ $(kubectl get statefulset "$1" -o jsonpath='{.status.readyReplicas}') == 1 ]]; }

enable_backups() {
  ! kubectl get cronjob slurm-backup >/dev/null 2>&1 || return 0
  "$BED" helm upgrade slurm "$E2E_FOLDER/../../helm/slurm" -n "$NAMESPACE" "${VALUES[@]}" \
    --set accounting.enabled=true,backup.enabled=true,backup.suspend=true,backup.keep=2 \
    --set accounting.mariadb.resources.requests.memory=64Mi --wait --timeout 180s >/dev/null
  wait_for 60 "slurmctld up" controller_ready
}

# StatefulSet and claim: its pod, its data, and a pod with an empty volume.
stop_statefulset() {
  kubectl scale statefulset "$1" --replicas=0 >/dev/null
  wait_for 90 "no pod of $1" has_no_pod "$1-0"
}
lose() { # STATEFULSET CLAIM
  stop_statefulset "$1"
  kubectl delete pvc "$2" >/dev/null
}
# In the order in which an administrator would install them.
lose_all() {
  local name
  # A claim stays as long as there is a pod that names it, even one that has ended.
  kubectl delete jobs -l app.kubernetes.io/name=slurm-backup >/dev/null
  stop_statefulset slurm-accounting
  lose slurm-controller state-slurm-controller-0
  lose slurm-mariadb data-slurm-mariadb-0
  for name in slurm-mariadb slurm-accounting slurm-controller; do
    kubectl scale statefulset "$name" --replicas=1 >/dev/null
    wait_for 120 "$name" is_ready "$name"
  done
  wait_for 60 "an empty slurmctld" controller_ready
}

# All that the archive had is there, and nothing twice.
assert_restored() { # DONE FAILED HELD
  assert_equal "accounts" research "$(slurm sacctmgr --noheader --parsable2 list account research format=account)"
  is_in_sacct "$1" COMPLETED || fail "job $1 in sacct: $(sacct_of "$1" JobID,State)"
  is_in_sacct "$2" FAILED || fail "job $2 in sacct: $(sacct_of "$2" JobID,State)"
  assert_equal "jobs that sacct has twice" "" "$(sacct_all JobID | sort | uniq --repeated)"
  assert_equal "the held job" "PENDING JobHeldUser" "$(job_state "$3") $(job_field "$3" Reason)"
}

test_a_lost_cluster_is_restored() {
  local good bad held late archive next
  enable_backups
  slurm sacctmgr --immediate add account research >/dev/null
  good=$(submit -n1 --wrap true)
  bad=$(submit -n1 --wrap 'exit 3')
  wait_for 90 "job $good in sacct" is_in_sacct "$good" COMPLETED
  wait_for 90 "job $bad in sacct" is_in_sacct "$bad" FAILED
  held=$(submit -n1 --hold --job-name=held --wrap 'echo of the archive')
  wait_saved
  archive=$(backup create)
  [[ $archive == slurm-????????T??????Z.tar ]] || fail "the archive's name: $archive"
  late=$(submit -n1 --wrap true)
  wait_done "$late" 60
  lose_all
  assert_equal "jobs of the empty cluster" "" "$(slurm squeue -h)$(sacct_all JobID)"
  backup restore --yes "$archive"
  assert_restored "$good" "$bad" "$held"
  next=$(submit -n1 --wrap true)
  ((next > late)) || fail "job ids went back: $next after $late"
  # Its script has come back, too.
  slurm scontrol release "$held"
  wait_done "$held" 60
  wait_for "job $held in sacct" is_in_sacct "$held" COMPLETED
  wait_for 60 "job $next in sacct" is_in_sacct "$next" COMPLETED
  assert_equal "jobs that sacct has twice" "" "$(sacct_all JobID | sort | uniq --repeated)"
  # The same again.
  backup restore --yes "$archive"
  assert_restored "$good" "$bad" "$held"
  slurm scancel "$held"
}

is_unknown() { ! slurm squeue -h -t all -o %A | grep -qx "$1"; } # JOB
test_jobs_that_live_at_a_restore() {
  local runs ended pending late archive uid
  enable_backups
  runs=$(submit -w compute-0 --exclusive --wrap 'sleep 900')
  # shellcheck disable=SC2016 # for the job's shell
  ended=$(submit -w compute-1 --exclusive --requeue \
    --wrap 'test -n "$SLURM_RESTART_COUNT" || until test -e /tmp/stop; do sleep 1; done')
  pending=$(submit -n1 --hold --wrap true)
  wait_job "$runs" RUNNING 90
  wait_job "$ended" RUNNING 90
  wait_saved
  archive=$(backup create)
  uid=$(pod_uid compute-0)
  kubectl exec compute-1 -c slurmd -- touch /tmp/stop
  wait_job "$ended" COMPLETED 60
  slurm scontrol release "$pending"
  wait_job "$pending" COMPLETED 90
  late=$(submit -w compute-2 --exclusive --wrap 'sleep 900')
  wait_job "$late" RUNNING 90
  backup restore --yes "$archive"
  assert_equal "the job that runs on" "RUNNING 0 $uid" \
    "$(job_state "$runs") $(job_field "$runs" Restarts) $(pod_uid compute-0)"
  assert_equal "the job that was pending" PENDING "$(job_state "$pending")"
  # Its node says that it is not there: slurmctld requeues it, and it runs a second time.
  wait_job "$ended" COMPLETED 400
  assert_equal "restarts of the job that had ended" 1 "$(job_field "$ended" Restarts)"
  is_unknown "$late" || fail "job $late is known: $(job_state "$late")"
  wait_for 120 "the pod of the unknown job is gone" has_no_pod compute-2
  assert_equal "the job that runs on" "RUNNING 0 $uid" \
    "$(job_state "$runs") $(job_field "$runs" Restarts) $(pod_uid compute-0)"
  slurm scancel "$runs" "$pending"
}

# Where the archives are on this machine.
archives_folder() {
  kubectl get pv "$(kubectl get pvc slurm-backup -o jsonpath='{.spec.volumeName}')" -o jsonpath='{.spec.local.path}'
}
test_a_corrupt_archive_stops_nothing() {
  local archive bad=slurm-20200101T000000Z.tar folder uid said
  enable_backups
  archive=$(backup create)
  folder=$(archives_folder)
  uid=$(pod_uid "$CONTROLLER")
  # Its last 10 KB may be nothing but the padding of tar.
  head -c "$(($(stat -c %s "$folder/$archive") / 2))" "$folder/$archive" >"$folder/$bad"
  chmod 644 "$folder/$bad"
  ! said=$(backup restore --yes "$bad" 2>&1) || fail "a corrupt archive was restored"
  [[ $said == *"/$bad: "*"another checksum"* ]] || fail "what it said: $said"
  assert_equal "the controller's pod" "$uid" "$(pod_uid "$CONTROLLER")"
  # The next backup deletes it: keep is 2, and it is the oldest.
  backup create
  backup list | tee /dev/stderr | awk '{print $1}' >"$WORK/archives-$WORKER"
  assert_equal "archives" 2 "$(grep -c . "$WORK/archives-$WORKER")"
  ! grep -F "$bad" "$WORK/archives-$WORKER" || fail "the oldest archive was kept"
}

test_the_password_is_in_no_log() {
  local password job
  enable_backups
  password=$(kubectl get secret slurm-accounting -o jsonpath='{.data.password}' | base64 --decode)
  backup create
  job=$(kubectl get jobs -l app.kubernetes.io/name=slurm-backup -o name | grep -E -- '-backup-[0-9]+$' | tail -n 1)
  kubectl logs "$job" --all-containers >"$WORK/log-$WORKER"
  grep -F "bytes" "$WORK/log-$WORKER"
  ! grep -F "$password" "$WORK/log-$WORKER" || fail "the password is in the log"
  ! kubectl get "$job" -o yaml | grep -F "$password" || fail "the password is in the job"
}

refuses_half_state() {
  kubectl logs "$CONTROLLER" -c slurmctld | grep -F "restore of half.tar is not complete"
}
test_half_a_restore_is_not_started() {
  local restarts
  enable_backups
  restarts=$(container_field slurmctld restartCount)
  slurm bash -c 'echo half.tar >/var/spool/slurmctld/slurm-k8s-restoring'
  "$BED" fault kill "$CONTROLLER/slurmctld"
  wait_for 60 "slurmctld's container refuses" refuses_half_state
  rm "$(kubectl get pv "$(kubectl get pvc state-slurm-controller-0 -o jsonpath='{.spec.volumeName}')" \
    -o jsonpath='{.spec.local.path}')/slurm-k8s-restoring"
  wait_for 120 "slurmctld back" container_is_back slurmctld "$restarts"
  wait_for "slurmctld up" controller_ready
}
