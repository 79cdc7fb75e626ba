# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The chart as a whole: lint, comments, schema, Kubernetes versions.

# Every value of values.yaml has a comment that starts with `# --` above it, or above the section that it is in.
every_value_has_a_comment() {
  awk '
    /^ *# -- / { described = 1; next }
    /^ *(#|$)/ { next }
    {
      match($0, /^ */)
      if (inside && RLENGTH <= depth) inside = 0
      if (!inside && described && /:$/) { inside = 1; depth = RLENGTH }
      if (!inside && !described && !/:$/) { print NR ": " $0; bad = 1 }
      described = 0
    }
    END { exit bad }' "$CHART/values.yaml"
}

# Both templates name the server and the mount.
homes_are_everywhere() {
  local all
  all=$(render --values "$TOP/examples/nfs/values.yaml")
  (($(grep -c 'server: nfs.example.org' <<<"$all") == 2 && $(grep -c 'mountPath: /home$' <<<"$all") == 2))
}

check "helm lint" "$HELM" lint --strict --quiet "$CHART"
check "helm lint with the example's values" "$HELM" lint --strict --quiet "$CHART" --values "$TOP/examples/values.yaml"
check "NFS: helm lint with the example's values" "$HELM" lint --strict --quiet "$CHART" \
  --values "$TOP/examples/nfs/values.yaml"
check "NFS: login pods and nodes have the homes" homes_are_everywhere
check "every value has a comment" every_value_has_a_comment
check "nothing is fetched from a registry by default" lacks 'image: "?([^"l]|l[^o])'

check "unknown section" refused "additional properties 'nodeset'" --set nodeset.replicas=1
check "unknown value" refused "'/slurm': additional properties 'suspendtime'" --set slurm.suspendtime=1
check "negative replicas" refused "/nodesets/compute/replicas" --set nodesets.compute.replicas=-1
check "text as a number" refused "/slurm/resumeTimeout" --set slurm.resumeTimeout=soon
check "launchTimeout not greater than resumeTimeout" refused "slurm.launchTimeout: must be greater" \
  --set slurm.launchTimeout=300 --set slurm.resumeTimeout=300
check "requeueDelay below 5" refused "/slurm/requeueDelay" --set slurm.requeueDelay=4
check "invalid name of a NodeSet" refused "propertyName .Gpu" --set nodesets.Gpu.replicas=1
check "extraConf of two lines" refused "/nodesets/compute/extraConf" --set-string $'nodesets.compute.extraConf=A=1\nB=2'
check "slurm.conf in configFiles" refused "propertyName .slurm.conf" --set 'configFiles.slurm\.conf=x'
check "containers in controller.podSpec" refused "/controller/podSpec" --set controller.podSpec.containers=
check "invalid digest" refused "digest" --set controller.sidecar.image.digest=123

# YAML would take them for numbers, and the API server refuse the objects.
names_of_digits_are_quoted() {
  local text
  text=$("$HELM" template 2026 "$CHART" --namespace 12345 --set fullnameOverride=slurm \
    --set login.enabled=true,accounting.enabled=true,rest.enabled=true,backup.enabled=true,bridge.enabled=true \
    --set metrics.serviceMonitor.enabled=true,rest.tokens[0].user=a,rest.tokens[0].secret=a \
    --set-json 'bridge.users=[{"namespace":"a","uid":5,"gid":5}]' --set-string accounting.storageConfig.database=678)
  ! grep -nE '(: |\{)(2026|12345|678)\b' <<<"$text"
}
check "names of digits alone" names_of_digits_are_quoted
check "no memoryReserve" shows nodesets/nodesets '^  memoryReserve: 0$' --set nodesets.compute.memoryReserve=0
check "no memoryReserve: all memory is jobs'" has slurm.conf DefMemPerCPU=512 --set nodesets.compute.memoryReserve=0
check "an empty memoryReserve is the default" has slurm.conf DefMemPerCPU=480 --set nodesets.compute.memoryReserve=
check "a memoryReserve in bytes" shows nodesets/nodesets '^  memoryReserve: 67108864$' \
  --set nodesets.compute.memoryReserve=67108864
check "a file that begins with blanks" has nodes.conf "  NodeName=a" --set-string 'configFiles.nodes\.conf=  NodeName=a'

check "Kubernetes 1.28" refused 'incompatible with Kubernetes' --kube-version 1.28.9
check "Kubernetes 1.29" shows nodesets/nodesets 'kind: NodeSet' --kube-version 1.29.0

# NOTES.txt lists them, which `helm template` does not print.
kept() { # OPTION...
  local copy
  copy=$(mktemp -d)
  cp -r "$CHART" "$copy/slurm"
  printf 'kept: |\n  {{- include "slurm.kept" . | nindent 2 }}\n' >"$copy/slurm/templates/kept.yaml"
  CHART=$copy/slurm render --show-only templates/kept.yaml "$@" | sed -n 's/^ *- //p' | sort | paste -sd ' '
  rm -rf "$copy"
}
keeps() { # LIST OPTION...
  local found
  found=$(kept "${@:2}")
  [[ $found == "$1" ]] || { echo "$found"; return 1; }
}
check "what helm uninstall keeps" keeps "persistentvolumeclaim/state-slurm-controller-0 secret/slurm-key"
check "what it keeps with everything enabled" keeps "persistentvolumeclaim/data-slurm-mariadb-0\
 persistentvolumeclaim/slurm-backup persistentvolumeclaim/state-slurm-controller-0 secret/slurm-accounting\
 secret/slurm-jwt-key secret/slurm-key secret/slurm-login-host-keys" \
  --set accounting.enabled=true,backup.enabled=true,rest.enabled=true --set login.enabled=true \
  --set-string login.users.passwd=x --set sharedHome.existingClaim=home
check "it keeps nothing of others" keeps "" --set controller.persistence.existingClaim=mine,slurmKey.existingSecret=mine
each_kept_secret_is_marked() {
  local all
  all=(--set 'accounting.enabled=true,backup.enabled=true,rest.enabled=true,login.enabled=true'
    --set-string login.users.passwd=x --set sharedHome.existingClaim=home)
  [[ $(render "${all[@]}" | grep -c 'helm.sh/resource-policy: keep') == \
    $(kept "${all[@]}" | tr ' ' '\n' | grep -cE 'secret|slurm-backup') ]]
}
check "Helm keeps each Secret of the list, and no other object" each_kept_secret_is_marked
check "a name of 41 characters" shows controller/statefulset '^  name: a{41}-controller$' \
  --set "fullnameOverride=$(printf 'a%.0s' {1..41})"
check "a longer one" refused "fullnameOverride: a+: Too long: may not be more than 41 characters" \
  --set "fullnameOverride=$(printf 'a%.0s' {1..42})"
check "a longer one, for the CronJob of backups" refused "Too long: may not be more than 37 characters" \
  --set "fullnameOverride=$(printf 'a%.0s' {1..38}),backup.enabled=true"

check "extraObjects" shows extra_objects "^  name: 'slurm-x'$" \
  --set-json 'extraObjects=[{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"{{ .Release.Name }}-x"}}]'
check "extraObjects: without a kind" refused "extraObjects.*kind|kind.*extraObjects" \
  --set-json 'extraObjects=[{"apiVersion":"v1"}]'
