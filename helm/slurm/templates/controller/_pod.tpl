{{/* SPDX-License-Identifier: GPL-2.0-or-later */}}
{{/*
slurm.controllerPod: fields of the spec of the controller's pod, without containers and volumes. controller.podSpec is
merged over them.
*/}}
{{- define "slurm.controllerPod" -}}
{{- include "slurm.podDefaults" . }}
serviceAccountName: {{ include "slurm.controller" . }}
# The containers that need the token mount it themselves.
automountServiceAccountToken: false
enableServiceLinks: false
# slurmctld saves its state when it terminates.
terminationGracePeriodSeconds: 60
hostAliases:
  # At start slurmctld resolves the address it listens on. It must not wait for a DNS server.
  - ip: 0.0.0.0
    hostnames: [any.invalid]
{{- if eq (int .Values.controller.replicas) 1 }}
  # Connections of the pod to its own Service stay in the pod: slurmctld connects to srun at srun's source address.
  - ip: 127.0.0.1
    hostnames: [{{ include "slurm.controller" . }}]
{{- else }}
# With two controllers a pod's name is its own address. Two controllers on one Kubernetes node would fail together.
affinity:
  podAntiAffinity:
    preferredDuringSchedulingIgnoredDuringExecution:
      - weight: 100
        podAffinityTerm:
          topologyKey: kubernetes.io/hostname
          labelSelector:
            matchLabels:
              {{- include "slurm.controllerSelector" . | nindent 14 }}
{{- end }}
# slurmctld resolves nodes by their short names.
dnsConfig:
  searches: [{{ include "slurm.nodeService" . }}.{{ .Release.Namespace }}.svc.{{ .Values.clusterDomain }}]
  # Give up on an unresponsive DNS server after 2 s, not 10.
  options: [{name: timeout, value: "1"}, {name: attempts, value: "2"}]
securityContext:
  runAsUser: 401
  runAsGroup: 401
  runAsNonRoot: true
  fsGroup: 401
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: {type: RuntimeDefault}
{{- end -}}

{{/*
slurm.controllerHasHome: "true" when the controller mounts sharedHome, for those who submit there. Not where users log in:
by the pod's fsGroup the kubelet changes group and mode of all files of such a volume, if its driver lets it.
*/}}
{{- define "slurm.controllerHasHome" -}}
{{- and (ne .Values.sharedHome.existingClaim "") (not .Values.login.enabled) -}}
{{- end -}}

{{/*
slurm.controllerScratch: what slurmctld's container can write besides its volumes, as a dict of mount paths by volume.
Where the site mounts a volume of its own, there is no other.
*/}}
{{- define "slurm.controllerScratch" -}}
{{- $taken := list -}}
{{- range .Values.controller.slurmctld.volumeMounts }}{{ $taken = append $taken (trimSuffix "/" .mountPath) }}{{ end -}}
{{- if eq (include "slurm.controllerHasHome" .) "true" }}{{ $taken = append $taken (trimSuffix "/" .Values.sharedHome.mountPath) }}{{ end -}}
{{- if not (has "/tmp" $taken) }}
slurmctld-tmp: /tmp
{{- end }}
{{- if not (or (has "/home" $taken) (has "/home/slurm" $taken)) }}
slurmctld-home: /home/slurm
{{- end }}
{{- end -}}

{{/*
slurm.controllerHasUsers: "true" when slurmctld gets the users of the release. Without a directory a Secret of the site's
own is for REST alone: a file without a last newline would take all memory of slurmctld (images/slurm-auth.sh).
*/}}
{{- define "slurm.controllerHasUsers" -}}
{{- $rest := eq (include "slurm.hasRest" .) "true" -}}
{{- $own := and (eq (include "slurm.hasLogin" .) "true") (not .Values.login.users.existingSecret) -}}
{{- $taken := false -}}
{{- range .Values.controller.slurmctld.volumeMounts -}}
{{- if eq (trimSuffix "/" .mountPath) "/var/lib/extrausers" }}{{ $taken = true }}{{ end -}}
{{- end -}}
{{- and (or $rest $own (eq (include "slurm.copiesUsers" .) "true")) (not $taken) -}}
{{- end -}}

{{/*
slurm.controllerCopiesUsers: "true" when those of an LDAP directory are among them.
*/}}
{{- define "slurm.controllerCopiesUsers" -}}
{{- and (eq (include "slurm.controllerHasUsers" .) "true") (eq (include "slurm.copiesUsers" .) "true") -}}
{{- end -}}

{{/*
slurm.configContainer: fields of the containers that try a configuration, with volumeMounts as the last. They have neither
Slurm's key nor a token.
*/}}
{{- define "slurm.configContainer" -}}
{{- with .Values.controller.configPush.resources }}
resources:
  {{- toYaml . | nindent 2 }}
{{- end }}
env:
  # A second controller's pod is deleted by it, when others are kept than the files that it started with.
  - {name: POD_UID, valueFrom: {fieldRef: {fieldPath: metadata.uid}}}
securityContext:
  {{- include "slurm.restricted" . | nindent 2 }}
volumeMounts:
  - {name: config, mountPath: /etc/slurm}
  - {name: state, mountPath: /var/spool/slurmctld}
  - {name: trial, mountPath: /run}
  {{- if eq (include "slurm.controllerHasUsers" .) "true" }}
  {{- include "slurm.usersMount" . | nindent 2 }}
  {{- end }}
{{- end -}}
