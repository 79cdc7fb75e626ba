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
slurm.confinesJobs: "true" when a NodeSet confines jobs by control groups. cgroup.conf cannot differ between pods before
24.05: CgroupPlugin=disabled is unknown there.
*/}}
{{- define "slurm.confinesJobs" -}}
{{- $confines := false -}}
{{- range $name, $nodeset := include "slurm.nodesets" . | fromYaml -}}
{{- if ne (default "None" $nodeset.confinement) "None" -}}
{{- if eq (include "slurm.isBefore" (list $ "24.05")) "true" -}}
{{- fail (printf "nodesets.%s.confinement: %s: requires slurmVersion 24.05 or later" $name $nodeset.confinement) -}}
{{- end -}}
{{- $confines = true -}}
{{- end -}}
{{- end -}}
{{- $confines -}}
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
