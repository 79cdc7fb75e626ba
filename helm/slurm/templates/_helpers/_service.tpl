{{/* SPDX-License-Identifier: GPL-2.0-or-later */}}

{{/*
slurm.service (dict "context" CONTEXT "name" NAME "values" VALUES "selector" SELECTOR "portName" NAME "port" PORT): a
Service with one port. VALUES has metadata, spec and nodePort, as login.service, or is empty: values of a former chart.
SELECTOR is YAML.
*/}}
{{- define "slurm.service" -}}
apiVersion: v1
kind: Service
metadata:
  name: {{ .name }}
  labels:
    {{- include "slurm.labels" .context | nindent 4 }}
    {{- with (.values.metadata).labels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- with (.values.metadata).annotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  {{- with .values.spec }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
  selector:
    {{- .selector | nindent 4 }}
  ports:
    - name: {{ .portName }}
      port: {{ int .port }}
      targetPort: {{ .portName }}
      {{- with .values.nodePort }}
      nodePort: {{ int . }}
      {{- end }}
{{- end -}}
