{{/* SPDX-License-Identifier: GPL-2.0-or-later */}}

{{/*
slurm.backupPod (list CONTEXT DEFAULTS): fields of the spec of a backup's pod, without containers and volumes, as YAML.
DEFAULTS are further fields. backup.podSpec is merged over them. A node selector or tolerations that it
lacks are the controller's: most volumes of its state can be mounted on its Kubernetes node alone.
*/}}
{{- define "slurm.backupPod" -}}
{{- $root := index . 0 -}}
{{- $pod := include "slurm.accountingPod" (list $root 401) | fromYaml -}}
{{- $place := dict -}}
{{- range $field := list "nodeSelector" "tolerations" -}}
{{- if and (hasKey $root.Values.controller.podSpec $field) (not (hasKey $root.Values.backup.podSpec $field)) -}}
{{- $_ := set $place $field (get $root.Values.controller.podSpec $field | deepCopy) -}}
{{- end -}}
{{- end -}}
{{- mergeOverwrite $pod $place (dict "restartPolicy" "Never") (index . 1) (omit $root.Values.backup.podSpec "volumes") | toYaml -}}
{{- end -}}

{{/*
slurm.backupAffinity: affinity of a pod that has the volume of slurmctld's state while slurmctld has it. Most volumes can
be mounted on one Kubernetes node at a time.
*/}}
{{- define "slurm.backupAffinity" -}}
{{- if not (has "ReadWriteMany" .Values.controller.persistence.accessModes) -}}
affinity:
  podAffinity:
    requiredDuringSchedulingIgnoredDuringExecution:
      - topologyKey: kubernetes.io/hostname
        labelSelector:
          matchLabels:
            {{- include "slurm.controllerSelector" . | nindent 12 }}
{{- end -}}
{{- end -}}

{{/*
slurm.backupContainer (list CONTEXT STEP): a container that does a step of slurm-k8s-archive, with env as the last field.
*/}}
{{- define "slurm.backupContainer" -}}
{{- $root := index . 0 -}}
{{- $step := index . 1 -}}
{{- $name := ternary "mariadb" "slurmctld" (hasSuffix "-database" $step) -}}
{{- $image := ternary $root.Values.accounting.mariadb.image $root.Values.controller.slurmctld.image (eq $name "mariadb") -}}
name: {{ $step }}
image: {{ include "slurm.image" (list $root $name $image) | quote }}
imagePullPolicy: {{ $root.Values.imagePullPolicy }}
command: [tini, --, slurm-k8s-archive, {{ $step }}]
{{- with $root.Values.backup.resources }}
resources:
  {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  {{- include "slurm.restricted" $root | nindent 2 }}
volumeMounts:
  - {name: backups, mountPath: /var/backups/slurm}
  - {name: run, mountPath: /run/slurm-k8s-backup}
  - {name: tmp, mountPath: /tmp}
  {{- if eq $name "slurmctld" }}
  - {name: state, mountPath: /var/spool/slurmctld{{ if eq $step "save-state" "pack" }}, readOnly: true{{ end }}}
  {{- else }}
  - {name: database, mountPath: /run/slurm-k8s/database, readOnly: true}
  {{- if $root.Values.backup.clientConf }}
  - {name: client, mountPath: /run/slurm-k8s/client, readOnly: true}
  {{- end }}
  {{- with $root.Values.backup.volumeMounts }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
  {{- end }}
env:
  - {name: CLUSTER, value: {{ default $root.Release.Name $root.Values.clusterName | quote }}}
  - {name: CHART, value: {{ $root.Chart.Version | quote }}}
  {{- if eq (include "slurm.hasSlurmdbd" $root) "true" }}
  {{- $storage := $root.Values.accounting.storageConfig }}
  - {name: DATABASE, value: {{ $storage.database | quote }}}
  - {name: DATABASE_HOST, value: {{ default (include "slurm.mariadb" $root) $storage.host | quote }}}
  - {name: DATABASE_PORT, value: {{ int $storage.port | quote }}}
  - {name: DATABASE_USER, value: {{ $storage.username | quote }}}
  {{- end }}
{{- end -}}

{{/*
slurm.backupVolumes: volumes of a backup's and a restore's pod.
*/}}
{{- define "slurm.backupVolumes" -}}
- name: backups
  persistentVolumeClaim: {claimName: {{ include "slurm.backupClaim" . }}}
- name: state
  persistentVolumeClaim: {claimName: {{ include "slurm.stateClaim" . }}}
# my.cnf with the password, never on a disk
- name: run
  emptyDir: {medium: Memory, sizeLimit: 1Mi}
- name: tmp
  emptyDir: {}
{{- if eq (include "slurm.hasSlurmdbd" .) "true" }}
- name: database
  secret:
    secretName: {{ include "slurm.databaseSecret" . }}
    items: [{key: {{ .Values.accounting.storageConfig.passwordKeyRef.key }}, path: password, mode: 0400}]
{{- end }}
{{- if .Values.backup.clientConf }}
- name: client
  configMap: {name: {{ include "slurm.backup" . }}}
{{- end }}
{{- with .Values.backup.podSpec.volumes }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/*
slurm.backupMetadata: labels and annotations of the pods, as YAML.
*/}}
{{- define "slurm.backupMetadata" -}}
labels:
  {{- include "slurm.backupSelector" . | nindent 2 }}
  {{- with .Values.backup.metadata.labels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with .Values.backup.metadata.annotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/*
slurm.restoreEnv: variables of a restore's containers. slurm-k8s-backup sets the first three.
*/}}
{{- define "slurm.restoreEnv" -}}
- {name: ARCHIVE, value: ""}
- {name: PART, value: all}
- {name: FIRST_JOB_ID, value: "0"}
- {name: CONTROLLER, value: "{{ include "slurm.controller" . }}:6817"}
{{- end -}}
