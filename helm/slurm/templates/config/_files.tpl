{{/* SPDX-License-Identifier: GPL-2.0-or-later */}}

{{/*
slurm.defaultFiles: the files of /etc/slurm that configFiles can replace, as YAML.
*/}}
{{- define "slurm.defaultFiles" -}}
cgroup.conf: |
  {{- if eq (include "slurm.isBefore" (list . "24.05")) "true" }}
  # slurmd requires a plugin. This one has no effect unless another plugin uses it.
  CgroupPlugin=cgroup/v1
  {{- else if eq (include "slurm.confinesJobs" .) "true" }}
  # Another file in each pod, by the confinement of its NodeSet (images/slurmd/confinement.sh).
  Include /run/slurm-k8s/cgroup.conf
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

{{/*
slurm.configData: the files of /etc/slurm, as a ConfigMap's data.
*/}}
{{- define "slurm.configData" -}}
{{- $files := merge (deepCopy .Values.configFiles) (include "slurm.defaultFiles" . | fromYaml) -}}
{{- $_ := set $files "gres.conf" (include "slurm.gresConf" .) -}}
slurm.conf: |
  {{- include "slurm.conf" . | nindent 2 }}
slurm-k8s.conf: |
  {{- include "slurm.k8sConf" . | nindent 2 }}
{{- range $name, $text := $files }}
{{ $name }}: |2
  {{- $text | trimSuffix "\n" | nindent 2 }}
{{- end }}
{{- end -}}

{{/*
slurm.configHash: short hash of them.
*/}}
{{- define "slurm.configHash" -}}
{{- include "slurm.configData" . | sha256sum | trunc 12 -}}
{{- end -}}
