{{/* SPDX-License-Identifier: GPL-2.0-or-later */}}

{{/*
slurm.k8sConf: slurm-k8s.conf.
*/}}
{{- define "slurm.k8sConf" -}}
{{- if le (int .Values.slurm.launchTimeout) (int .Values.slurm.resumeTimeout) }}
{{- fail "slurm.launchTimeout: must be greater than slurm.resumeTimeout, or jobs are requeued while their nodes power up" }}
{{- end -}}
# Read by the engine in slurmctld, the power saving programs and the sidecar.
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
{{- $shared := default list .Values.slurm.sharedPaths }}
{{- if .Values.sharedHome.existingClaim }}
{{- $shared = prepend $shared .Values.sharedHome.mountPath }}
{{- end }}
SharedPaths={{ $shared | join "," | default "none" }}
{{- $asks := not (has "--without-engine" .Values.bridge.args) }}
Bridge={{ ternary "yes" "no" (and (eq (include "slurm.hasBridge" .) "true") $asks) }}
SidecarListen=:9100
LogLevel={{ .Values.slurm.logLevel }}
{{- end -}}
