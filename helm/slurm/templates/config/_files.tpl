{{/* SPDX-License-Identifier: GPL-2.0-or-later */}}

{{/*
slurm.defaultFiles: the files of /etc/slurm that configFiles can replace, as YAML.
*/}}
{{- define "slurm.defaultFiles" -}}
cgroup.conf: |
  {{- if eq (include "slurm.isBefore" (list . "24.05")) "true" }}
  # slurmd wants to load one, and this one does nothing before somebody uses it.
  CgroupPlugin=cgroup/v1
  {{- else }}
  CgroupPlugin=disabled
  {{- end }}
plugstack.conf: {{ include "slurm.plugstack" . | quote }}
{{- end -}}
