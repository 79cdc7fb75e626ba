{{/* SPDX-License-Identifier: GPL-2.0-or-later */}}

{{/*
slurm.kept: what `helm uninstall` keeps of this release, as YAML: a list of kind/name. A claim of a StatefulSet, and a Secret
that the chart created once (helm.sh/resource-policy: keep).
*/}}
{{- define "slurm.kept" -}}
{{- $values := .Values -}}
{{- $state := $values.controller.persistence -}}
{{- if and (not $values.controller.external) $state.enabled (not $state.existingClaim) }}
- persistentvolumeclaim/{{ include "slurm.stateClaim" . }}
{{- end }}
{{- $data := $values.accounting.mariadb.persistence -}}
{{- if and (eq (include "slurm.hasMariadb" .) "true") $data.enabled (not $data.existingClaim) }}
- persistentvolumeclaim/data-{{ include "slurm.mariadb" . }}-0
{{- end }}
{{- if and (eq (include "slurm.hasBackup" .) "true") (not $values.backup.persistence.existingClaim) }}
- persistentvolumeclaim/{{ include "slurm.backupClaim" . }}
{{- end }}
{{- if not $values.slurmKey.existingSecret }}
- secret/{{ include "slurm.keySecret" . }}
{{- end }}
{{- if and (eq (include "slurm.hasMariadb" .) "true") (not $values.accounting.storageConfig.passwordKeyRef.name) }}
- secret/{{ include "slurm.databaseSecret" . }}
{{- end }}
{{- if and (eq (include "slurm.hasLogin" .) "true") (not $values.login.hostKeys.existingSecret) }}
- secret/{{ include "slurm.hostKeysSecret" . }}
{{- end }}
{{- if and (eq (include "slurm.hasRest" .) "true") (not $values.rest.jwtKey.existingSecret) }}
- secret/{{ include "slurm.jwtSecret" . }}
{{- end }}
{{- end -}}
