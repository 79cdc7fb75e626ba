{{/* SPDX-License-Identifier: GPL-2.0-or-later */}}

{{/*
slurm.conf.scheduling: section of slurm.conf: selection of nodes, backfill, requeue, size of the cluster.
*/}}
{{- define "slurm.conf.scheduling" -}}
# Scheduling
SelectType=select/cons_tres
SelectTypeParameters={{ .Values.slurm.selectTypeParameters }}
{{- with include "slurm.memoryPerCPU" (list . (list "ALL")) }}
DefMemPerCPU={{ . }}
{{- end }}
SchedulerType=sched/backfill
{{- /* A job that could not be launched is requeued, not held: its pod was deleted right then, or its setup failed. */}}
{{- $afterLaunch := list "nohold_on_prolog_fail" }}
{{- /* Of two values Slurm takes the first. */}}
{{- $isSet := contains "bf_interval=" (join "," .Values.slurm.schedulerParameters) }}
{{- $backfill := ternary list (list (printf "bf_interval=%d" (int .Values.slurm.backfillInterval))) $isSet }}
SchedulerParameters={{ join "," (concat (list "batch_sched_delay=0" "sbatch_wait_nodes") $backfill $afterLaunch .Values.slurm.schedulerParameters) }}
{{- $own := regexMatch "(?i)\\bGresTypes\\b" (printf "%v %v" .Values.controller.extraConfMap .Values.controller.extraConf) }}
{{- if and .Values.slurm.gresTypes (not $own) }}
GresTypes={{ join "," .Values.slurm.gresTypes }}
{{- end }}
JobRequeue=1
ReturnToService=2
MaxNodeCount={{ int .Values.slurm.maxNodeCount }}
TreeWidth={{ int .Values.slurm.treeWidth }}
{{- end -}}
