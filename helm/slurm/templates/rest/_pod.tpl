{{/* SPDX-License-Identifier: GPL-2.0-or-later */}}

{{/*
slurm.restArgs: arguments of slurmrestd, as YAML. It takes tokens only: without -a it would also take its own user for the
caller's. Without slurmdbd it does not start with openapi/slurmdbd.
*/}}
{{- define "slurm.restArgs" -}}
{{- $parts := ternary "openapi/slurmctld,openapi/slurmdbd" "openapi/slurmctld" .Values.accounting.enabled -}}
{{- toYaml (concat (list "-a" "rest_auth/jwt" "-s" $parts) .Values.rest.args (list "0.0.0.0:6820")) -}}
{{- end -}}
