{{/* SPDX-License-Identifier: GPL-2.0-or-later */}}

{{/*
slurm.hasLogin: "true" when the release has login pods.
*/}}
{{- define "slurm.hasLogin" -}}
{{- if and .Values.login.enabled .Values.controller.external -}}
{{- fail "login.enabled: Forbidden: with controller.external the login hosts are those of that slurmctld" -}}
{{- end -}}
{{- if and .Values.login.enabled (eq (include "slurm.isBefore" (list . "24.05")) "true") -}}
{{- fail "login.enabled: Forbidden: before 24.05 Slurm has no client ids (AuthInfo=use_client_ids)" -}}
{{- end -}}
{{- .Values.login.enabled -}}
{{- end -}}

{{/*
slurm.hasUsers: "true" when the release has users of its own: of login pods, or of tokens.
*/}}
{{- define "slurm.hasUsers" -}}
{{- or (eq (include "slurm.hasLogin" .) "true") (eq (include "slurm.hasRest" .) "true") -}}
{{- end -}}

{{/*
slurm.login: name of the objects of login pods.
*/}}
{{- define "slurm.login" -}}{{ include "slurm.fullname" . }}-login{{- end -}}

{{/*
slurm.hostKeysSecret: name of the Secret with sshd's host keys.
*/}}
{{- define "slurm.hostKeysSecret" -}}
{{- default (printf "%s-host-keys" (include "slurm.login" .)) .Values.login.hostKeys.existingSecret -}}
{{- end -}}

{{/*
slurm.usersSecret: name of the Secret with users.
*/}}
{{- define "slurm.usersSecret" -}}
{{- default (printf "%s-users" (include "slurm.login" .)) .Values.login.users.existingSecret -}}
{{- end -}}

{{/*
slurm.loginSelector: labels that select login pods.
*/}}
{{- define "slurm.loginSelector" -}}
app.kubernetes.io/name: login
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end -}}
