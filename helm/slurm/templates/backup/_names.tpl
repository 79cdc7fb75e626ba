{{/* SPDX-License-Identifier: GPL-2.0-or-later */}}

{{/*
slurm.backup: name of the objects of backups.
*/}}
{{- define "slurm.backup" -}}{{ include "slurm.fullname" . }}-backup{{- end -}}

{{/*
slurm.hasBackup: "true" when the release makes backups.
*/}}
{{- define "slurm.hasBackup" -}}
{{- if and .Values.backup.enabled .Values.controller.external -}}
{{- fail "backup.enabled: Forbidden: with controller.external slurmctld's state is not in this release" -}}
{{- end -}}
{{- if and .Values.backup.enabled (not .Values.controller.persistence.enabled) -}}
{{- fail "backup.enabled: Forbidden: without controller.persistence.enabled slurmctld's state is in its pod alone" -}}
{{- end -}}
{{- if and .Values.backup.enabled (has "ReadWriteOncePod" .Values.controller.persistence.accessModes) -}}
{{- fail "backup.enabled: Forbidden: with ReadWriteOncePod in controller.persistence.accessModes only slurmctld's pod can have its state" -}}
{{- end -}}
{{- .Values.backup.enabled -}}
{{- end -}}

{{/*
slurm.backupClaim: name of the claim with the archives.
*/}}
{{- define "slurm.backupClaim" -}}
{{- default (include "slurm.backup" .) .Values.backup.persistence.existingClaim -}}
{{- end -}}

{{/*
slurm.stateClaim: name of the claim with slurmctld's state.
*/}}
{{- define "slurm.stateClaim" -}}
{{- default (printf "state-%s-0" (include "slurm.controller" .)) .Values.controller.persistence.existingClaim -}}
{{- end -}}

{{/*
slurm.backupSelector: labels that select pods of backups and restores.
*/}}
{{- define "slurm.backupSelector" -}}
app.kubernetes.io/name: slurm-backup
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end -}}
