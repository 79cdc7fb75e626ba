{{/* SPDX-License-Identifier: GPL-2.0-or-later */}}
{{/*
slurm.metricsEndpoints: endpoints of a ServiceMonitor or PodMonitor; called with a list of the root and metrics.serviceMonitor
or metrics.podMonitor.
*/}}
{{- define "slurm.metricsEndpoints" -}}
{{- $monitor := index . 1 -}}
{{- range (index . 0).Values.metrics.paths }}
- port: metrics
  path: {{ . }}
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
