{{/* SPDX-License-Identifier: GPL-2.0-or-later */}}
{{/*
nslcd, which asks an LDAP directory for users.
*/}}

{{/*
slurm.hasNslcd: "true" when there are users of an LDAP directory.
*/}}
{{- define "slurm.hasNslcd" -}}
{{- $nslcd := .Values.login.nslcd -}}
{{- or (ne $nslcd.conf "") (ne $nslcd.existingSecret "") -}}
{{- end -}}

{{/*
slurm.nslcdSecret: name of the Secret with nslcd.conf.
*/}}
{{- define "slurm.nslcdSecret" -}}
{{- default (printf "%s-nslcd" (include "slurm.login" .)) .Values.login.nslcd.existingSecret -}}
{{- end -}}

{{/*
slurm.nslcdUser: security context of a container with nslcd.
*/}}
{{- define "slurm.nslcdUser" -}}
securityContext:
  runAsUser: 403
  runAsGroup: 403
  runAsNonRoot: true
  {{- include "slurm.restricted" . | nindent 2 }}
{{- end -}}

{{/*
slurm.nslcdMounts, slurm.nslcdVolumes: its files, also the certificates that the Secret has. The complete nslcd.conf is in
memory.
*/}}
{{- define "slurm.nslcdMounts" -}}
- {name: nslcd, mountPath: /run/nslcd}
- {name: ldap, mountPath: /run/slurm-k8s/ldap, readOnly: true}
- {name: nslcd-conf, mountPath: /run/slurm-k8s/nslcd}
{{- end -}}
{{- define "slurm.nslcdVolumes" -}}
- name: nslcd
  emptyDir: {medium: Memory, sizeLimit: 1Mi}
- name: nslcd-conf
  emptyDir: {medium: Memory, sizeLimit: 1Mi}
- name: ldap
  secret:
    secretName: {{ include "slurm.nslcdSecret" . }}
    # Only the container with nslcd mounts it.
    defaultMode: 0444
{{- end -}}
