{{/* SPDX-License-Identifier: GPL-2.0-or-later */}}

{{/*
slurm.loginPod: fields of the spec of login pods, without containers and volumes. No fsGroup: it would change the group of
users' homes.
*/}}
{{- define "slurm.loginPod" -}}
{{- include "slurm.podDefaults" . }}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  seccompProfile: {type: RuntimeDefault}
{{- end -}}

{{/*
slurm.loginHome: "true" when homes are in the pod alone: no volume of the site is mounted at /home.
*/}}
{{- define "slurm.loginHome" -}}
{{- $home := .Values.sharedHome -}}
{{- $own := not (and $home.existingClaim (eq $home.mountPath "/home")) -}}
{{- range .Values.login.sshd.volumeMounts }}{{ if eq .mountPath "/home" }}{{ $own = false }}{{ end }}{{ end -}}
{{- $own -}}
{{- end -}}

{{/*
slurm.loginNames: volume mounts of the containers that look users up.
*/}}
{{- define "slurm.loginNames" -}}
- {name: users, mountPath: /run/slurm-k8s/users, readOnly: true}
{{- if eq (include "slurm.hasNslcd" .) "true" }}
- {name: nslcd, mountPath: /run/nslcd, readOnly: true}
{{- end }}
{{- end -}}
