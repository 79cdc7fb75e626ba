{{/* SPDX-License-Identifier: GPL-2.0-or-later */}}

{{/*
slurm.hasRest: "true" when the release has slurmrestd.
*/}}
{{- define "slurm.hasRest" -}}
{{- if and .Values.rest.enabled .Values.controller.external -}}
{{- fail "rest.enabled: Forbidden: with controller.external slurmctld has a slurm.conf and a key of its own" -}}
{{- end -}}
{{- if and .Values.rest.enabled (eq (include "slurm.isBefore" (list . "24.05")) "true") -}}
{{- fail "rest.enabled: Forbidden: before 24.05 Slurm has no client ids (AuthInfo=use_client_ids)" -}}
{{- end -}}
{{- .Values.rest.enabled -}}
{{- end -}}

{{/*
slurm.rest: name of the objects of slurmrestd.
*/}}
{{- define "slurm.rest" -}}{{ include "slurm.fullname" . }}-rest{{- end -}}

{{/*
slurm.jwtSecret: name of the Secret with the key that signs tokens.
*/}}
{{- define "slurm.jwtSecret" -}}
{{- default (printf "%s-jwt-key" (include "slurm.fullname" .)) .Values.rest.jwtKey.existingSecret -}}
{{- end -}}

{{/*
slurm.restSelector: labels that select slurmrestd's pods.
*/}}
{{- define "slurm.restSelector" -}}
app.kubernetes.io/name: slurmrestd
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end -}}

{{/*
slurm.restTokens: tokens that are kept in Secrets, as YAML: a list of {user, namespace, secretName, lifespan}.
*/}}
{{- define "slurm.restTokens" -}}
{{- $tokens := list -}}
{{- $places := dict -}}
{{- if eq (include "slurm.hasRest" .) "true" -}}
{{- range .Values.rest.tokens -}}
{{- $namespace := default $.Release.Namespace .namespace -}}
{{- $place := printf "%s/%s" $namespace .secretName -}}
{{- if hasKey $places $place }}{{ fail (printf "rest.tokens: Invalid value: two tokens in Secret %s" $place) }}{{ end -}}
{{- $_ := set $places $place true -}}
{{- $tokens = append $tokens (dict "user" .user "namespace" $namespace "secretName" .secretName "lifespan" (int (default 3600 .lifespan))) -}}
{{- end -}}
{{- end -}}
{{- toYaml $tokens -}}
{{- end -}}
