{{/* SPDX-License-Identifier: GPL-2.0-or-later */}}

{{/*
slurm.nodesets: the enabled NodeSets by name, merged over nodesetDefaults, as YAML. External nodes have no default limits:
these would be the maximum of what their Kubernetes nodes have.
*/}}
{{- define "slurm.nodesets" -}}
{{- $nodesets := dict -}}
{{- range $name, $nodeset := .Values.nodesets -}}
{{- $own := default dict $nodeset -}}
{{- $nodeset = mergeOverwrite (deepCopy $.Values.nodesetDefaults) $own -}}
{{- if eq (toString $nodeset.scalingMode) "External" -}}
{{- $_ := set $nodeset.slurmd.resources "limits" (deepCopy (default dict ((($own.slurmd).resources).limits))) -}}
{{- end -}}
{{- if $nodeset.enabled -}}
{{- $_ := set $nodesets $name $nodeset -}}
{{- end -}}
{{- end -}}
{{- toYaml $nodesets -}}
{{- end -}}

{{/*
slurm.checkNodeNames: fails when Slurm could not have all nodes. A NodeSet of slurm.conf with the name of a node ends
slurmctld (load_node_state() in node_mgr.c). Nodes beyond MaxNodeCount are dropped, with their jobs.
*/}}
{{- define "slurm.checkNodeNames" -}}
{{- $nodesets := include "slurm.nodesets" . | fromYaml -}}
{{- $count := 0 -}}
{{- range $name, $nodeset := $nodesets -}}
{{- $base := regexReplaceAll "-[0-9]+$" $name "" -}}
{{- $number := trimPrefix (printf "%s-" $base) $name -}}
{{- if and (ne $base $name) (hasKey $nodesets $base) (lt (int $number) (int (dig $base "replicas" 0 $nodesets))) -}}
{{- fail (printf "nodesets.%s: Forbidden: it is the name of a node of NodeSet %s" $name $base) -}}
{{- end -}}
{{- if not (has (toString $nodeset.scalingMode) (list "DaemonSet" "External")) -}}
{{- $count = add $count (int $nodeset.replicas) -}}
{{- end -}}
{{- end -}}
{{- if gt ($count | int) (int .Values.slurm.maxNodeCount) -}}
{{- fail (printf "slurm.maxNodeCount: Invalid value: %d: the NodeSets have %d nodes" (int .Values.slurm.maxNodeCount) ($count | int)) -}}
{{- end -}}
{{- end -}}

{{/*
slurm.confinesJobs: "true" when a NodeSet confines jobs by control groups. Not before Slurm 24.11
(images/slurmd/confinement.sh).
*/}}
{{- define "slurm.confinesJobs" -}}
{{- $confines := false -}}
{{- range $name, $nodeset := include "slurm.nodesets" . | fromYaml -}}
{{- if ne (default "None" $nodeset.confinement) "None" -}}
{{- if eq (include "slurm.isBefore" (list $ "24.11")) "true" -}}
{{- fail (printf "nodesets.%s.confinement: %s: requires slurmVersion 24.11 or later" $name $nodeset.confinement) -}}
{{- end -}}
{{- $confines = true -}}
{{- end -}}
{{- end -}}
{{- if $confines -}}{{- include "slurm.checkConfinement" . -}}{{- end -}}
{{- $confines -}}
{{- end -}}

{{/*
slurm.checkConfinement: fails when other values contradict a confinement. slurmd does not start with OverMemoryKill then.
*/}}
{{- define "slurm.checkConfinement" -}}
{{- $own := index .Values.configFiles "cgroup.conf" -}}
{{- if and $own (not (regexMatch "(?im)^[ \\t]*Include[ \\t]+/run/slurm-k8s/cgroup\\.conf[ \\t]*$" $own)) -}}
{{- fail "configFiles.cgroup.conf: a NodeSet has a confinement, which needs the line \"Include /run/slurm-k8s/cgroup.conf\"" -}}
{{- end -}}
{{- $slurm := printf "%v %v" .Values.controller.extraConfMap .Values.controller.extraConf -}}
{{- if regexMatch "(?im)^[^#\n]*OverMemoryKill" $slurm -}}
{{- fail "JobAcctGatherParams=OverMemoryKill: slurmd does not start with it in NodeSets with a confinement" -}}
{{- end -}}
{{- end -}}

{{/*
slurm.hasExternalNodes: "true" when a NodeSet has scalingMode External.
*/}}
{{- define "slurm.hasExternalNodes" -}}
{{- $has := false -}}
{{- range $name, $nodeset := include "slurm.nodesets" . | fromYaml -}}
{{- if eq (toString $nodeset.scalingMode) "External" }}{{ $has = true }}{{ end -}}
{{- end -}}
{{- $has -}}
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
