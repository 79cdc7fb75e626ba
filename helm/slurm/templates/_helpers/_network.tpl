{{/* SPDX-License-Identifier: GPL-2.0-or-later */}}

{{/*
slurm.nodeSelector: labels of the nodes' pods, which the engine makes.
*/}}
{{- define "slurm.nodeSelector" -}}
app.kubernetes.io/name: slurmd
app.kubernetes.io/managed-by: slurm-k8s
{{- end -}}

{{/*
slurm.ownPeers: peers of NetworkPolicies that belong to this Slurm cluster, as YAML: its pods, and the pods from which
users submit jobs.
*/}}
{{- define "slurm.ownPeers" -}}
- podSelector:
    matchLabels:
      {{- include "slurm.nodeSelector" . | nindent 6 }}
- podSelector:
    matchLabels:
      {{- include "slurm.controllerSelector" . | nindent 6 }}
- podSelector:
    matchLabels:
      slurm-k8s.io/client: "true"
{{- with .Values.networkPolicy.clients }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/*
slurm.addresses (list CIDRS IPV6): the CIDRs of one address family, as YAML; IPV6 is true or false.
*/}}
{{- define "slurm.addresses" -}}
{{- $found := list -}}
{{- range $cidr := index . 0 }}{{ if eq (contains ":" $cidr) (index $ 1) }}{{ $found = append $found $cidr }}{{ end }}{{ end -}}
{{- toYaml $found -}}
{{- end -}}

{{/*
slurm.dnsPorts: the ports of networkPolicy.dnsPorts, as ports of a NetworkPolicy in YAML. Never none, also with the values
of a former chart: no ports would be all ports.
*/}}
{{- define "slurm.dnsPorts" -}}
{{- range .Values.networkPolicy.dnsPorts | default (list 53 5353) }}
- {port: {{ int . }}, protocol: UDP}
- {port: {{ int . }}, protocol: TCP}
{{- end }}
{{- end -}}

{{/*
slurm.srunPorts: the ports of slurm.srunPortRange, as a port of a NetworkPolicy in JSON.
*/}}
{{- define "slurm.srunPorts" -}}
{{- $ports := .Values.slurm.srunPortRange | splitList "-" -}}
{{- dict "port" (first $ports | int) "endPort" (last $ports | int) | toJson -}}
{{- end -}}

{{/*
slurm.userEgress: what pods with users' processes may connect to, as egress rules of a NetworkPolicy in YAML.
*/}}
{{- define "slurm.userEgress" -}}
{{- with .Values.networkPolicy.blockedFromNodes }}
# DNS servers are allowed at any address, blocked ones included.
- ports:
    {{- include "slurm.dnsPorts" $ | trim | nindent 4 }}
# Not every network plugin matches pods by ipBlock.
- to:
    - namespaceSelector: {}
    - ipBlock:
        cidr: 0.0.0.0/0
        {{- with include "slurm.addresses" (list . false) | fromYamlArray }}
        except: {{ toJson . }}
        {{- end }}
    - ipBlock:
        cidr: ::/0
        {{- with include "slurm.addresses" (list . true) | fromYamlArray }}
        except: {{ toJson . }}
        {{- end }}
{{- else }}
- {}
{{- end }}
{{- end -}}
