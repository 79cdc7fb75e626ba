{{/* SPDX-License-Identifier: GPL-2.0-or-later */}}

{{/*
slurm.hasAdmissionPolicies: "true" where Kubernetes has ValidatingAdmissionPolicies. Without a cluster (helm template) the
API versions are unknown, and the Kubernetes version decides.
*/}}
{{- define "slurm.hasAdmissionPolicies" -}}
{{- $api := .Capabilities.APIVersions -}}
{{- ternary ($api.Has "admissionregistration.k8s.io/v1/ValidatingAdmissionPolicy")
  (semverCompare ">=1.30.0-0" .Capabilities.KubeVersion.Version) ($api.Has "v1/Pod") -}}
{{- end -}}
