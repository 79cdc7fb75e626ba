# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A changed configuration: taken by slurmctld and slurmd while a job runs, or refused with its line.
#
# Release: config

# shellcheck source=tests/e2e/config.sh
source "$E2E_FOLDER/config.sh"

metric_is() { # SERIES PATTERN
  kubectl get --raw "/api/v1/namespaces/$NAMESPACE/pods/$CONTROLLER:9100/proxy/metrics" |
    sed -n "s/^$1 //p" | grep -qxE "$2"
}
node_has_setting() { kubectl exec "$1" -- grep -qx "$2" /run/slurm/conf/slurm.conf; } # POD LINE

test_a_change_is_taken_while_a_job_runs() {
  needs_slurm 23.11
  local job starts
  upgrade >/dev/null || fail "helm upgrade"
  wait_for 60 "the first configuration" config_is Applied ""
  starts=$(controller_starts)
  job=$(submit -w compute-0 --wrap 'sleep 300')
  wait_job "$job" RUNNING 60
  upgrade --set controller.extraConfMap.MaxJobCount=12345 --set 'partitions.main.config=Default=YES MaxTime=77' \
    >/dev/null || fail "helm upgrade"
  # helm has waited for slurmctld.
  assert_equal "MaxJobCount" 12345 "$(setting MaxJobCount)"
  assert_equal "MaxTime" 1:17:00 "$(slurm sinfo -h -p main -o %l | sort -u)"
  wait_for 60 "slurmd has the file" node_has_setting compute-0 MaxJobCount=12345
  assert_equal "job" RUNNING "$(job_state "$job")"
  assert_equal "the job's pods and starts" 0 "$(job_field "$job" Restarts)"
  assert_equal "the controller's pod and its restarts" "$starts" "$(controller_starts)"
  slurm scancel "$job"
  metric_is slurm_k8s_sidecar_config_applied 1 || fail "the metric of an applied configuration"
  metric_is 'slurm_k8s_sidecar_config_answers_total{reason="Applied"}' '[1-9][0-9]*' || fail "the metric of answers"
}

test_a_broken_file_is_refused() {
  needs_slurm 23.11
  local text words='slurm.conf line [0-9]+: "MaxJobCont=7": Parsing error at unrecognized key: MaxJobCont'
  text=$(upgrade --set controller.extraConf='MaxJobCont=7') && fail "helm accepts it: $text"
  # Helm prints the log of a failed hook from 3.18 on.
  [[ $text =~ $words ]] || fail "helm's answer has no line or words: $text"
  assert_equal "condition" Refused "$(config_condition reason)"
  [[ $(config_condition message) =~ $words ]] || fail "the condition: $(config_condition message)"
  wait_for "the event" has_refusal "$words"
  text=$(upgrade --set controller.extraConf='MaxJobCont=7') && fail "helm accepts it when it is repeated: $text"
  slurm grep -q MaxJobCont /etc/slurm/slurm.conf && fail "the broken file is in /etc/slurm"
  # The next pod starts with the last good files.
  kubectl delete pod "$CONTROLLER" >/dev/null
  wait_for 120 "slurmctld up" controller_ready
  wait_for 60 "refused again" config_is Refused MaxJobCont
  upgrade --set controller.extraConf='MaxJobCount=23456' >/dev/null || fail "helm refuses the corrected file"
  assert_equal "MaxJobCount" 23456 "$(setting MaxJobCount)"
}

# slurmctld takes such a line, and the first job drains its node.
test_a_script_that_is_not_there_is_refused() {
  needs_slurm 23.11
  local text words='slurm.conf line [0-9]+: "Prolog=prlog.sh": prlog.sh: no such file'
  text=$(upgrade --set controller.extraConf='Prolog=prlog.sh' --set 'configFiles.prolog\.sh=#!/bin/true') &&
    fail "helm accepts it: $text"
  [[ $text =~ $words ]] || fail "helm's answer: $text"
  upgrade --set controller.extraConf='Prolog=prolog.sh' --set 'configFiles.prolog\.sh=#!/bin/true' >/dev/null ||
    fail "helm refuses the script that is there"
  slurm srun -w compute-0 true || fail "no job runs"
  upgrade >/dev/null || fail "helm upgrade with the former values"
}

# There is no last good set: what slurmctld ran with is taken even if a trial refuses it.
test_files_from_before_there_were_trials() {
  needs_slurm 23.11
  local broken=(--set 'configFiles.plugstack\.conf=perhaps nothing.so')
  upgrade --set controller.configPush.enabled=false "${broken[@]}" >/dev/null || fail "helm upgrade without trials"
  slurm rm -r /var/spool/slurmctld/slurm-k8s-config || fail "a good set that this release never had"
  upgrade "${broken[@]}" >/dev/null || fail "helm upgrade"
  wait_for 120 "slurmctld up" controller_ready
  kubectl logs "$CONTROLLER" -c config-start | grep -q 'perhaps.*no previous configuration' ||
    fail "config-start: $(kubectl logs "$CONTROLLER" -c config-start)"
  upgrade >/dev/null || fail "helm upgrade with all right files"
  wait_for 60 "applied" config_is Applied ""
  slurm srun -w compute-0 true || fail "no job runs"
}

# The trial does not load it. slurmctld would end.
test_a_plugin_that_is_not_there_is_refused() {
  needs_slurm 23.11
  local text words='slurm.conf line [0-9]+: JobCompType=jobcomp/typo: no plugin jobcomp_typo.so in /'
  text=$(upgrade --set controller.extraConfMap.JobCompType=jobcomp/typo) && fail "helm accepts it: $text"
  [[ $text =~ $words ]] || fail "helm's answer: $text"
  wait_for "the event" has_refusal "$words"
  upgrade --set controller.extraConfMap.JobCompType=jobcomp/filetxt \
    --set controller.extraConfMap.JobCompLoc=/var/spool/slurmctld/jobs >/dev/null ||
    fail "helm refuses the plugin that is there"
  slurm srun -w compute-0 true || fail "no job runs"
  upgrade >/dev/null || fail "helm upgrade with the former values"
}

# slurmctld ends the jobs of a partition that is gone when it reconfigures, and when it starts.
test_a_partition_with_jobs_is_not_removed() {
  needs_slurm 23.11
  local running pending text words='partition old is removed and has 2 jobs.*scancel --partition=old'
  local with_old=(--set 'partitions.old.config=MaxTime=60')
  trap 'slurm scancel --partition=old; upgrade >/dev/null' EXIT
  upgrade "${with_old[@]}" >/dev/null || fail "helm upgrade"
  running=$(submit -p old -w compute-0 --wrap 'sleep 600')
  pending=$(submit -p old --hold --wrap true)
  wait_job "$running" RUNNING 60
  text=$(upgrade) && fail "helm accepts it: $text"
  [[ $text =~ $words ]] || fail "helm's answer: $text"
  assert_equal "condition" Refused "$(config_condition reason)"
  [[ $(config_condition message) =~ $words ]] || fail "the condition: $(config_condition message)"
  wait_for "the event" has_refusal "$words"
  jobs_are_there() { [[ "$(job_state "$running") $(job_state "$pending")" == "RUNNING PENDING" ]]; }
  stays 15 jobs_are_there
  # A pod that starts asks no slurmctld, and takes what else has changed.
  upgrade --no-hooks --wait=false --set controller.extraConf='MaxJobCount=34567' >/dev/null || fail "helm upgrade"
  kubectl delete pod "$CONTROLLER" >/dev/null
  wait_for 120 "slurmctld up" controller_ready
  wait_for 60 "refused again" config_is Refused "partition old is removed"
  assert_equal "MaxJobCount" 34567 "$(setting MaxJobCount)"
  jobs_are_there || fail "jobs after the start of the pod: $(job_state "$running") $(job_state "$pending")"
  slurm scancel "$running" "$pending"
  wait_for 60 "applied when they have ended" config_is Applied ""
  slurm scontrol show partition old && fail "the partition is there"
  true
}

# slurmctld alone finds that it cannot open the file.
test_slurmctld_does_not_start() {
  needs_slurm 23.11
  local uid
  upgrade --no-hooks --wait=false --set controller.extraConfMap.JobCompType=jobcomp/filetxt \
    --set controller.extraConfMap.JobCompLoc=/no/such/file >/dev/null || fail "upgrade"
  kubectl delete pod "$CONTROLLER" --grace-period=1 >/dev/null
  ended_twice() { [[ $(container_field slurmctld restartCount) -ge 2 ]]; }
  wait_for 120 "slurmctld ends again and again" ended_twice
  uid=$(pod_uid "$CONTROLLER")
  upgrade >/dev/null || fail "helm upgrade with the former values"
  assert_equal "condition" Applied "$(config_condition reason)"
  assert_equal "the controller's pod" "$uid" "$(pod_uid "$CONTROLLER")"
  slurm srun -w compute-0 true || fail "no job runs"
}

boot_time() { slurm scontrol show config | sed -n 's/^BOOT_TIME *= //p'; }
has_boot_time() { [[ $(boot_time) == "$1" ]]; }

# One file has the script, the other another encoding and line ends: it stays as it is, and is installed once.
test_a_secret_with_a_script() {
  needs_slurm 23.11
  local notes=$WORK/notes-$WORKER booted
  printf 'Gr\xfc\xdfe\r\n' >"$notes"
  kubectl create secret generic site-files --from-file=notes="$notes" \
    --from-literal=prolog.sh=$'#!/bin/sh\ntouch /tmp/prolog-ran\n' >/dev/null
  upgrade --set 'configFilesFrom[0].secret=site-files' --set controller.extraConf=Prolog=prolog.sh >/dev/null ||
    fail "helm upgrade"
  wait_for 60 "slurmctld up" controller_ready
  slurm srun -w compute-0 test -e /tmp/prolog-ran || fail "the prolog has not run"
  slurm cat /etc/slurm/notes | cmp - "$notes" || fail "the other file has changed"
  booted=$(boot_time)
  assert_equal "condition" Applied "$(config_condition reason)"
  stays 10 has_boot_time "$booted"
  kubectl delete secret site-files >/dev/null
}
