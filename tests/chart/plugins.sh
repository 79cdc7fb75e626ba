# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# slurm.conf: the plugins of this project.

check "PrEpPlugins" has slurm.conf "PrEpPlugins=prep/k8s"
check "node_features/k8s can be disabled" lacks '^    NodeFeaturesPlugins=' --set slurm.nodeFeatures.enabled=false
check "JobSubmitPlugins" has slurm.conf "JobSubmitPlugins=k8s"
check "further JobSubmitPlugins" has slurm.conf "JobSubmitPlugins=k8s,lua" --set 'slurm.jobSubmitPlugins={lua}'
check "Slurm 22.05: no variants" lacks '^    (NodeFeatures|JobSubmit)Plugins=' --set slurmVersion=22.05
check "no login environment from slurmd" has slurm.conf "GetEnvTimeout=0"
check "no login environment from slurmd: 22.05" has slurm.conf "GetEnvTimeout=0" --set-string slurmVersion=22.05
check "no login environment from slurmd: 26.05" lacks 'GetEnvTimeout' --set-string slurmVersion=26.05
check "job_submit/k8s keeps the request from slurmd 26.05" has slurm.conf "JobSubmitPlugins=k8s" \
  --set-string slurmVersion=26.05 \
  --set slurm.nodeFeatures.enabled=false
for version in 22.05 24.11; do
  check "job_submit/k8s gives the bridge's jobs their users: $version" has slurm.conf "JobSubmitPlugins=k8s" \
    --set-string slurmVersion="$version" --set slurm.nodeFeatures.enabled=false --set bridge.enabled=true
done
check "neither variants nor a bridge: no job_submit/k8s" lacks '^    JobSubmitPlugins=' \
  --set-string slurmVersion=24.11 --set slurm.nodeFeatures.enabled=false
check "leftover processes are killed" lacks 'PrEpParameters'
check "leftover processes are kept" has slurm.conf "PrEpParameters=keep_leftovers" \
  --set slurm.spank.killLeftovers=false
check "device files of GPUs stay open" has slurm.conf "PrEpParameters=open_gpus" --set slurm.spank.protectGpus=false
check "leftover processes are kept, device files stay open" has slurm.conf "PrEpParameters=keep_leftovers,open_gpus" \
  --set slurm.spank.killLeftovers=false --set slurm.spank.protectGpus=false
check "Epilog of extraConf is run" has slurm.conf "PrEpPlugins=prep/k8s,prep/script" \
  --set controller.extraConf=Epilog=/usr/bin/false
check "Prolog of extraConfMap is run" has slurm.conf "PrEpPlugins=prep/k8s,prep/script" \
  --set controller.extraConfMap.PrologSlurmctld=/usr/bin/true
check "TaskProlog and PrologFlags need no prep/script" has slurm.conf "PrEpPlugins=prep/k8s" \
  --set controller.extraConfMap.TaskProlog=/x --set controller.extraConfMap.PrologFlags=Alloc
