{{/* SPDX-License-Identifier: GPL-2.0-or-later */}}

{{/*
slurm.pushesConfig: "true" when the sidecar brings a changed configuration to slurmctld. Before 23.11 `scontrol
reconfigure` is no restart of slurmctld, and keeps no former configuration.
*/}}
{{- define "slurm.pushesConfig" -}}
{{- $controller := .Values.controller -}}
{{- and $controller.configPush.enabled (eq (include "slurm.isBefore" (list . "23.11")) "false") -}}
{{- end -}}

{{/*
slurm.restartSettings: settings of slurm.conf that need a new slurmctld process in a new container, as a regular
expression. sidecar/config_plan.cc has the same.
*/}}
{{- define "slurm.restartSettings" -}}
AccountingStorageHost|AccountingStoragePort|AccountingStorageType|AuthType|ClusterName|CredType|SlurmUser|SlurmctldHost|SlurmctldPort|SlurmdPort|StateSaveLocation
{{- end -}}

{{/*
slurm.configAwaitSelector: labels of the hook's pod that waits for slurmctld's answer.
*/}}
{{- define "slurm.configAwaitSelector" -}}
app.kubernetes.io/name: config-await
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end -}}

{{/*
slurm.restartHash: hash of what recreates the controller's pod when it changes.
*/}}
{{- define "slurm.restartHash" -}}
{{- $all := include "slurm.configData" . -}}
{{- if eq (include "slurm.pushesConfig" .) "true" -}}
{{- $settings := regexFindAll (printf "(?im)^ *(%s) *=.*$" (include "slurm.restartSettings" .)) (include "slurm.conf" .) -1 -}}
{{- $all = printf "%s\n%s\n%s" (join "\n" $settings) (include "slurm.k8sConf" .) (toYaml .Values.configFilesFrom) -}}
{{- end -}}
{{- sha256sum $all -}}
{{- end -}}

{{/*
slurm.configSources: what /etc/slurm is made of, as sources of a projected volume.
*/}}
{{- define "slurm.configSources" -}}
- configMap: {name: {{ include "slurm.config" . }}}
{{- range .Values.configFilesFrom }}
{{- if .configMap }}
- configMap: {name: {{ .configMap }}}
{{- else }}
- secret: {name: {{ .secret }}}
{{- end }}
{{- end }}
{{- end -}}
