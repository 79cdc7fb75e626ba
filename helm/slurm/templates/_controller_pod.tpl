{{/* SPDX-License-Identifier: GPL-2.0-or-later */}}
{{/*
Fields of the controller's pod, except for containers and volumes; podSpec goes over them.
*/}}
{{- define "slurm.controllerPod" -}}
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
serviceAccountName: {{ include "slurm.controller" . }}
automountServiceAccountToken: true
enableServiceLinks: false
# slurmctld saves its state when it is told to end.
terminationGracePeriodSeconds: 60
{{- if eq (int .Values.controller.replicas) 1 }}
# The pod reaches its own service without leaving: slurmctld calls srun back at the address that srun came from.
hostAliases:
  - ip: 127.0.0.1
    hostnames: [{{ include "slurm.controller" . }}]
{{- else }}
# Its own name is its own address without that. Two controllers on one machine would fail together.
affinity:
  podAntiAffinity:
    preferredDuringSchedulingIgnoredDuringExecution:
      - weight: 100
        podAffinityTerm:
          topologyKey: kubernetes.io/hostname
          labelSelector:
            matchLabels:
              {{- include "slurm.controllerSelector" . | nindent 14 }}
{{- end }}
# slurmctld resolves nodes by their short names.
dnsConfig:
  searches: [{{ include "slurm.nodeService" . }}.{{ .Release.Namespace }}.svc.{{ .Values.clusterDomain }}]
securityContext:
  runAsUser: 401
  runAsGroup: 401
  runAsNonRoot: true
  fsGroup: 401
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: {type: RuntimeDefault}
{{- end -}}
