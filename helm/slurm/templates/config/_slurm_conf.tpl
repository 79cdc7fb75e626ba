{{/* SPDX-License-Identifier: GPL-2.0-or-later */}}

{{/*
slurm.isBefore (list CONTEXT VERSION): "true" when slurmVersion is lower than VERSION. Both are YY.MM, which compare as
text.
*/}}
{{- define "slurm.isBefore" -}}
{{- lt (index . 0).Values.slurmVersion (index . 1) -}}
{{- end -}}

{{/*
slurm.conf: the file. Its sections are in files of their own, named slurm.conf.SECTION. Of two lines with the same key
Slurm takes the last: extraConf overrides the chart.
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

{{ include "slurm.conf.scheduling" . }}

# Inside a pod without privileges: no control groups.
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault={{ .Values.slurm.mpiDefault }}

{{ include "slurm.conf.powerSaving" . }}
{{- include "slurm.conf.runtimePartitions" . }}
{{ include "slurm.conf.plugins" . }}

{{ include "slurm.conf.partitions" . }}
{{- range $key, $value := .Values.controller.extraConfMap }}
{{ $key }}={{ if kindIs "slice" $value }}{{ join "," $value }}{{ else }}{{ $value }}{{ end }}
{{- end }}
{{- with .Values.controller.extraConf }}
{{ . }}
{{- end }}
{{- end -}}
