{{/* SPDX-License-Identifier: GPL-2.0-or-later */}}

{{/*
slurm.text VALUE: as it was written. Helm reads each number of a values file as a float64, and prints those from 1,000,000
on as 1e+06.
*/}}
{{- define "slurm.text" -}}
{{- if and (kindIs "float64" .) (eq (floor .) .) }}{{ int64 . }}{{ else }}{{ . }}{{ end -}}
{{- end -}}

{{/*
slurm.confLine (list KEY VALUE): a line of slurm.conf or slurmdbd.conf; values of a list are joined.
*/}}
{{- define "slurm.confLine" -}}
{{- $value := index . 1 -}}
{{- $words := list -}}
{{- range kindIs "slice" $value | ternary $value (list $value) }}{{ $words = append $words (include "slurm.text" .) }}{{ end -}}
{{ index . 0 }}={{ join "," $words }}
{{- end -}}
