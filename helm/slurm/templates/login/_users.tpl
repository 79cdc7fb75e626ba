{{/* SPDX-License-Identifier: GPL-2.0-or-later */}}
{{/*
The users that Slurm's daemons know, as libnss-extrausers reads them: those that tokens, reservations, associations and
AllowGroups= name. With an LDAP directory a container copies its users: no daemon of Slurm waits for a directory.
*/}}

{{/*
slurm.copiesUsers: "true" when daemons get a copy of the users of an LDAP directory.
*/}}
{{- define "slurm.copiesUsers" -}}
{{- and (eq (include "slurm.hasUsers" .) "true") (eq (include "slurm.hasNslcd" .) "true") (gt (int .Values.login.nslcd.copyInterval) 0) -}}
{{- end -}}

{{/*
slurm.usersMount: what daemons mount.
*/}}
{{- define "slurm.usersMount" -}}
- {name: users, mountPath: /var/lib/extrausers, readOnly: true}
{{- end -}}

{{/*
slurm.usersVolume: volumes of usersMount and of usersContainer.
*/}}
{{- define "slurm.usersVolume" -}}
{{- $copies := eq (include "slurm.copiesUsers" .) "true" -}}
- name: {{ ternary "own-users" "users" $copies }}
  secret:
    secretName: {{ include "slurm.usersSecret" . }}
    # slurmctld starts without them, too.
    optional: true
    items: [{key: passwd, path: passwd, mode: 0444}, {key: group, path: group, mode: 0444}]
{{- if $copies }}
- name: users
  emptyDir: {sizeLimit: 64Mi}
{{ include "slurm.nslcdVolumes" . }}
{{- end }}
{{- end -}}

{{/*
slurm.usersContainer: the init container that copies users of the directory for as long as the pod runs. Daemons start
when it has done so once, or after 10 s without the directory.
*/}}
{{- define "slurm.usersContainer" -}}
{{- $login := .Values.login -}}
- name: users
  restartPolicy: Always
  image: {{ include "slurm.image" (list . "login" $login.image) | quote }}
  imagePullPolicy: {{ .Values.imagePullPolicy }}
  args: [users-entrypoint, --interval, {{ int $login.nslcd.copyInterval | quote }}, ldap, /run/slurm-k8s/users, /run/slurm-k8s/names]
  startupProbe:
    exec: {command: [test, -e, /run/slurm-k8s/names/passwd]}
    periodSeconds: 1
    failureThreshold: 60
  {{- with $login.nslcd.resources }}
  resources:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- include "slurm.nslcdUser" . | nindent 2 }}
  volumeMounts:
    - {name: own-users, mountPath: /run/slurm-k8s/users, readOnly: true}
    - {name: users, mountPath: /run/slurm-k8s/names}
    {{- include "slurm.nslcdMounts" . | nindent 4 }}
{{- end -}}

{{/*
slurm.daemonInitContainers (list CONTEXT PODSPEC): field initContainers of the pod of a daemon that has usersMount, and of
PODSPEC, which values may have.
*/}}
{{- define "slurm.daemonInitContainers" -}}
{{- $copies := eq (include "slurm.copiesUsers" (index . 0)) "true" -}}
{{- $own := (index . 1).initContainers -}}
{{- if or $copies $own -}}
initContainers:
  {{- if $copies }}
  {{- include "slurm.usersContainer" (index . 0) | nindent 2 }}
  {{- end }}
  {{- with $own }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end -}}
{{- end -}}
