{{/* SPDX-License-Identifier: GPL-2.0-or-later */}}

{{/*
slurm.plugstack: plugstack.conf. Slurm ignores the result of an optional plugin: one that can refuse a task or a job is
required.
*/}}
{{- define "slurm.plugstack" -}}
{{- with .Values.slurm.spank }}
{{- if .enabled }}
{{- $arguments := dict "hide" (join "," .hide) }}
{{- if ne (int .loginEnv) 5 }}{{ $_ := set $arguments "login_env" (ternary "off" (int .loginEnv) (eq (int .loginEnv) 0)) }}{{ end }}
{{- if not .hostNames }}{{ $_ := set $arguments "hosts" "off" }}{{ end }}
{{- if ne .serviceEnv "remove" }}{{ $_ := set $arguments "service_env" .serviceEnv }}{{ end }}
{{- if ne (toString .threads) "off" }}{{ $_ := set $arguments "threads" .threads }}{{ end }}
{{- if ne .gpus "off" }}{{ $_ := set $arguments "gpus" .gpus }}{{ end }}
{{- if .memoryLimit }}{{ $_ := set $arguments "memory_limit" "on" }}{{ end }}
{{- if .cpuBind }}{{ $_ := set $arguments "cpu_bind" "on" }}{{ end }}
{{- if .oomScoreAdj }}{{ $_ := set $arguments "oom_score_adj" (int .oomScoreAdj) }}{{ end }}
{{- ternary "required" "optional" (gt (len .hide) 0) }} spank_k8s.so{{ include "slurm.spankArguments" $arguments }}
{{- with include "slurm.spankScripts" $ }}
required spank_k8s_scripts.so{{ . }} timeout={{ int $.Values.slurm.spank.scripts.timeout }}
{{- end }}
{{- end }}
{{- with .extraConf }}
{{ . }}
{{- end }}
{{- end }}
{{- end -}}

{{/*
slurm.spankArguments MAP: " NAME=value" for each entry with a value, sorted by name.
*/}}
{{- define "slurm.spankArguments" -}}
{{- range $name, $value := . }}{{ if $value }} {{ $name }}={{ $value }}{{ end }}{{ end -}}
{{- end -}}

{{/*
slurm.spankScripts: arguments of spank_k8s_scripts.so; empty without scripts.
*/}}
{{- define "slurm.spankScripts" -}}
{{- with .Values.slurm.spank }}
{{- if .enabled }}
{{- with .scripts }}
{{- include "slurm.spankArguments" (dict "pod_setup" .podSetup "pod_cleanup" .podCleanup "job_setup" .jobSetup "job_cleanup" .jobCleanup) }}
{{- end }}
{{- end }}
{{- end }}
{{- end -}}
