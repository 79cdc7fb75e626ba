# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The partition of a NodeSet: made, changed and removed while slurmctld runs, and kept over its restart.

partition_field() { slurm scontrol show partition "$1" -o | grep -oE "\b$2=[^ ]*" | head -1 | cut -d= -f2-; }
has_field() { [[ $(partition_field "$1" "$2") == "$3" ]]; }
has_no_partition() { ! slurm scontrol show partition "$1" >/dev/null 2>&1 && controller_ready; }
partition_condition() { # FIELD
  kubectl get nodesets.slurm-k8s.io part -o jsonpath="{.status.conditions[?(@.type=='PartitionReady')].$1}"
}
has_reason() { [[ $(partition_condition reason) == "$1" ]]; }

put_part() { # PARTITION: in JSON
  local image
  image=$(kubectl get nodesets.slurm-k8s.io compute -o jsonpath='{.spec.slurmd.image}')
  kubectl apply --filename=- >/dev/null <<JSON
{"apiVersion":"slurm-k8s.io/v1alpha1","kind":"NodeSet","metadata":{"name":"part"},"spec":{"replicas":2,"slurmd":{
 "image":"$image","resources":{"requests":{"cpu":"50m","memory":"64Mi"},"limits":{"cpu":"1","memory":"256Mi"}}},
 "partition":$1}}
JSON
}
remove_part() {
  slurm scancel --me >/dev/null 2>&1 || true
  kubectl delete nodesets.slurm-k8s.io part --ignore-not-found >/dev/null
  slurm scontrol delete partition=part >/dev/null 2>&1 || true
  wait_for 60 "8 node records" has_node_count 8
}

test_a_slurmctld_that_would_forget_it_gets_none() {
  local cause=ReconfigFlags=KeepPartInfo
  trap remove_part EXIT
  if is_slurm_before 24.05; then cause="before 24.05"; fi
  put_part '{"enabled":true,"config":"MaxTime=1:00:00"}'
  wait_for "reason NotKept" has_reason NotKept
  [[ $(partition_condition message) == *"$cause"* ]] || fail "$(partition_condition message)"
  has_no_partition part || fail "there is a partition"
}

test_made_changed_kept_and_removed() {
  local job
  needs_slurm 24.05
  trap 'remove_part; install_release' EXIT
  install_release --set slurm.runtimePartitions=true
  put_part '{"enabled":true,"config":"MaxTime=1:00:00 PriorityTier=7"}'
  wait_for "partition part" has_field part Nodes 'part-[0-1]'
  wait_for "reason PartitionMatches" has_reason PartitionMatches
  assert_equal MaxTime 01:00:00 "$(partition_field part MaxTime)"
  assert_equal PriorityTier 7 "$(partition_field part PriorityTier)"

  put_part '{"enabled":true,"config":"MaxTime=2:00:00"}'
  wait_for "MaxTime of two hours" has_field part MaxTime 02:00:00
  assert_equal "PriorityTier is no longer given" 1 "$(partition_field part PriorityTier)"
  kubectl scale nodesets.slurm-k8s.io/part --replicas=3 >/dev/null
  wait_for "three nodes" has_field part Nodes 'part-[0-2]'

  # A job in it lives through a reconfiguration and a restart of slurmctld.
  job=$(submit -p part -N1 --wrap "$(runs_until restarted)")
  wait_job "$job" RUNNING 60
  slurm scontrol reconfigure
  wait_for "slurmctld up" controller_ready
  assert_equal "Nodes after a reconfiguration" 'part-[0-2]' "$(partition_field part Nodes)"
  wait_saved
  "$BED" fault kill slurm-controller-0/slurmctld
  wait_for 60 "slurmctld up again" controller_ready
  assert_equal "MaxTime after a restart" 02:00:00 "$(partition_field part MaxTime)"
  assert_equal "Nodes after a restart" 'part-[0-2]' "$(partition_field part Nodes)"
  end_run "$(job_nodes "$job")" restarted
  wait_done "$job" 90
  assert_equal "restarts" 0 "$(job_field "$job" Restarts)"

  # Lost or changed: healed.
  slurm scontrol update partition=part MaxTime=5
  wait_for "MaxTime of two hours again" has_field part MaxTime 02:00:00
  slurm scontrol delete partition=part
  wait_for "the partition again" has_field part MaxTime 02:00:00

  # It goes when its job is over.
  job=$(submit -p part -N1 --wrap "$(runs_until last)")
  wait_job "$job" RUNNING 60
  put_part '{"enabled":false}'
  wait_for "State DRAIN" has_field part State DRAIN
  if slurm sbatch -p part --wrap true >/dev/null 2>&1; then fail "it takes a further job"; fi
  end_run "$(job_nodes "$job")" last
  wait_done "$job" 60
  wait_for 90 "no partition part" has_no_partition part
  wait_for "reason Disabled" has_reason Disabled
}

test_partitions_of_others_and_bad_configs() {
  needs_slurm 24.05
  trap 'remove_part; install_release' EXIT
  install_release --set slurm.runtimePartitions=true
  slurm scontrol create partition=part Nodes=compute-0 MaxTime=7
  put_part '{"enabled":true,"config":"MaxTime=1:00:00"}'
  wait_for "reason NameTaken" has_reason NameTaken
  slurm scontrol delete partition=part
  wait_for "partition part" has_field part MaxTime 01:00:00
  put_part '{"enabled":true,"config":"MaxTime=soon"}'  # the schema doesn't know what a time is
  wait_for "Ready says what is wrong" part_is_invalid
  assert_equal "MaxTime" 01:00:00 "$(partition_field part MaxTime)"
  put_part '{"enabled":true,"config":"MaxTime=1:00:00"}'
  kubectl delete nodesets.slurm-k8s.io part >/dev/null
  wait_for 60 "no partition part" has_no_partition part
}
part_is_invalid() {
  [[ $(nodeset_condition part message) == *"spec.partition.config: Invalid value: "*": must be a time such as"* ]]
}
