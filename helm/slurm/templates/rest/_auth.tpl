{{/* SPDX-License-Identifier: GPL-2.0-or-later */}}

{{/*
slurm.authAlt: lines of slurm.conf and slurmdbd.conf, with a newline before them: tokens are accepted beside Slurm's key.
*/}}
{{- define "slurm.authAlt" -}}
{{- if eq (include "slurm.hasRest" .) "true" }}
{{- $parameters := list "jwt_key=/etc/slurm-jwt/jwt_hs256.key" }}
{{- if .Values.rest.jwks.existingConfigMap }}{{ $parameters = append $parameters "jwks=/etc/slurm-jwt/jwks.json" }}{{ end }}
AuthAltTypes=auth/jwt
AuthAltParameters={{ join "," (concat $parameters .Values.rest.authAltParameters) }}
{{- end }}
{{- end -}}

{{/*
slurm.jwtMount, slurm.jwtVolume: the keys with which slurmctld and slurmdbd verify tokens.
*/}}
{{- define "slurm.jwtMount" -}}
- {name: jwt, mountPath: /etc/slurm-jwt, readOnly: true}
{{- end -}}
{{- define "slurm.jwtVolume" -}}
- name: jwt
  projected:
    sources:
      - secret:
          name: {{ include "slurm.jwtSecret" . }}
          # fsGroup adds read permission for the group. Slurm refuses a key that others can read.
          items: [{key: jwt_hs256.key, path: jwt_hs256.key, mode: 0400}]
      {{- with .Values.rest.jwks.existingConfigMap }}
      - configMap: {name: {{ . }}, items: [{key: jwks.json, path: jwks.json, mode: 0444}]}
      {{- end }}
{{- end -}}
