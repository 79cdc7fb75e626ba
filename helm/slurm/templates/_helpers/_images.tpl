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

{{/*
slurm.image (list CONTEXT NAME IMAGE): an image's reference. A field that IMAGE does not set is that of image NAME of
this project: images.registry/NAME and images.tag.
*/}}
{{- define "slurm.image" -}}
{{- $root := index . 0 -}}
{{- $name := index . 1 -}}
{{- $image := default dict (index . 2) -}}
{{- $repository := default (printf "%s/%s" $root.Values.images.registry $name) $image.repository -}}
{{- if $image.digest -}}
{{- printf "%s@%s" $repository $image.digest -}}
{{- else -}}
{{- printf "%s:%s" $repository (include "slurm.text" (default $root.Values.images.tag $image.tag)) -}}
{{- end -}}
{{- end -}}
