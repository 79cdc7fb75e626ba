# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# slurm.conf: power saving.

check "SuspendTime" has slurm.conf "SuspendTime=300"
check "suspendTime -1 keeps pods and leaves power saving on" has slurm.conf "SuspendTime=2147483647" \
  --set slurm.suspendTime=-1
check "suspendTime 0" has slurm.conf "SuspendTime=0" --set slurm.suspendTime=0
check "no SuspendExcNodes by default" lacks "SuspendExcNodes"
check "NodeSets of other scalingModes than OnDemand stay up" has slurm.conf "SuspendExcNodes=compute,ex,warm" \
  --set nodesets.compute.scalingMode=Always,nodesets.warm.scalingMode=DaemonSet,nodesets.ex.scalingMode=External \
  --set nodesets.other.replicas=1
check "Slurm 22.05: no NodeSets in SuspendExcNodes" lacks SuspendExcNodes \
  --set slurmVersion=22.05,nodesets.compute.scalingMode=Always
