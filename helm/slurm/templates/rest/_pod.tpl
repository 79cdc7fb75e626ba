{{/* SPDX-License-Identifier: GPL-2.0-or-later */}}

{{/*
slurm.restArgs: arguments of slurmrestd, as YAML. It takes tokens only: without -a it would also take its own user for the
caller's.
*/}}
{{- define "slurm.restArgs" -}}
{{- toYaml (concat (list "-a" "rest_auth/jwt" "-s" "openapi/slurmctld,openapi/slurmdbd") .Values.rest.args (list "0.0.0.0:6820")) -}}
{{- end -}}
