{{/* SPDX-License-Identifier: GPL-2.0-or-later */}}

{{/*
slurm.accounting: name of the objects of slurmdbd.
*/}}
{{- define "slurm.accounting" -}}{{ include "slurm.fullname" . }}-accounting{{- end -}}

{{/*
slurm.mariadb: name of the objects of the chart's MariaDB.
*/}}
{{- define "slurm.mariadb" -}}{{ include "slurm.fullname" . }}-mariadb{{- end -}}

{{/*
slurm.hasSlurmdbd: "true" when slurmdbd is a pod of this release.
*/}}
{{- define "slurm.hasSlurmdbd" -}}
{{- if and .Values.accounting.enabled .Values.controller.external -}}
{{- fail "accounting.enabled: Forbidden: with controller.external slurmctld has a slurm.conf and an accounting of its own" -}}
{{- end -}}
{{- and .Values.accounting.enabled (not .Values.accounting.external) -}}
{{- end -}}

{{/*
slurm.hasMariadb: "true" when slurmdbd's database is the chart's MariaDB.
*/}}
{{- define "slurm.hasMariadb" -}}
{{- and (eq (include "slurm.hasSlurmdbd" .) "true") (not .Values.accounting.storageConfig.host) -}}
{{- end -}}

{{/*
slurm.databaseSecret: name of the Secret with the password of slurmdbd's database.
*/}}
{{- define "slurm.databaseSecret" -}}
{{- $storage := .Values.accounting.storageConfig -}}
{{- if and $storage.host (not $storage.passwordKeyRef.name) -}}
{{- fail "accounting.storageConfig.passwordKeyRef.name: Required value: with accounting.storageConfig.host" -}}
{{- end -}}
{{- default (include "slurm.accounting" .) $storage.passwordKeyRef.name -}}
{{- end -}}

{{/*
slurm.accountingSelector, slurm.mariadbSelector: labels that select their pods.
*/}}
{{- define "slurm.accountingSelector" -}}
app.kubernetes.io/name: slurmdbd
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end -}}
{{- define "slurm.mariadbSelector" -}}
app.kubernetes.io/name: mariadb
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end -}}
