{{/* SPDX-License-Identifier: GPL-2.0-or-later */}}
{{/*
slurm.milliseconds: of a duration of Prometheus.
*/}}
{{- define "slurm.milliseconds" -}}
{{- $units := dict "h" 3600000 "m" 60000 "s" 1000 "ms" 1 -}}
{{- $sum := 0 -}}
{{- range regexFindAll "[0-9]+[a-z]+" . -1 -}}
{{- $unit := regexFind "[a-z]+$" . -}}
{{- $sum = add $sum (mul (trimSuffix $unit . | int64) (get $units $unit)) -}}
{{- end -}}
{{- $sum -}}
{{- end -}}

{{/*
slurm.metricsEndpoints: endpoints of a ServiceMonitor or PodMonitor; called with a list of the root and its name below
metrics. The Prometheus Operator takes no monitor whose scrapes may last longer than the time between them.
*/}}
{{- define "slurm.metricsEndpoints" -}}
{{- $name := index . 1 -}}
{{- $monitor := index (index . 0).Values.metrics $name -}}
{{- if and $monitor.interval $monitor.scrapeTimeout
    (gt (include "slurm.milliseconds" $monitor.scrapeTimeout | int64)
      (include "slurm.milliseconds" $monitor.interval | int64)) -}}
{{- fail (printf "metrics.%s.scrapeTimeout: must not be longer than the interval, %s" $name $monitor.interval) -}}
{{- end -}}
{{- $scrapes := list -}}
{{- range (index . 0).Values.metrics.paths }}{{ $scrapes = append $scrapes (list "metrics" .) }}{{ end -}}
{{- if eq (include "slurm.hasBridge" (index . 0)) "true" }}
{{- $scrapes = append $scrapes (list "bridge-metrics" "/metrics") }}
{{- end }}
{{- range $scrapes }}
- port: {{ index . 0 }}
  path: {{ index . 1 }}
  {{- with $monitor.interval }}
  interval: {{ . }}
  {{- end }}
  {{- with $monitor.scrapeTimeout }}
  scrapeTimeout: {{ . }}
  {{- end }}
{{- end }}
{{- end -}}

{{/*
slurm.metricsMetadata: labels and annotations of an object of metrics; called with a list of the root and a part of the
values with labels and annotations.
*/}}
{{- define "slurm.metricsMetadata" -}}
{{- $values := index . 1 -}}
labels:
  {{- include "slurm.labels" (index . 0) | nindent 2 }}
  {{- with $values.labels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with $values.annotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/*
slurm.metricsSelector: labels of the Service with the port of the metrics.
*/}}
{{- define "slurm.metricsSelector" -}}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
app.kubernetes.io/component: metrics
{{- end -}}
