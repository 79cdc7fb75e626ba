{{/* SPDX-License-Identifier: GPL-2.0-or-later */}}

{{/*
slurm.nodesets: the enabled NodeSets by name, merged over nodesetDefaults, as YAML.
*/}}
{{- define "slurm.nodesets" -}}
{{- $nodesets := dict -}}
{{- range $name, $nodeset := .Values.nodesets -}}
{{- $nodeset = mergeOverwrite (deepCopy $.Values.nodesetDefaults) (default dict $nodeset) -}}
{{- if $nodeset.enabled -}}
{{- $_ := set $nodesets $name $nodeset -}}
{{- end -}}
{{- end -}}
{{- toYaml $nodesets -}}
{{- end -}}

{{/*
slurm.hasClaims: "true" when the service account needs rights to volume claims.
*/}}
{{- define "slurm.hasClaims" -}}
{{- $has := .Values.rbac.volumeClaims -}}
{{- range $name, $nodeset := include "slurm.nodesets" . | fromYaml -}}
{{- if $nodeset.volumeClaimTemplates }}{{ $has = true }}{{ end -}}
{{- end -}}
{{- $has -}}
{{- end -}}
