{{/* SPDX-License-Identifier: GPL-2.0-or-later */}}
{{/*
slurm.metricsEndpoints: endpoints of a ServiceMonitor or PodMonitor; called with a list of the root and
metrics.serviceMonitor or metrics.podMonitor.
*/}}
{{- define "slurm.metricsEndpoints" -}}
{{- $monitor := index . 1 -}}
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
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: metrics
{{- end -}}
