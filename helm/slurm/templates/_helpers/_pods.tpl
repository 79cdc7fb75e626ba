{{/* SPDX-License-Identifier: GPL-2.0-or-later */}}

{{/*
slurm.priorityClass: name of the class of all pods; empty without one.
*/}}
{{- define "slurm.priorityClass" -}}
{{- with .Values.priorityClass -}}
{{- if .enabled -}}
{{- if not (or .create .name) }}{{ fail "priorityClass.name: required without priorityClass.create" }}{{ end -}}
{{- default (printf "%s-%s" $.Release.Namespace (include "slurm.fullname" $)) .name -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/*
slurm.nodeDefaults: fields of the spec of nodes' pods, which may have another class.
*/}}
{{- define "slurm.nodeDefaults" -}}
{{- $defaults := default dict (include "slurm.podDefaults" . | fromYaml) -}}
{{- $class := .Values.priorityClass.nodes -}}
{{- if $defaults.priorityClassName -}}
{{- if kindIs "string" $class -}}
{{- $_ := set $defaults "priorityClassName" $class -}}
{{- else if eq $class false -}}
{{- $_ := unset $defaults "priorityClassName" -}}
{{- end -}}
{{- end -}}
{{- toYaml $defaults -}}
{{- end -}}

{{/*
slurm.podDefaults: fields of the spec of all pods.
*/}}
{{- define "slurm.podDefaults" -}}
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with include "slurm.priorityClass" . }}
priorityClassName: {{ . }}
{{- end }}
{{- end -}}

{{/*
slurm.restricted: security context of a container that writes to its volumes only.
*/}}
{{- define "slurm.restricted" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end -}}
