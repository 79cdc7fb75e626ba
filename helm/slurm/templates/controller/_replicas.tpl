{{/* SPDX-License-Identifier: GPL-2.0-or-later */}}

{{/*
slurm.controllerHosts: names of the controller's pods, as YAML. With two controllers each pod has a Service of its name.
*/}}
{{- define "slurm.controllerHosts" -}}
{{- if gt (int .Values.controller.replicas) 1 -}}
{{- if not (and .Values.controller.persistence.enabled .Values.controller.persistence.existingClaim) -}}
{{- fail "controller.persistence.existingClaim: Required value: with controller.replicas=2 both controllers need a ReadWriteMany claim for Slurm's state" -}}
{{- end -}}
{{- end -}}
{{- range $i := until (int .Values.controller.replicas) }}
- {{ include "slurm.controller" $ }}-{{ $i }}
{{- end }}
{{- end -}}

{{/*
slurm.electsLeader: "true" when the sidecars elect a leader by a lease.
*/}}
{{- define "slurm.electsLeader" -}}
{{- $election := .Values.controller.sidecar.leaderElection -}}
{{- or (eq $election "always") (and (eq $election "auto") (gt (int .Values.controller.replicas) 1)) -}}
{{- end -}}
