{{/* SPDX-License-Identifier: GPL-2.0-or-later */}}

{{/*
slurm.hasBridge: "true" when the controller's pod has the bridge.
*/}}
{{- define "slurm.hasBridge" -}}
{{- if and .Values.bridge.enabled .Values.controller.external -}}
{{- fail "bridge.enabled: Forbidden: with controller.external the bridge runs beside that slurmctld" -}}
{{- end -}}
{{- .Values.bridge.enabled -}}
{{- end -}}

{{/*
slurm.bridge: name of the bridge's objects.
*/}}
{{- define "slurm.bridge" -}}{{ include "slurm.fullname" . }}-bridge{{- end -}}

{{/*
slurm.bridgeElectsLeader: "true" when one of several bridges acts.
*/}}
{{- define "slurm.bridgeElectsLeader" -}}
{{- and (eq (include "slurm.hasBridge" .) "true") (gt (include "slurm.controllerHosts" . | fromYamlArray | len) 1) -}}
{{- end -}}

{{/*
slurm.bridgeContainer: container `bridge` of the controller's pod.
*/}}
{{- define "slurm.bridgeContainer" -}}
{{- $bridge := .Values.bridge -}}
{{- $alive := "/run/slurm-k8s-bridge.alive" -}}
{{- $elects := eq (include "slurm.bridgeElectsLeader" .) "true" -}}
- name: bridge
  image: {{ include "slurm.image" (list . "sidecar" $bridge.image) | quote }}
  imagePullPolicy: {{ .Values.imagePullPolicy }}
  command: [slurm-k8s-bridge]
  args:
    - --users
    - /etc/slurm-k8s-bridge/users.yaml
    - --scheduler-name
    - {{ $bridge.schedulerName | quote }}
    - --max-grace-period={{ int (default 300 $bridge.maxGracePeriodSeconds) }}
    - --liveness-file
    - {{ $alive }}
    {{- if $elects }}
    - --leader-elect
    - --leader-elect-identity=$(POD_NAME)_$(POD_UID)
    {{- end }}
    {{- with $bridge.args }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- if $elects }}
  # The pod holds the lease: a restarted container continues without waiting.
  env:
    - {name: POD_NAME, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
    - {name: POD_UID, valueFrom: {fieldRef: {fieldPath: metadata.uid}}}
  {{- end }}
  ports:
    - {name: bridge-metrics, containerPort: 9101}
  # Not a readiness probe: slurmctld is ready without the bridge.
  livenessProbe:
    exec: {command: [slurm-k8s-bridge, --check-liveness, {{ $alive }}]}
    initialDelaySeconds: 30
    periodSeconds: 30
    timeoutSeconds: 10
    failureThreshold: 3
  {{- with $bridge.resources }}
  resources:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  securityContext:
    {{- include "slurm.restricted" . | nindent 4 }}
  volumeMounts:
    # Without slurm.key: slurmctld signs the bridge's messages, by its socket in /run/slurmctld.
    - {name: config, mountPath: /etc/slurm, readOnly: true}
    - {name: bridge, mountPath: /etc/slurm-k8s-bridge, readOnly: true}
    - {name: run, mountPath: /run}
    - {name: token, mountPath: /var/run/secrets/kubernetes.io/serviceaccount, readOnly: true}
{{- end -}}
