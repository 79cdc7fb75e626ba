{{/* SPDX-License-Identifier: GPL-2.0-or-later */}}

{{/*
slurm.conf.plugins: section of slurm.conf: the plugins of this project and what goes with them.
*/}}
{{- define "slurm.conf.plugins" -}}
{{- $own := printf "%v %v" .Values.controller.extraConfMap .Values.controller.extraConf -}}
{{- if include "slurm.spankScripts" . -}}
# prep/script runs the scripts of the SPANK plugin. The launch of a job waits for them.
PrEpPlugins=prep/k8s,prep/script
BatchStartTimeout={{ add 10 (mul 2 (int .Values.slurm.spank.scripts.timeout)) }}
{{- else if regexMatch "(?i)\\b(Pro|Epi)log(Slurmctld)?\\b *[=:]" $own -}}
# prep/script runs Prolog and Epilog.
PrEpPlugins=prep/k8s,prep/script
{{- else -}}
PrEpPlugins=prep/k8s
{{- end }}
{{- $leftovers := ternary list (list "keep_leftovers") .Values.slurm.spank.killLeftovers }}
{{- $gpus := ternary list (list "open_gpus") .Values.slurm.spank.protectGpus }}
{{- with concat $leftovers $gpus }}
PrEpParameters={{ join "," . }}
{{- end }}
{{- /* slurmctld keeps track of a node's active features from 23.02 on. */}}
{{- $variants := and .Values.slurm.nodeFeatures.enabled (eq (include "slurm.isBefore" (list . "23.02")) "false") }}
{{- if $variants }}
NodeFeaturesPlugins=node_features/k8s
{{- end }}
{{- $defunct := eq (include "slurm.isBefore" (list . "25.05")) "false" }}
{{- if not $defunct }}
# slurmd cannot create a user's login environment in a pod, and would exit. The SPANK plugin creates it.
GetEnvTimeout=0
{{- end }}
{{- /*
From 25.05 on GetEnvTimeout is defunct: job_submit/k8s keeps the request for a login environment from slurmd.
It gives the bridge's jobs their users.
*/}}
{{- with concat (ternary (list "k8s") list (or $variants $defunct .Values.bridge.enabled)) .Values.slurm.jobSubmitPlugins }}
JobSubmitPlugins={{ join "," . }}
{{- end }}
{{- end -}}
