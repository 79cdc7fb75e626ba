{{/* SPDX-License-Identifier: GPL-2.0-or-later */}}

{{/*
slurm.conf.accounting: section of slurm.conf, with an empty line before it: slurmdbd, and what is gathered of jobs.
*/}}
{{- define "slurm.conf.accounting" -}}
{{- with .Values.accounting }}
{{- if .enabled }}

# Accounting
AccountingStorageType=accounting_storage/slurmdbd
{{- if .external }}
AccountingStorageHost={{ required "accounting.externalConfig.host: Required value: with accounting.external" .externalConfig.host }}
AccountingStoragePort={{ int .externalConfig.port }}
{{- else }}
AccountingStorageHost={{ include "slurm.accounting" $ }}
AccountingStoragePort=6819
{{- end }}
{{- with .enforce }}
AccountingStorageEnforce={{ join "," . }}
{{- end }}
# CPU time of tasks. Unprivileged pods have no access to control groups.
JobAcctGatherType=jobacct_gather/linux
{{- end }}
{{- end }}
{{- end -}}
