{{/* SPDX-License-Identifier: GPL-2.0-or-later */}}

{{/*
slurm.accountingPod (list CONTEXT USER): fields of the spec of slurmdbd's and MariaDB's pods, without containers and
volumes. USER is the id of the pod's user and group.
*/}}
{{- define "slurm.accountingPod" -}}
{{- include "slurm.podDefaults" (index . 0) }}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsUser: {{ index . 1 }}
  runAsGroup: {{ index . 1 }}
  runAsNonRoot: true
  fsGroup: {{ index . 1 }}
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: {type: RuntimeDefault}
{{- end -}}
