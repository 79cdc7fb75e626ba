{{/* SPDX-License-Identifier: GPL-2.0-or-later */}}

{{/*
slurm.mebibytes QUANTITY: a quantity of memory in MiB, rounded down; empty when it cannot be read.
*/}}
{{- define "slurm.mebibytes" -}}
{{- $text := kindIs "string" . | ternary . (. | int64 | toString) -}}
{{- $units := dict "" 1 "k" 1e3 "M" 1e6 "G" 1e9 "T" 1e12 "Ki" 1024 "Mi" 1048576 "Gi" 1073741824 "Ti" 1099511627776 -}}
{{- if regexMatch "^[0-9]+([.][0-9]+)?([kMGT]|[KMGT]i)?$" $text -}}
{{- $number := regexFind "^[0-9.]+" $text -}}
{{- divf (mulf (float64 $number) (get $units (trimPrefix $number $text))) 1048576.0 | floor | int64 -}}
{{- end -}}
{{- end -}}

{{/*
slurm.memoryPerCPU (list CONTEXT NODESETS): DefMemPerCPU of these NodeSets, the lowest of theirs, in MiB; empty for none.
NODESETS are names, or ALL.
*/}}
{{- define "slurm.memoryPerCPU" -}}
{{- $root := index . 0 -}}
{{- $names := index . 1 -}}
{{- $wanted := $root.Values.slurm.defMemPerCPU | toString -}}
{{- $isSet := regexMatch "(?i)DefMemPer" (printf "%v %v" $root.Values.controller.extraConfMap $root.Values.controller.extraConf) -}}
{{- if or $isSet (not (contains "Memory" $root.Values.slurm.selectTypeParameters)) -}}
{{- else if ne $wanted "auto" -}}
{{- if ne $wanted "0" }}{{ $wanted }}{{ end -}}
{{- else -}}
{{- $lowest := 0 -}}
{{- range $name, $nodeset := include "slurm.nodesets" $root | fromYaml -}}
{{- $limits := dig "slurmd" "resources" "limits" dict $nodeset -}}
{{- $memory := include "slurm.mebibytes" (default "" $limits.memory) -}}
{{- $reserve := include "slurm.mebibytes" (ternary "64Mi" $nodeset.memoryReserve (has $nodeset.memoryReserve (list nil ""))) -}}
{{- $cpu := $limits.cpu | toString -}}
{{- if and (or (has "ALL" $names) (has $name $names)) $memory $reserve (regexMatch "^[0-9]+([.][0-9]*)?m?$" $cpu) -}}
{{- $cpus := ternary (div (trimSuffix "m" $cpu | int64) 1000) (float64 $cpu | floor | int64) (hasSuffix "m" $cpu) | max 1 -}}
{{- $each := div (sub (int64 $memory) (int64 $reserve)) $cpus -}}
{{- if or (eq $lowest 0) (lt $each ($lowest | int64)) }}{{ $lowest = $each }}{{ end -}}
{{- end -}}
{{- end -}}
{{- if gt ($lowest | int64) 0 }}{{ $lowest }}{{ end -}}
{{- end -}}
{{- end -}}
