# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# slurm.conf: NodeSets and partitions.

check "default NodeSet" has slurm.conf "NodeSet=compute Feature=compute"
check "default partition" has slurm.conf "PartitionName=main Nodes=ALL State=UP Default=YES MaxTime=UNLIMITED"
check "partition of a NodeSet" has slurm.conf "PartitionName=big Nodes=big MaxTime=1-0" \
  --values "$TOP/examples/values.yaml"
check "partition with two NodeSets" has slurm.conf \
  "PartitionName=main Nodes=compute,big State=UP Default=YES MaxTime=UNLIMITED" \
  --values "$TOP/examples/values.yaml"
runtime=(--values "$TOP/examples/values.yaml" --set slurm.runtimePartitions=true)
check "partitions at run time: kept" has slurm.conf "ReconfigFlags=KeepPartInfo" "${runtime[@]}"
check "partitions at run time: not in slurm.conf" lacks 'PartitionName=big' "${runtime[@]}"
check "partitions at run time: of the NodeSet" shows nodesets/nodesets \
  '^  partition: \{enabled: true, config: "MaxTime=1-0"\}$' "${runtime[@]}"
check "no partitions at run time by default" lacks 'KeepPartInfo|^  partition:' --values "$TOP/examples/values.yaml"
check "Slurm 22.05: no partitions at run time" refused "slurm.runtimePartitions: needs Slurm 24.05" \
  --set slurmVersion=22.05,slurm.runtimePartitions=true
