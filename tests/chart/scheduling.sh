# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# slurm.conf: scheduling and memory per CPU.

check "memory per CPU: RealMemory/CPUs of the NodeSet" has slurm.conf "DefMemPerCPU=480"
check "memory per CPU: whole nodes" lacks 'DefMemPer' --set slurm.defMemPerCPU=0
check "memory per CPU: a number" has slurm.conf "DefMemPerCPU=1000" --set slurm.defMemPerCPU=1000
check "memory per CPU: invalid value" refused "/slurm/defMemPerCPU" --set slurm.defMemPerCPU=much
check "memory per CPU: not without memory as a consumable resource" lacks 'DefMemPer' \
  --set slurm.selectTypeParameters=CR_Core
check "memory per CPU: overridden by extraConfMap" lacks 'DefMemPerCPU' --set controller.extraConfMap.DefMemPerNode=100
two=(--set-json 'nodesets.big={"slurmd":{"resources":{"limits":{"cpu":"4500m","memory":"8Gi"}}}}')
two+=(--set-json 'partitions.big={"nodesets":["big"],"config":"MaxTime=5"}')
check "memory per CPU: the lowest of all NodeSets" has slurm.conf "DefMemPerCPU=480" "${two[@]}"
check "memory per CPU: of a partition" has slurm.conf "PartitionName=big Nodes=big MaxTime=5 DefMemPerCPU=2032" \
  "${two[@]}"
check "memory per CPU: a partition's own" has slurm.conf "PartitionName=big Nodes=big DefMemPerNode=5" "${two[@]}" \
  --set partitions.big.config=DefMemPerNode=5
check "memory per CPU: numbers and decimal units" has slurm.conf "DefMemPerCPU=889" \
  --set-json 'nodesets.compute.slurmd.resources.limits={"cpu":1,"memory":1000000000}'
check "backfill" has slurm.conf \
  "SchedulerParameters=batch_sched_delay=0,sbatch_wait_nodes,bf_interval=30,nohold_on_prolog_fail" \
  --set slurm.backfillInterval=30
check "backfill: overridden by schedulerParameters" has slurm.conf \
  "SchedulerParameters=batch_sched_delay=0,sbatch_wait_nodes,nohold_on_prolog_fail,bf_interval=60" \
  --set 'slurm.schedulerParameters={bf_interval=60}'
check "GPUs: GresTypes" has slurm.conf "GresTypes=gpu"
check "GPUs: further GresTypes" has slurm.conf "GresTypes=gpu,fpga" --set 'slurm.gresTypes={gpu,fpga}'
check "GPUs: overridden by extraConfMap" has slurm.conf "GresTypes=foo" --set controller.extraConfMap.GresTypes=foo
check "GPUs: overridden, once" lacks 'GresTypes=gpu' --set controller.extraConfMap.GresTypes=foo
check "GPUs: no GresTypes" lacks 'GresTypes' --set 'slurm.gresTypes=null'
check "GPUs: gres.conf of nodes" has gres.conf "Include /run/slurm-k8s/gres.conf"
check "GPUs: gres.conf beside an administrator's" has gres.conf "NodeName=x Name=foo File=/dev/null" \
  --set-string 'configFiles.gres\.conf=NodeName=x Name=foo File=/dev/null'
check "GPUs: the sidecar writes it beside slurmctld's state" shows controller/statefulset \
  '^            - /var/spool/slurmctld/gres.conf$'
