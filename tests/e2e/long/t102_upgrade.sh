# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# helm upgrade, rollback and uninstall while jobs run: within a release of Slurm, and from one to another, with
# accounting and backups. The other one is that of E2E_UPGRADE_SUITE, whose images must be on the bed.
#
# Release: upgrade

# shellcheck source=tests/e2e/accounting.sh
source "$E2E_FOLDER/accounting.sh"
# shellcheck source=tests/e2e/releases.sh
source "$E2E_FOLDER/releases.sh"

backup() { "$BED" exec "$E2E_FOLDER/../../packaging/slurm-k8s-backup" --namespace="$NAMESPACE" "$@" </dev/null; }
seconds_since() { awk -v ms="$(($(now_ms) - $1))" 'BEGIN { printf "%.1f", ms / 1000 }'; }
image_of() { kubectl get pod "$1" -o jsonpath='{.spec.containers[0].image}'; }

# ---- releases ----

# Idle nodes stay until the test ends: a pod is away because it was replaced. A suspend would end a drain.
TEST_VALUES=(--set slurm.suspendTime=3600 --set slurm.resumeTimeout=300
  --set controller.extraConfMap.SuspendExcStates=DRAIN
  --set accounting.enabled=true --set accounting.mariadb.resources.requests.memory=64Mi
  --set backup.enabled=true --set backup.suspend=true --set backup.keep=2)
upgrade() { # CHART HELM-OPTION…
  "$BED" helm upgrade slurm "$1" -n "$NAMESPACE" --reuse-values "${@:2}" --wait --timeout 300s >/dev/null
  wait_for 60 "slurmctld up" controller_ready
}
upgrade_slurm() { upgrade "$CHART" --set "images.tag=$NEXT_TAG" --set-string "slurmVersion=$NEXT_VERSION"; }
# With the images of this run. A release that another test has upgraded is installed again.
begin_release() {
  if [[ $(image_of "$CONTROLLER") != *":$IMAGE_TAG" ]]; then
    "$BED" helm uninstall slurm -n "$NAMESPACE" --wait >/dev/null
    kubectl delete pvc --all >/dev/null
  elif kubectl get cronjob slurm-backup >/dev/null 2>&1; then
    return
  fi
  "$BED" helm upgrade --install slurm "$CHART" -n "$NAMESPACE" "${VALUES[@]}" "${TEST_VALUES[@]}" \
    --wait --timeout 180s >/dev/null
  wait_for 60 "slurmctld up" controller_ready
  wait_for 60 "8 node records" has_node_count 8
}

# ---- jobs ----

# A job that waits for files in its pod: with "step" it starts a step, with "end" it ends.
submit_waiting() { # SBATCH-OPTION…
  submit "$@" --wrap 'await() { until test -e /tmp/$SLURM_JOB_ID.$1; do sleep 0.2; done; }
    await step
    { srun sh -c "echo step; slurmd -V"; scontrol show job $SLURM_JOB_ID -o; } >/tmp/$SLURM_JOB_ID.said 2>&1
    touch /tmp/$SLURM_JOB_ID.done
    await end'
}
tell_job() { kubectl exec "$1" -- touch "/tmp/$2.$3"; } # POD JOB step|end
has_said() { kubectl exec "$1" -- test -e "/tmp/$2.done"; } # POD JOB
ends_well() { # JOB POD VERSION: it can still start a step, of this Slurm, and is in its first run
  local said
  assert_equal "job $1" "RUNNING 0" "$(job_state "$1") $(job_field "$1" Restarts)"
  tell_job "$2" "$1" step
  wait_for 60 "the job's step" has_said "$2" "$1"
  said=$(kubectl exec "$2" -- cat "/tmp/$1.said")
  [[ $said == *step*"slurm-wlm $3"*"JobState=RUNNING"* ]] || fail "the job said: $said"
  tell_job "$2" "$1" end
  wait_done "$1" 60
  assert_equal "restarts of job $1" 0 "$(job_field "$1" Restarts)"
}
has_image() { [[ $(image_of "$1") == *"/slurmd:$2" ]]; } # NODE TAG
is_gone_or_new() { ! kubectl get pod "$1" >/dev/null 2>&1 || has_image "$1" "$2"; } # NODE TAG

# How long slurmctld does not answer, in ms: into FILE.longest when FILE is removed.
watch_gap() { # FILE
  local since=0 longest=0 now
  while [[ -e $1 ]]; do
    if timeout 5 "$BED" slurm scontrol ping 2>/dev/null | grep -c 'is UP' >/dev/null; then
      now=$(now_ms)
      if ((since && now - since > longest)); then longest=$((now - since)); fi
      since=$now
    fi
    sleep 0.2
  done
  echo "$longest" >"$1.longest"
}
GAP=$WORK/gap-$WORKER
begin_gap() { touch "$GAP"; watch_gap "$GAP" & GAP_PID=$!; }
# The bounds are for a machine that compiles beside: docs/developer/performance.md has what is usual.
end_gap() { # SECONDS: at most so many
  rm -f "$GAP"
  wait "$GAP_PID"
  echo "# longest time without an answer of slurmctld: $(<"$GAP.longest") ms"
  (($(<"$GAP.longest") <= $1 * 1000)) || fail "slurmctld did not answer for $(<"$GAP.longest") ms"
}
took_at_most() { # WHAT SECONDS SINCE
  local took
  took=$(seconds_since "$3")
  echo "# $1 after $took s"
  ((${took%.*} < $2)) || fail "$1 after $took s"
}

# ---- a pod is deleted or killed ----

controller_is_other() { [[ $(pod_uid "$CONTROLLER") != "$1" ]] && controller_ready; } # UID
test_the_controller_is_back() {
  local job uid since restarts
  begin_release
  job=$(submit_waiting -N1 -w compute-0)
  wait_job "$job" RUNNING 90
  uid=$(pod_uid "$CONTROLLER")
  since=$(now_ms)
  kubectl delete pod "$CONTROLLER" --wait=false >/dev/null
  wait_for "the next controller" controller_is_other "$uid"
  took_at_most "deleted pod of slurmctld: an answer" 60 "$since"
  slurm scancel "$(submit --hold --wrap true)"
  took_at_most "deleted pod of slurmctld: takes a job" 75 "$since"
  restarts=$(container_field slurmctld restartCount)
  since=$(now_ms)
  "$BED" fault kill "$CONTROLLER/slurmctld"
  wait_for "slurmctld back" container_is_back slurmctld "$restarts"
  wait_for "slurmctld up" controller_ready
  slurm scancel "$(submit --hold --wrap true)"
  took_at_most "killed slurmctld: takes a job" 60 "$since"
  ends_well "$job" compute-0 "$(slurm_version)"
}

# ---- within a release of Slurm ----

test_a_rollback_within_one_slurm() {
  local before job uid held
  begin_release
  copy_chart 9.9.9
  before=$(revision)
  held=$(submit --hold --wrap true)
  job=$(submit_waiting -N1 -w compute-0)
  wait_job "$job" RUNNING 90
  uid=$(pod_uid compute-0)
  begin_gap
  upgrade_to_copy --wait --timeout 180s
  wait_for 60 "the new chart's controller" has_annotation new
  end_gap 90
  assert_equal "the held job" PENDING "$(job_state "$held")"
  begin_gap
  rollback "$before" --wait --timeout 180s
  wait_for 60 "the former chart's controller" has_annotation ""
  end_gap 90
  assert_equal "the pod" "$uid" "$(pod_uid compute-0)"
  assert_equal "the held job" PENDING "$(job_state "$held")"
  ends_well "$job" compute-0 "$(slurm_version)"
  wait_for 60 "job $job in sacct" is_in_sacct "$job" "COMPLETED|0:0"
}

# An image that cannot be pulled: no pod is Ready, and the rollback must not wait for one.
controller_waits() {
  kubectl get pod "$CONTROLLER" -o jsonpath='{.status.*.*.state.waiting.reason}' | grep -q Pull
}
test_a_failed_upgrade_is_rolled_back() {
  local before job uid
  begin_release
  before=$(revision)
  job=$(submit_waiting -N1 -w compute-0)
  wait_job "$job" RUNNING 90
  uid=$(pod_uid compute-0)
  "$BED" helm upgrade slurm "$CHART" -n "$NAMESPACE" --reuse-values --set images.tag=none >/dev/null
  wait_for 90 "an image that is not there" controller_waits
  rollback "$before"
  wait_for 120 "slurmctld up" controller_ready
  wait_for 120 "slurmdbd up" has_slurmdbd
  assert_equal "the pod" "$uid" "$(pod_uid compute-0)"
  wait_for "compute-0 undrained" node_is_undrained compute-0
  ends_well "$job" compute-0 "$(slurm_version)"
  wait_for 90 "job $job in sacct" is_in_sacct "$job" "COMPLETED|0:0"
}

# ---- from one Slurm to another ----

state_files() { # of StateSaveLocation, with their contents
  local folder
  folder=$(kubectl get pv "$(kubectl get pvc state-slurm-controller-0 -o jsonpath='{.spec.volumeName}')" \
    -o jsonpath='{.spec.local.path}')
  (cd "$folder" && sha256sum job_state node_state part_state resv_state trigger_state last_config_lite)
}
slurmctld_says() { kubectl logs "$CONTROLLER" -c slurmctld | grep -F "$1"; }
refuses_state() { slurmctld_says "written by Slurm $NEXT_VERSION, which is newer than the installed"; }
test_an_older_slurm_does_not_touch_the_state_of_a_newer_one() {
  local before archive job held late uid files
  needs_next_slurm
  begin_release
  before=$(revision)
  held=$(submit --hold --job-name=held --wrap true)
  wait_saved
  archive=$(backup create)
  job=$(submit_waiting -N1 -w compute-0)
  wait_job "$job" RUNNING 90
  uid=$(pod_uid compute-0)
  upgrade_slurm
  [[ $(slurm_version) == "$NEXT_VERSION".* ]] || fail "slurmctld is $(slurm_version)"
  late=$(submit --hold --wrap true)
  wait_saved
  # Back: nothing is lost, and it says what to do.
  rollback "$before"
  wait_for 120 "slurmctld's container refuses" refuses_state
  slurmctld_says "helm upgrade"
  files=$(state_files)
  # shellcheck disable=SC2317 # called by stays
  has_files() { [[ $(state_files) == "$files" ]]; }
  stays 15 has_files
  # Forward again: all is there.
  upgrade_slurm
  assert_equal "jobs" "PENDING PENDING" "$(job_state "$held") $(job_state "$late")"
  assert_equal "the pod" "$uid" "$(pod_uid compute-0)"
  ends_well "$job" compute-0 ""
  wait_for 90 "job $job in sacct" is_in_sacct "$job" "COMPLETED|0:0"
  # Back with the archive of the older Slurm.
  rollback "$before"
  wait_for 120 "slurmctld's container refuses" refuses_state
  backup restore --yes "$archive"
  wait_for 120 "slurmctld up" controller_ready
  wait_for 60 "the older images" has_older_images
  assert_equal "the held job" "PENDING JobHeldUser" "$(job_state "$held") $(job_field "$held" Reason)"
  slurm scontrol release "$held"
  wait_done "$held" 120
  wait_for 60 "job $held in sacct" is_in_sacct "$held" "COMPLETED|0:0"
}
has_older_images() { [[ $(image_of "$CONTROLLER") == *":$IMAGE_TAG" ]]; }

test_slurm_is_upgraded_while_jobs_run() {
  local node running uid drained drained_uid booting held next after version since
  needs_next_slurm
  begin_release
  version=$(slurm_version)
  # compute-3 is idle with a pod. Drained are compute-4 with a job, compute-5 without a pod, compute-6 idle with a pod.
  slurm srun -N2 -w compute-3,compute-6 true
  drained_uid=$(pod_uid compute-6)
  drained=$(submit_waiting -N1 -w compute-4)
  wait_job "$drained" RUNNING 90
  slurm scontrol update 'nodename=compute-[4-6]' state=drain reason=disk
  running=$(submit_waiting -N1 -w compute-0)
  wait_job "$running" RUNNING 90
  uid=$(pod_uid compute-0)
  after=$(submit -N1 -w compute-2 --dependency="afterok:$running" --wrap "slurmd -V | grep -F '$NEXT_VERSION'")
  hold_pods
  booting=$(submit -N1 -w compute-1 --wrap 'srun true')
  held=$(submit --hold --wrap true)
  wait_for "job $booting has its node" is_job_in "$booting" CONFIGURING
  since=$(now_ms)
  begin_gap
  upgrade_slurm
  end_gap 180
  echo "# helm upgrade to the next Slurm: $(seconds_since "$since") s"
  [[ $(slurm_version) == "$NEXT_VERSION".* ]] || fail "slurmctld is $(slurm_version)"
  let_pods_start
  # What ran goes on, with its slurmd and commands of the older Slurm.
  assert_equal "the pod" "$uid" "$(pod_uid compute-0)"
  wait_for "compute-0 waits for its job" node_has_reason compute-0 "slurm-k8s: update of the template"
  # 26.05 reads node records of an older state without a SuspendTime: they are made again. So the next pod stays.
  wait_for 60 "SuspendTime of compute-7" has_suspend_time compute-7
  next=$(submit -N1 -w compute-7 --wrap "slurmd -V | grep -F '$NEXT_VERSION'")
  ((next > held)) || fail "job ids: $next after $held"
  wait_done "$next" 120
  stays 5 kubectl get pod compute-7 -o name >/dev/null
  # The engine has slurmctld ask them to register, in words that the older slurmd knows.
  wait_for 60 "registrations of recovered jobs" slurmctld_says "their nodes are asked to register"
  stays 5 older_slurmds_respond
  ends_well "$running" compute-0 "$version"
  wait_done "$booting" 120
  wait_done "$after" 120
  assert_equal "the held job" "PENDING JobHeldUser" "$(job_state "$held") $(job_field "$held" Reason)"
  # Nodes: an administrator's drains stay, an idle node has lost its pod.
  for node in compute-4 compute-5 compute-6; do
    node_has_state "$node" DRAIN && node_has_reason "$node" disk || fail "$node: $(node_state "$node")"
  done
  assert_equal "pod of an idle drained node" "$drained_uid" "$(pod_uid compute-6)"
  ends_well "$drained" compute-4 "$version"
  wait_for 60 "no older pod of an idle node" is_gone_or_new compute-3 "$NEXT_TAG"
  assert_equal "nodes" 'compute-[0-7]' "$(node_names)"
  wait_for "NodeSet ready" nodeset_is_ready
  slurm scontrol update 'nodename=compute-[4-6]' state=undrain
  # slurmdbd and its database: nothing is missing or twice.
  wait_for 90 "all jobs in sacct" are_in_sacct_once "$running" "$drained" "$booting" "$next" "$after"
  assert_equal "slurmdbd" "$(image_of slurm-accounting-0)" "localhost/slurm-k8s/slurmdbd:$NEXT_TAG"
  slurm scancel "$held"
}
older_slurmds_respond() { [[ $(node_state compute-0)$(node_state compute-4) != *NOT_RESPONDING* ]]; }
has_suspend_time() { # NODE; before 26.05 nodes have none of their own
  ! slurm scontrol show node "$1" -o | grep -q '\bSuspendTime=0\b'
}
nodeset_is_ready() { [[ $(nodeset_condition compute status) == True ]]; }

# ---- uninstall ----

is_namespace_gone() { ! "$BED" kubectl get namespace "$NAMESPACE" >/dev/null 2>&1; }
# The last one: its namespace is deleted and made again.
test_uninstall_leaves_no_finalizer() {
  local job kept others
  begin_release
  others=$(secrets_of_others)
  kept=$(kept_by_notes)
  job=$(submit -N1 -w compute-0 --wrap 'sleep 600')
  wait_job "$job" RUNNING 90
  kubectl apply -f - >/dev/null <<END_OF_NODESET
{"apiVersion": "slurm-k8s.io/v1alpha1", "kind": "NodeSet", "metadata": {"name": "mine", "namespace": "$NAMESPACE"},
 "spec": {"replicas": 1, "slurmd": {"image": "localhost/slurm-k8s/slurmd:$IMAGE_TAG",
   "resources": {"requests": {"cpu": "25m"}, "limits": {"cpu": 1, "memory": "256Mi"}}}, "volumeClaimTemplates": [
   {"metadata": {"name": "scratch"}, "spec": {"accessModes": ["ReadWriteOnce"],
    "resources": {"requests": {"storage": "1Mi"}}}}]}}
END_OF_NODESET
  wait_for "its node record" has_node_count 9
  slurm srun -N1 -w mine-0 true
  "$BED" helm uninstall slurm -n "$NAMESPACE" --wait --timeout 180s
  wait_for 60 "no pods of the chart's NodeSets" has_only_pods mine-0
  assert_equal "finalizers" "" "$(kubectl get nodesets.slurm-k8s.io,pods,poddisruptionbudgets \
    -o jsonpath='{.items[*].metadata.finalizers}')"
  # Nobody but Kubernetes is left: a NodeSet that is not the chart's goes with its pods.
  kubectl delete nodesets.slurm-k8s.io mine --timeout=60s
  wait_for 60 "no pods of nodes" has_pod_count 0
  # What the release's notes said is kept, and nothing else.
  assert_equal "what is kept" "$kept" "$(kept_objects "$others")"
  "$BED" kubectl delete namespace "$NAMESPACE" --timeout=120s
  wait_for "no namespace" is_namespace_gone
  "$BED" kubectl create namespace "$NAMESPACE" >/dev/null
}
has_only_pods() { [[ $(pods) == "$1" ]]; }
