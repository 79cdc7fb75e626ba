{{/* SPDX-License-Identifier: GPL-2.0-or-later */}}

{{/*
slurm.bridgeLabel (list ROOT OBJECT): whether a pod has the label of the bridge, as a CEL expression; OBJECT is object or
oldObject. kube-scheduler binds such pods.
*/}}
{{- define "slurm.bridgeLabel" -}}
{{- $scheduler := (index . 0).Values.bridge.schedulerName | squote -}}
{{- printf "(has(%[1]s.metadata.labels) && %[1]s.metadata.labels[?'slurm-k8s.io/bridge'] == optional.of(%[2]s))" (index . 1) $scheduler -}}
{{- end -}}
