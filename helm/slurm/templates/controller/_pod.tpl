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
# Containers that need it mount the token themselves.
automountServiceAccountToken: false
enableServiceLinks: false
# slurmctld saves its state when it is told to end.
terminationGracePeriodSeconds: 60
hostAliases:
  # slurmctld looks up the name of the address that it listens on when it starts, and must not wait for a name server.
  - ip: 0.0.0.0
    hostnames: [any.invalid]
{{- if eq (int .Values.controller.replicas) 1 }}
  # The pod reaches its own service without leaving: slurmctld calls srun back at the address that srun came from.
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
  # A name server that doesn't answer is given up after 2 s, not 10.
  options: [{name: timeout, value: "1"}, {name: attempts, value: "2"}]
securityContext:
  runAsUser: 401
  runAsGroup: 401
  runAsNonRoot: true
  fsGroup: 401
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: {type: RuntimeDefault}
{{- end -}}
