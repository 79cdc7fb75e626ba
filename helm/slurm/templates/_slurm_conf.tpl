{{/* SPDX-License-Identifier: GPL-2.0-or-later */}}
{{/*
slurm.isBefore (list CONTEXT VERSION): "true" when slurmVersion is an earlier one. Such texts compare like their dates.
*/}}
{{- define "slurm.isBefore" -}}
{{- lt (index . 0).Values.slurmVersion (index . 1) -}}
{{- end -}}

{{/*
slurm.slurmctldParameters: as YAML.
*/}}
{{- define "slurm.slurmctldParameters" -}}
{{- $parameters := list "enable_configless" "idle_on_node_suspend" "power_save_interval=0" "power_save_min_interval=0" -}}
{{- /* Later ones take the address of a registration without being told, and call the word defunct. */ -}}
{{- if eq (include "slurm.isBefore" (list . "23.11")) "true" }}{{ $parameters = append $parameters "cloud_reg_addrs" }}{{ end -}}
{{- toYaml (concat $parameters .Values.slurm.slurmctldParameters) -}}
{{- end -}}

{{/*
slurm.conf. Slurm takes the last of two lines with the same key: what extraConf says wins.
*/}}
{{- define "slurm.conf" -}}
{{- $controller := include "slurm.controller" . -}}
{{- $hosts := include "slurm.controllerHosts" . | fromYamlArray -}}
# Made by the Helm chart: change the chart's values, not this file.
ClusterName={{ default .Release.Name .Values.clusterName }}
{{- if eq (len $hosts) 1 }}
SlurmctldHost={{ first $hosts }}({{ $controller }})
{{- else }}
{{- range $hosts }}
SlurmctldHost={{ . }}
{{- end }}
SlurmctldTimeout={{ int .Values.slurm.slurmctldTimeout }}
{{- end }}
SlurmctldPort=6817
SlurmdPort=6818
SlurmUser=slurm
SlurmdUser=root
{{- if eq (include "slurm.isBefore" (list . "23.11")) "true" }}
AuthType=auth/munge
CredType=cred/munge
{{- else }}
AuthType=auth/slurm
CredType=cred/slurm
{{- end }}
AuthInfo=cred_expire={{ int .Values.slurm.requeueDelay }}
{{- if eq (include "slurm.isBefore" (list . "23.02")) "true" }}
# Else nobody sees nodes that are powered down: not even the sidecar.
PrivateData=cloud
{{- end }}
StateSaveLocation=/var/spool/slurmctld
SlurmdSpoolDir=/var/spool/slurmd
SlurmctldPidFile=/run/slurmctld.pid
SlurmdPidFile=/run/slurmd.pid
MailProg=/bin/true
# Root in a node's pod can read Slurm's key, with which one is root in the whole cluster.
DisableRootJobs=YES

# Logs go to the containers' standard error.
LogTimeFormat=iso8601_ms,format_stderr
SlurmctldDebug={{ .Values.slurm.slurmctldDebug }}
SlurmdDebug={{ .Values.slurm.slurmdDebug }}
{{- with .Values.slurm.debugFlags }}
DebugFlags={{ join "," . }}
{{- end }}

# Scheduling
SelectType=select/cons_tres
SelectTypeParameters={{ .Values.slurm.selectTypeParameters }}
SchedulerType=sched/backfill
{{- $scripts := include "slurm.spankScripts" . }}
{{- /* Otherwise a job whose set-up failed on one node would be held, and not tried on another. */}}
{{- $afterProlog := ternary (list "nohold_on_prolog_fail") list (ne $scripts "") }}
SchedulerParameters={{ join "," (concat (list "batch_sched_delay=0" "sbatch_wait_nodes") $afterProlog .Values.slurm.schedulerParameters) }}
JobRequeue=1
ReturnToService=2
MaxNodeCount={{ int .Values.slurm.maxNodeCount }}
TreeWidth={{ int .Values.slurm.treeWidth }}

# Inside a pod without privileges: no control groups.
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault={{ .Values.slurm.mpiDefault }}

# Nodes are pods, made and removed by the engine in slurmctld.
SlurmctldParameters={{ include "slurm.slurmctldParameters" . | fromYamlArray | join "," }}
ResumeProgram=/usr/libexec/slurm-k8s/slurm-k8s-resume
ResumeFailProgram=/usr/libexec/slurm-k8s/slurm-k8s-resume-fail
SuspendProgram=/usr/libexec/slurm-k8s/slurm-k8s-suspend
ResumeRate=0
SuspendRate=0
ResumeTimeout={{ int .Values.slurm.resumeTimeout }}
SuspendTimeout={{ int .Values.slurm.suspendTimeout }}
{{- /* Slurm's own -1 switches power saving off as a whole: no node would be resumed. */}}
SuspendTime={{ ternary 2147483647 (int .Values.slurm.suspendTime) (lt (int .Values.slurm.suspendTime) 0) }}
{{- $always := list }}
{{- range $name, $nodeset := include "slurm.nodesets" . | fromYaml }}
{{- if has $nodeset.scalingMode (list "Always" "DaemonSet") }}{{ $always = append $always $name }}{{ end }}
{{- end }}
{{- /* Before 24.05 Slurm takes no names of NodeSets here; from 23.02 on the sidecar exempts nodes one by one. */}}
{{- if and $always (eq (include "slurm.isBefore" (list . "24.05")) "false") }}
# The nodes of NodeSets with scalingMode Always or DaemonSet stay up when they are idle.
SuspendExcNodes={{ join "," $always }}
{{- end }}
{{- if .Values.slurm.runtimePartitions }}
{{- if eq (include "slurm.isBefore" (list . "24.05")) "true" }}
{{- fail "slurm.runtimePartitions: needs Slurm 24.05, which keeps such partitions over a restart" }}
{{- end }}
# Partitions of NodeSets are made at run time: without this they go at a restart, and their jobs with them.
ReconfigFlags=KeepPartInfo
{{- end }}
{{- if $scripts }}
# prep/script runs the scripts of the SPANK plugin; a launch waits for them.
PrEpPlugins=prep/k8s,prep/script
BatchStartTimeout={{ add 10 (mul 2 (int .Values.slurm.spank.scripts.timeout)) }}
{{- else }}
PrEpPlugins=prep/k8s
{{- end }}
{{- /* Before 23.02 slurmctld doesn't keep track of which variant a node runs. */}}
{{- $variants := and .Values.slurm.nodeFeatures.enabled (eq (include "slurm.isBefore" (list . "23.02")) "false") }}
{{- if $variants }}
NodeFeaturesPlugins=node_features/k8s
{{- end }}
{{- with concat (ternary (list "k8s") list $variants) .Values.slurm.jobSubmitPlugins }}
JobSubmitPlugins={{ join "," . }}
{{- end }}

# Every node has the name of its NodeSet as a feature.
{{- range $name, $nodeset := include "slurm.nodesets" . | fromYaml }}
NodeSet={{ $name }} Feature={{ $name }}
{{- if and $nodeset.partition.enabled (not $.Values.slurm.runtimePartitions) }}
PartitionName={{ $name }} Nodes={{ $name }} {{ $nodeset.partition.config }}
{{- end }}
{{- end }}
{{- range $name, $partition := .Values.partitions }}
{{- if dig "enabled" true $partition }}
PartitionName={{ $name }} Nodes={{ dig "nodesets" (list "ALL") $partition | join "," }} {{ $partition.config }}
{{- end }}
{{- end }}
{{- range $key, $value := .Values.controller.extraConfMap }}
{{ $key }}={{ if kindIs "slice" $value }}{{ join "," $value }}{{ else }}{{ $value }}{{ end }}
{{- end }}
{{- with .Values.controller.extraConf }}
{{ . }}
{{- end }}
{{- end -}}

{{/*
The other files of /etc/slurm; configFiles may replace them.
*/}}
{{- define "slurm.defaultFiles" -}}
cgroup.conf: |
  {{- if eq (include "slurm.isBefore" (list . "24.05")) "true" }}
  # slurmd wants to load one, and this one does nothing before somebody uses it.
  CgroupPlugin=cgroup/v1
  {{- else }}
  CgroupPlugin=disabled
  {{- end }}
plugstack.conf: {{ include "slurm.plugstack" . | quote }}
{{- end -}}

{{/*
slurm.spankArguments MAP: " NAME=value" of each that has a value, in order of names.
*/}}
{{- define "slurm.spankArguments" -}}
{{- range $name, $value := . }}{{ if $value }} {{ $name }}={{ $value }}{{ end }}{{ end -}}
{{- end -}}

{{- define "slurm.spankScripts" -}}
{{- with .Values.slurm.spank }}
{{- if .enabled }}
{{- with .scripts }}
{{- include "slurm.spankArguments" (dict "pod_setup" .podSetup "pod_cleanup" .podCleanup "job_setup" .jobSetup "job_cleanup" .jobCleanup) }}
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{/*
Slurm ignores what an optional plugin says: one that may refuse a task or a job is required.
*/}}
{{- define "slurm.plugstack" -}}
{{- with .Values.slurm.spank }}
{{- if .enabled }}
{{- $arguments := dict "hide" (join "," .hide) }}
{{- if ne .serviceEnv "remove" }}{{ $_ := set $arguments "service_env" .serviceEnv }}{{ end }}
{{- if ne (toString .threads) "off" }}{{ $_ := set $arguments "threads" .threads }}{{ end }}
{{- if ne .gpus "off" }}{{ $_ := set $arguments "gpus" .gpus }}{{ end }}
{{- if .oomScoreAdj }}{{ $_ := set $arguments "oom_score_adj" (int .oomScoreAdj) }}{{ end }}
{{- ternary "required" "optional" (gt (len .hide) 0) }} spank_k8s.so{{ include "slurm.spankArguments" $arguments }}
{{- with include "slurm.spankScripts" $ }}
required spank_k8s_scripts.so{{ . }} timeout={{ int $.Values.slurm.spank.scripts.timeout }}
{{- end }}
{{- end }}
{{- with .extraConf }}
{{ . }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "slurm.k8sConf" -}}
# Read by the engine in slurmctld, the power-saving programs and the sidecar.
Namespace={{ .Release.Namespace }}
NodeService={{ include "slurm.nodeService" . }}
{{- $hosts := include "slurm.controllerHosts" . | fromYamlArray }}
ConfServer={{ eq (len $hosts) 1 | ternary (include "slurm.controller" .) (join ":6817," $hosts) }}:6817
KeySecret={{ include "slurm.keySecret" . }}
MaxRequests={{ int .Values.slurm.maxRequests }}
WatchKubernetesNodes={{ ternary "yes" "no" .Values.watchKubernetesNodes }}
WakePowerSave={{ ternary "yes" "no" .Values.slurm.wakePowerSave }}
LaunchTimeout={{ int .Values.slurm.launchTimeout }}
SidecarListen=:9100
LogLevel={{ .Values.slurm.logLevel }}
{{- end -}}
