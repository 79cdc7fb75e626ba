{{/* SPDX-License-Identifier: GPL-2.0-or-later */}}

{{/*
slurm.slurmctldParameters: SlurmctldParameters, as YAML.
*/}}
{{- define "slurm.slurmctldParameters" -}}
{{- $parameters := list "enable_configless" "idle_on_node_suspend" "power_save_interval=0" "power_save_min_interval=0" -}}
{{- /* Later ones take the address of a registration without being told, and call the word defunct. */ -}}
{{- if eq (include "slurm.isBefore" (list . "23.11")) "true" }}{{ $parameters = append $parameters "cloud_reg_addrs" }}{{ end -}}
{{- toYaml (concat $parameters .Values.slurm.slurmctldParameters) -}}
{{- end -}}

{{/*
slurm.conf.powerSaving: section of slurm.conf: the power saving programs, their timeouts and nodes that stay up.
*/}}
{{- define "slurm.conf.powerSaving" -}}
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
{{- end -}}
