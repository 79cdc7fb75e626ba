{{/* SPDX-License-Identifier: GPL-2.0-or-later */}}

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
