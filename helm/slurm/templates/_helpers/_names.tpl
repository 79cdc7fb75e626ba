{{/* SPDX-License-Identifier: GPL-2.0-or-later */}}
{{/*
Names, labels and images.
*/}}

{{- define "slurm.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" -}}
{{- else if contains $name .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "slurm.controller" -}}{{ include "slurm.fullname" . }}-controller{{- end -}}
{{/*
slurm.controllerHosts: names of the controllers' pods, which are also those of the services before them, as YAML.
*/}}
{{- define "slurm.controllerHosts" -}}
{{- if gt (int .Values.controller.replicas) 1 -}}
{{- if not (and .Values.controller.persistence.enabled .Values.controller.persistence.existingClaim) -}}
{{- fail "controller.replicas 2: controller.persistence.existingClaim must name a ReadWriteMany claim, in which both controllers keep Slurm's state" -}}
{{- end -}}
{{- end -}}
{{- range $i := until (int .Values.controller.replicas) }}
- {{ include "slurm.controller" $ }}-{{ $i }}
{{- end }}
{{- end -}}

{{- define "slurm.config" -}}{{ include "slurm.fullname" . }}-config{{- end -}}
{{- define "slurm.nodeService" -}}{{ include "slurm.fullname" . }}-nodes{{- end -}}

{{- define "slurm.keySecret" -}}
{{- default (printf "%s-key" (include "slurm.fullname" .)) .Values.slurmKey.existingSecret -}}
{{- end -}}

{{- define "slurm.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{- define "slurm.controllerSelector" -}}
app.kubernetes.io/name: slurmctld
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{/*
slurm.image (list CONTEXT NAME IMAGE): IMAGE's repository, tag and digest, else those of images/NAME of this project.
*/}}
{{- define "slurm.image" -}}
{{- $root := index . 0 -}}
{{- $name := index . 1 -}}
{{- $image := default dict (index . 2) -}}
{{- $repository := default (printf "%s/%s" $root.Values.images.registry $name) $image.repository -}}
{{- if $image.digest -}}
{{- printf "%s@%s" $repository $image.digest -}}
{{- else -}}
{{- printf "%s:%s" $repository (default $root.Values.images.tag $image.tag | toString) -}}
{{- end -}}
{{- end -}}

{{/*
slurm.nodesets: the enabled ones with nodesetDefaults filled in, as YAML.
*/}}
{{- define "slurm.nodesets" -}}
{{- $nodesets := dict -}}
{{- range $name, $nodeset := .Values.nodesets -}}
{{- $nodeset = mergeOverwrite (deepCopy $.Values.nodesetDefaults) (default dict $nodeset) -}}
{{- if $nodeset.enabled -}}
{{- $_ := set $nodesets $name $nodeset -}}
{{- end -}}
{{- end -}}
{{- toYaml $nodesets -}}
{{- end -}}

{{/* "true" when the service account is to handle volume claims. */}}
{{- define "slurm.hasClaims" -}}
{{- $has := .Values.rbac.volumeClaims -}}
{{- range $name, $nodeset := include "slurm.nodesets" . | fromYaml -}}
{{- if $nodeset.volumeClaimTemplates }}{{ $has = true }}{{ end -}}
{{- end -}}
{{- $has -}}
{{- end -}}

{{/* Peers of NetworkPolicies that are part of this Slurm: its pods, and those from which users submit. */}}
{{- define "slurm.ownPeers" -}}
- podSelector:
    matchLabels:
      app.kubernetes.io/name: slurmd
- podSelector:
    matchLabels:
      {{- include "slurm.controllerSelector" . | nindent 6 }}
- podSelector:
    matchLabels:
      slurm-k8s.io/client: "true"
{{- with .Values.networkPolicy.clients }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* slurm.addresses (list CIDRS IPV6): those of that family, as YAML. */}}
{{- define "slurm.addresses" -}}
{{- $found := list -}}
{{- range $cidr := index . 0 }}{{ if eq (contains ":" $cidr) (index $ 1) }}{{ $found = append $found $cidr }}{{ end }}{{ end -}}
{{- toYaml $found -}}
{{- end -}}

{{/* "true" when a lease says which sidecar acts. */}}
{{- define "slurm.electsLeader" -}}
{{- $election := .Values.controller.sidecar.leaderElection -}}
{{- or (eq $election "always") (and (eq $election "auto") (gt (int .Values.controller.replicas) 1)) -}}
{{- end -}}
