{{/* SPDX-License-Identifier: GPL-2.0-or-later */}}

{{/*
slurm.fullname: prefix of the names of objects. Kubernetes makes no pod of a StatefulSet with more than 52 characters, and
no CronJob with more: NAME-accounting, NAME-backup-restore.
*/}}
{{- define "slurm.fullname" -}}
{{- $chart := default .Chart.Name .Values.nameOverride -}}
{{- $release := ternary .Release.Name (printf "%s-%s" .Release.Name $chart) (contains $chart .Release.Name) -}}
{{- $name := default $release .Values.fullnameOverride | trunc 50 | trimSuffix "-" -}}
{{- $max := ternary 37 41 .Values.backup.enabled -}}
{{- if gt (len $name) $max -}}
{{- fail (printf "fullnameOverride: %s: Too long: may not be more than %d characters" $name $max) -}}
{{- end -}}
{{- $name -}}
{{- end -}}

{{/*
slurm.controller: name of the controller's StatefulSet, Service, service account, Roles and NetworkPolicy.
*/}}
{{- define "slurm.controller" -}}{{ include "slurm.fullname" . }}-controller{{- end -}}

{{/*
slurm.config: name of the ConfigMap with the files of /etc/slurm.
*/}}
{{- define "slurm.config" -}}{{ include "slurm.fullname" . }}-config{{- end -}}

{{/*
slurm.nodeService: name of the headless Service that gives nodes their DNS names.
*/}}
{{- define "slurm.nodeService" -}}{{ include "slurm.fullname" . }}-nodes{{- end -}}

{{/*
slurm.keySecret: name of the Secret with Slurm's key.
*/}}
{{- define "slurm.keySecret" -}}
{{- default (printf "%s-key" (include "slurm.fullname" .)) .Values.slurmKey.existingSecret -}}
{{- end -}}

{{/*
slurm.labels: labels of every object of the chart.
*/}}
{{- define "slurm.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{/*
slurm.controllerSelector: labels that select the controller's pods.
*/}}
{{- define "slurm.controllerSelector" -}}
app.kubernetes.io/name: slurmctld
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end -}}
