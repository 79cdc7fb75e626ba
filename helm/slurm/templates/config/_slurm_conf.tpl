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
# Where srun and salloc listen: what the NetworkPolicies let through. Above the kernel's range for connections.
SrunPortRange={{ .Values.slurm.srunPortRange }}
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
{{- $memory := include "slurm.memoryPerCPU" (list . (list "ALL")) }}
{{- with $memory }}
DefMemPerCPU={{ . }}
{{- end }}
SchedulerType=sched/backfill
{{- $scripts := include "slurm.spankScripts" . }}
{{- /* Otherwise a job whose set-up failed on one node would be held, and not tried on another. */}}
{{- $afterProlog := ternary (list "nohold_on_prolog_fail") list (ne $scripts "") }}
{{- /* Slurm takes the first of two. */}}
{{- $given := contains "bf_interval=" (join "," .Values.slurm.schedulerParameters) }}
{{- $backfill := ternary list (list (printf "bf_interval=%d" (int .Values.slurm.backfillInterval))) $given }}
SchedulerParameters={{ join "," (concat (list "batch_sched_delay=0" "sbatch_wait_nodes") $backfill $afterProlog .Values.slurm.schedulerParameters) }}
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
{{- $own := printf "%v %v" .Values.controller.extraConfMap .Values.controller.extraConf }}
{{- if $scripts }}
# prep/script runs the scripts of the SPANK plugin; a launch waits for them.
PrEpPlugins=prep/k8s,prep/script
BatchStartTimeout={{ add 10 (mul 2 (int .Values.slurm.spank.scripts.timeout)) }}
{{- else if regexMatch "(?i)\\b(Pro|Epi)log(Slurmctld)?\\b *[=:]" $own }}
# prep/script runs Prolog and Epilog.
PrEpPlugins=prep/k8s,prep/script
{{- else }}
PrEpPlugins=prep/k8s
{{- end }}
{{- if not .Values.slurm.spank.killLeftovers }}
PrEpParameters=keep_leftovers
{{- end }}
{{- /* Before 23.02 slurmctld doesn't keep track of which variant a node runs. */}}
{{- $variants := and .Values.slurm.nodeFeatures.enabled (eq (include "slurm.isBefore" (list . "23.02")) "false") }}
{{- if $variants }}
NodeFeaturesPlugins=node_features/k8s
{{- end }}
{{- $defunct := eq (include "slurm.isBefore" (list . "25.05")) "false" }}
{{- if not $defunct }}
# slurmd may not make a user's login environment in a pod, and would end: the SPANK plugin does.
GetEnvTimeout=0
{{- end }}
{{- /* Where that setting is defunct, job_submit/k8s keeps the request for a login environment from slurmd. */}}
{{- with concat (ternary (list "k8s") list (or $variants $defunct)) .Values.slurm.jobSubmitPlugins }}
JobSubmitPlugins={{ join "," . }}
{{- end }}

# Every node has the name of its NodeSet as a feature.
{{- range $name, $nodeset := include "slurm.nodesets" . | fromYaml }}
NodeSet={{ $name }} Feature={{ $name }}
{{- if and $nodeset.partition.enabled (not $.Values.slurm.runtimePartitions) }}
PartitionName={{ $name }} Nodes={{ $name }} {{ $nodeset.partition.config }}
{{- include "slurm.partitionMemory" (list $ (list $name) $nodeset.partition.config $memory) }}
{{- end }}
{{- end }}
{{- range $name, $partition := .Values.partitions }}
{{- if dig "enabled" true $partition }}
{{- $nodesets := dig "nodesets" (list "ALL") $partition }}
PartitionName={{ $name }} Nodes={{ $nodesets | join "," }} {{ $partition.config }}
{{- include "slurm.partitionMemory" (list $ $nodesets $partition.config $memory) }}
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
slurm.mebibytes QUANTITY: of memory, as an integer; nothing for what can't be read.
*/}}
{{- define "slurm.mebibytes" -}}
{{- $text := kindIs "string" . | ternary . (. | int64 | toString) -}}
{{- $units := dict "" 1 "k" 1e3 "M" 1e6 "G" 1e9 "T" 1e12 "Ki" 1024 "Mi" 1048576 "Gi" 1073741824 "Ti" 1099511627776 -}}
{{- if regexMatch "^[0-9]+([.][0-9]+)?([kMGT]|[KMGT]i)?$" $text -}}
{{- $number := regexFind "^[0-9.]+" $text -}}
{{- divf (mulf (float64 $number) (get $units (trimPrefix $number $text))) 1048576.0 | floor | int64 -}}
{{- end -}}
{{- end -}}

{{/*
slurm.memoryPerCPU (list CONTEXT NODESETS): DefMemPerCPU for these NodeSets, or for ALL; nothing: none.
*/}}
{{- define "slurm.memoryPerCPU" -}}
{{- $root := index . 0 -}}
{{- $names := index . 1 -}}
{{- $wanted := $root.Values.slurm.defMemPerCPU | toString -}}
{{- $given := regexMatch "(?i)DefMemPer" (printf "%v %v" $root.Values.controller.extraConfMap $root.Values.controller.extraConf) -}}
{{- if or $given (not (contains "Memory" $root.Values.slurm.selectTypeParameters)) -}}
{{- else if ne $wanted "auto" -}}
{{- if ne $wanted "0" }}{{ $wanted }}{{ end -}}
{{- else -}}
{{- $least := 0 -}}
{{- range $name, $nodeset := include "slurm.nodesets" $root | fromYaml -}}
{{- $limits := dig "slurmd" "resources" "limits" dict $nodeset -}}
{{- $memory := include "slurm.mebibytes" (default "" $limits.memory) -}}
{{- $reserve := include "slurm.mebibytes" (default "64Mi" $nodeset.memoryReserve) -}}
{{- $cpu := $limits.cpu | toString -}}
{{- if and (or (has "ALL" $names) (has $name $names)) $memory $reserve (regexMatch "^[0-9]+([.][0-9]*)?m?$" $cpu) -}}
{{- $cpus := ternary (div (trimSuffix "m" $cpu | int64) 1000) (float64 $cpu | floor | int64) (hasSuffix "m" $cpu) | max 1 -}}
{{- $each := div (sub (int64 $memory) (int64 $reserve)) $cpus -}}
{{- if or (eq $least 0) (lt $each ($least | int64)) }}{{ $least = $each }}{{ end -}}
{{- end -}}
{{- end -}}
{{- if gt ($least | int64) 0 }}{{ $least }}{{ end -}}
{{- end -}}
{{- end -}}

{{/*
slurm.partitionMemory (list CONTEXT NODESETS CONFIG DEFAULT): " DefMemPerCPU=…" where a partition's isn't the default.
*/}}
{{- define "slurm.partitionMemory" -}}
{{- $memory := include "slurm.memoryPerCPU" (list (index . 0) (index . 1)) -}}
{{- $given := regexMatch "(?i)DefMemPer" (index . 2 | toString) -}}
{{- if and $memory (ne $memory (index . 3)) (not $given) }} DefMemPerCPU={{ $memory }}{{ end -}}
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
{{- if ne (int .loginEnv) 5 }}{{ $_ := set $arguments "login_env" (ternary "off" (int .loginEnv) (eq (int .loginEnv) 0)) }}{{ end }}
{{- if ne .serviceEnv "remove" }}{{ $_ := set $arguments "service_env" .serviceEnv }}{{ end }}
{{- if ne (toString .threads) "off" }}{{ $_ := set $arguments "threads" .threads }}{{ end }}
{{- if ne .gpus "off" }}{{ $_ := set $arguments "gpus" .gpus }}{{ end }}
{{- if .memoryLimit }}{{ $_ := set $arguments "memory_limit" "on" }}{{ end }}
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
{{- if le (int .Values.slurm.launchTimeout) (int .Values.slurm.resumeTimeout) }}
{{- fail "slurm.launchTimeout: must be longer than slurm.resumeTimeout, or jobs are requeued while their nodes still boot" }}
{{- end -}}
# Read by the engine in slurmctld, the power-saving programs and the sidecar.
Namespace={{ .Release.Namespace }}
NodeService={{ include "slurm.nodeService" . }}
ClusterDomain={{ .Values.clusterDomain }}
{{- $hosts := include "slurm.controllerHosts" . | fromYamlArray }}
ConfServer={{ eq (len $hosts) 1 | ternary (include "slurm.controller" .) (join ":6817," $hosts) }}:6817
KeySecret={{ include "slurm.keySecret" . }}
MaxRequests={{ int .Values.slurm.maxRequests }}
WatchKubernetesNodes={{ ternary "yes" "no" .Values.watchKubernetesNodes }}
WakePowerSave={{ ternary "yes" "no" .Values.slurm.wakePowerSave }}
FastRequeue={{ ternary "yes" "no" .Values.slurm.fastRequeue }}
LaunchTimeout={{ int .Values.slurm.launchTimeout }}
SidecarListen=:9100
LogLevel={{ .Values.slurm.logLevel }}
{{- end -}}
