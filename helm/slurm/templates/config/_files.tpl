{{/* SPDX-License-Identifier: GPL-2.0-or-later */}}

{{/*
slurm.defaultFiles: the files of /etc/slurm that configFiles can replace, as YAML.
*/}}
{{- define "slurm.defaultFiles" -}}
cgroup.conf: |
  {{- if eq (include "slurm.isBefore" (list . "24.05")) "true" }}
  # slurmd requires a plugin. This one has no effect unless another plugin uses it.
  CgroupPlugin=cgroup/v1
  {{- else }}
  CgroupPlugin=disabled
  {{- end }}
plugstack.conf: {{ include "slurm.plugstack" . | quote }}
{{- end -}}

{{/*
slurm.gresConf: gres.conf. The included file is another one in each container: with slurmctld it has the nodes whose
GPUs come from the limits (slurm-k8s-sidecar --gres-conf), in a node's pod that pod's GPUs.
*/}}
{{- define "slurm.gresConf" -}}
Include /run/slurm-k8s/gres.conf
{{- with index .Values.configFiles "gres.conf" }}
{{ . | trimSuffix "\n" }}
{{- end }}
{{- end -}}
