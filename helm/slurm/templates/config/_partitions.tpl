{{/* SPDX-License-Identifier: GPL-2.0-or-later */}}

{{/*
slurm.conf.partitions: section of slurm.conf: Slurm's NodeSets, and the partitions of NodeSets and of `partitions`.
*/}}
{{- define "slurm.conf.partitions" -}}
{{- include "slurm.checkNodeNames" . -}}
{{- $memory := include "slurm.memoryPerCPU" (list . (list "ALL")) -}}
# Each node has its NodeSet's name as a feature.
{{- range $name, $nodeset := include "slurm.nodesets" . | fromYaml }}
NodeSet={{ $name }} Feature={{ $name }}
{{- if and $nodeset.partition.enabled (not $.Values.slurm.runtimePartitions) }}
PartitionName={{ $name }} Nodes={{ $name }} {{ $nodeset.partition.config }}
{{- include "slurm.partitionMemory" (list $ (list $name) $nodeset.partition.config $memory) }}
{{- end }}
{{- end }}
{{- range $name, $partition := .Values.partitions }}
{{- if dig "enabled" true $partition }}
{{- $nodesets := dig "nodesets" (list "ALL") $partition }}
PartitionName={{ $name }} Nodes={{ $nodesets | join "," }} {{ $partition.config }}
{{- include "slurm.partitionMemory" (list $ $nodesets $partition.config $memory) }}
{{- end }}
{{- end }}
{{- end -}}

{{/*
slurm.conf.runtimePartitions: line of slurm.conf, with a newline before it, that keeps partitions created at run time.
*/}}
{{- define "slurm.conf.runtimePartitions" -}}
{{- if .Values.slurm.runtimePartitions }}
{{- if eq (include "slurm.isBefore" (list . "24.05")) "true" }}
{{- fail "slurm.runtimePartitions: needs Slurm 24.05 or later, which keeps partitions created at run time over a restart" }}
{{- end }}
# Keep partitions created at run time over a restart; without it their jobs would be cancelled.
ReconfigFlags=KeepPartInfo
{{- end }}
{{- end -}}

{{/*
slurm.partitionMemory (list CONTEXT NODESETS CONFIG DEFAULT): " DefMemPerCPU=N" for a partition of NODESETS whose value
differs from DEFAULT, the cluster's, unless CONFIG sets one.
*/}}
{{- define "slurm.partitionMemory" -}}
{{- $memory := include "slurm.memoryPerCPU" (list (index . 0) (index . 1)) -}}
{{- $given := regexMatch "(?i)DefMemPer" (index . 2 | toString) -}}
{{- if and $memory (ne $memory (index . 3)) (not $given) }} DefMemPerCPU={{ $memory }}{{ end -}}
{{- end -}}
