{{/* SPDX-License-Identifier: GPL-2.0-or-later */}}

{{/*
slurm.slurmctldParameters: SlurmctldParameters, as YAML.
*/}}
{{- define "slurm.slurmctldParameters" -}}
{{- $parameters := list "enable_configless" "idle_on_node_suspend" "power_save_interval=0" "power_save_min_interval=0"
  "reboot_from_controller" -}}
{{- /* From 23.11 on slurmctld takes the address of a registration by default; the parameter is defunct. */ -}}
{{- if eq (include "slurm.isBefore" (list . "23.11")) "true" }}{{ $parameters = append $parameters "cloud_reg_addrs" }}{{ end -}}
{{- toYaml (concat $parameters .Values.slurm.slurmctldParameters) -}}
{{- end -}}

{{/*
slurm.conf.powerSaving: section of slurm.conf: the power saving programs, their timeouts and nodes that stay up.
*/}}
{{- define "slurm.conf.powerSaving" -}}
# Power saving: the engine in slurmctld creates and deletes the pods of nodes.
SlurmctldParameters={{ include "slurm.slurmctldParameters" . | fromYamlArray | join "," }}
ResumeProgram=/usr/libexec/slurm-k8s/slurm-k8s-resume
ResumeFailProgram=/usr/libexec/slurm-k8s/slurm-k8s-resume-fail
SuspendProgram=/usr/libexec/slurm-k8s/slurm-k8s-suspend
RebootProgram=/usr/libexec/slurm-k8s/slurm-k8s-resume
ResumeRate=0
SuspendRate=0
ResumeTimeout={{ int .Values.slurm.resumeTimeout }}
SuspendTimeout={{ int .Values.slurm.suspendTimeout }}
{{- /* Slurm's -1 disables power saving as a whole: no node would be resumed. */}}
SuspendTime={{ ternary 2147483647 (int .Values.slurm.suspendTime) (lt (int .Values.slurm.suspendTime) 0) }}
{{- $always := list }}
{{- range $name, $nodeset := include "slurm.nodesets" . | fromYaml }}
{{- if has $nodeset.scalingMode (list "Always" "DaemonSet" "External") }}{{ $always = append $always $name }}{{ end }}
{{- end }}
{{- /* Slurm accepts names of NodeSets from 24.05 on. From 23.02 on the sidecar exempts single nodes. */}}
{{- if and $always (eq (include "slurm.isBefore" (list . "24.05")) "false") }}
# Idle nodes of NodeSets with scalingMode Always, DaemonSet or External stay up.
SuspendExcNodes={{ join "," $always }}
{{- end }}
{{- end -}}
