#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What a real API server says to NodeSets that their definition (helm/slurm/crds) refuses: each line names the field and
# what is allowed, as `kubectl apply` shows it. Objects are only tried, but for those of the tests of a change. And the
# columns of `kubectl get`.
#
# The fake API server knows no schemas, so this is no part of `make check`. Prints TAP.
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: nodeset_schema.sh NAMESPACE
NAMESPACE must be there, and the server must have the definition. $KUBECTL is the command to use (default: kubectl).
TEXT
}

case ${1:-} in
  --help) usage; exit 0 ;;
  '' | -*) usage >&2; exit 2 ;;
esac
namespace=$1
top=$(cd "$(dirname "$0")/../.." && pwd)
read -ra kubectl <<<"${KUBECTL:-kubectl}"
number=0
failed=0

kube() { "${kubectl[@]}" --namespace "$namespace" "$@"; }

nodeset() { # NAME SPEC: in JSON
  printf '{"apiVersion":"slurm-k8s.io/v1alpha1","kind":"NodeSet","metadata":{"name":"%s"},"spec":%s}' "$1" "$2"
}

report() { # STATUS WHAT OUTPUT
  number=$((number + 1))
  if (($1 == 0)); then
    echo "ok $number - $2"
  else
    failed=$((failed + 1))
    echo "not ok $number - $2"
    printf '# %s\n' "${3//$'\n'/$'\n# '}"
  fi
}

# refused_object WHAT EXPECTED NAME SPEC: EXPECTED is a pattern of bash that must be somewhere in the message.
refused_object() {
  local output status=0
  if output=$(nodeset "$3" "$4" | kube create --dry-run=server --filename=- 2>&1); then
    status=1
  else
    # shellcheck disable=SC2053 # it is a pattern
    [[ $output == *$2* ]] || status=1
  fi
  report "$status" "$1" "$output"
}

size='"resources":{"limits":{"cpu":"2","memory":"1Gi"}}'
slurmd='"slurmd":{"image":"i",'$size'}'

refused() { refused_object "$1" "$2" bad "$3"; }
# The same of: members beside a good spec; members of slurmd; extraConf; template.spec; limits.
refused_with() { refused "$1" "$2" "{$slurmd,$3}"; }
refused_slurmd() { refused "$1" "$2" "{\"slurmd\":{\"image\":\"i\",$size,$3}}"; }
refused_extra() { refused_with "extraConf $2" "spec.extraConf: Invalid value: *$1" "\"extraConf\":\"$2\""; }
refused_pod() { refused_with "$1" "$2" "\"template\":{\"spec\":{$3}}"; }
refused_limits() { refused "limits $2" "spec.slurmd.resources*: $1" \
  "{\"slurmd\":{\"image\":\"i\",\"resources\":{\"limits\":$2}}}"; }

accepted() { # WHAT SPEC [NAME]
  local output status=0
  output=$(nodeset "${3:-good}" "$2" | kube create --dry-run=server --filename=- 2>&1) || status=1
  report "$status" "$1" "$output"
}

accepted_file() {
  local output status=0
  output=$(kube create --dry-run=server --filename="$1" 2>&1) || status=1
  report "$status" "$(basename "$1")" "$output"
}

# ---- the name, and numbers -------------------------------------------------------------------------------------------

name_rule="metadata.name: Invalid value: *[ab]: must be no more than 57 lower case alphanumeric characters*NAME-0"
refused_object "name of 58 characters" "$name_rule" "$(printf 'a%.0s' {1..58})" "{$slurmd}"
refused_object "name with a dot" "$name_rule" a.b "{$slurmd}"
accepted "name of 57 characters" "{$slurmd,\"replicas\":65536}" "$(printf 'a%.0s' {1..57})"
accepted "name that ends in a digit" "{$slurmd}" gpu-1
refused_with "replicas below 0" "spec.replicas: Invalid value: -1: *greater than or equal to 0" '"replicas":-1'
refused_with "replicas above Slurm's limit" "spec.replicas: Invalid value: 65537: *less than or equal to 65536" \
  '"replicas":65537'
refused_with "replicas that are no number" "spec.replicas: Invalid value: *integer" '"replicas":"many"'
# Variants.
patch='{"slurmd":{"image":"j","resources":{"limits":{"cpu":"2000m"}}},"template":{"spec":{"nodeSelector":{"gpu":"a"}}}}'
accepted "variants" \
  "{$slurmd,\"variants\":[{\"name\":\"cuda-12.4\",\"allowedUsers\":[\"alice\"],\"patch\":$patch},{\"name\":\"plain\"}]}"
refused_with "variant without a name" 'spec.variants\[0\].name: Required' '"variants":[{"patch":{}}]'
refused_with "variant with a bad name" 'spec.variants\[0\].name: Invalid value: "a b"' '"variants":[{"name":"a b"}]'
refused_with "two variants of one name" 'spec.variants\[1\]: Duplicate value' '"variants":[{"name":"a"},{"name":"a"}]'
refused_with "variant with another size" "spec.variants: Invalid value: *must equal the limits of the NodeSet" \
  '"variants":[{"name":"a","patch":{"slurmd":{"resources":{"limits":{"cpu":"4"}}}}}]'
refused_with "variant with a device" "spec.variants: Invalid value: *must equal the limits of the NodeSet" \
  '"variants":[{"name":"a","patch":{"slurmd":{"resources":{"limits":{"nvidia.com/gpu":1}}}}}]'
refused_with "variant that is a feature" "spec.variants: Invalid value: *must not be a feature in spec.extraConf" \
  '"extraConf":"Weight=1 Features=a100,a","variants":[{"name":"a"}]'
refused_with "ordinalPadding" "spec.ordinalPadding: Invalid value: 6: *less than or equal to 5" '"ordinalPadding":6'
refused_with "spareReplicas" "spec.spareReplicas: Invalid value: -1: *greater than or equal to 0" '"spareReplicas":-1'
refused_with "gresType" "spec.gresType: Invalid value: *must be a letter, then" '"gresType":"4090"'
refused_with "gresType of 64 characters" "spec.gresType: Too long" "\"gresType\":\"$(printf 'a%.0s' {1..64})\""
refused_with "gpuResource" "spec.gpuResource: Invalid value: *must be the name of an extended resource" \
  '"gpuResource":"gpu"'
refused_with "claimedGpus" "spec.claimedGpus: Invalid value: 257: *less than or equal to 256" '"claimedGpus":257'
refused_with "claimedGpus: -1" "spec.claimedGpus: Invalid value: -1: *greater than or equal to 0" '"claimedGpus":-1'
refused_with "bridgeDevices that are no GPUs" "spec.bridgeDevices: Invalid value: *must be nvidia.com/gpu" \
  '"bridgeDevices":{"nvidia.com/gpu":1,"rdma/hca":1}'
refused_with "bridgeDevices of two kinds" "spec.bridgeDevices: Invalid value: *may not have whole GPUs of two" \
  '"bridgeDevices":{"nvidia.com/gpu":1,"nvidia.com/mig-1g.10gb":1}'
for count in '"1500m"' -1 '"many"' '""'; do
  refused_with "bridgeDevices: $count" "spec.bridgeDevices: Invalid value: *must be numbers of GPUs" \
    '"bridgeDevices":{"nvidia.com/gpu":'"$count}"
done
refused_with "spareReplicas with scalingMode Always" \
  "spec.spareReplicas: Forbidden: may be set with scalingMode OnDemand only" '"scalingMode":"Always","spareReplicas":1'
window='"duration":"3h","replicas":4'
refused_with "spareSchedules with scalingMode Always" \
  "spec.spareSchedules: Forbidden: may be set with scalingMode OnDemand only" \
  '"scalingMode":"Always","spareSchedules":[{"start":"0 7 * * *",'"$window}]"
refused_with "spareSchedules without a start" 'spec.spareSchedules\[0\].start: Required value' \
  '"spareSchedules":[{'"$window}]"
refused_with "spareSchedules of four fields" \
  'spec.spareSchedules\[0\].start: Invalid value: *must be minute, hour' \
  '"spareSchedules":[{"start":"0 7 * *",'"$window}]"
refused_with "spareSchedules for seconds" \
  'spec.spareSchedules\[0\].duration: Invalid value: *must be hours and minutes' \
  '"spareSchedules":[{"start":"0 7 * * *","duration":"90s","replicas":4}]'
refused_with "spareSchedules for more than a week" \
  'spec.spareSchedules\[0\].duration: Invalid value: *from 1m to 168h' \
  '"spareSchedules":[{"start":"0 7 * * *","duration":"168h1m","replicas":4}]'
refused_with "spareSchedules of no nodes" \
  'spec.spareSchedules\[0\].replicas: Invalid value: 0: *greater than or equal' \
  '"spareSchedules":[{"start":"0 7 * * *","duration":"3h","replicas":0}]'
refused_with "spareSchedules of an unknown variant" \
  'spec.spareSchedules: Invalid value: *variant: must be the name of a variant of the NodeSet' \
  '"variants":[{"name":"a"}],"spareSchedules":[{"start":"0 7 * * *","variant":"b",'"$window}]"
refused_with "spareReplicas of a variant with scalingMode Always" \
  'spec.variants: Forbidden: spareReplicas: may be set with scalingMode OnDemand only' \
  '"scalingMode":"Always","variants":[{"name":"a","spareReplicas":1}]'
refused_with "spareSchedules in no time zone" \
  'spec.spareSchedules\[0\].timeZone: Invalid value: *name of a time zone' \
  '"spareSchedules":[{"start":"0 7 * * *","timeZone":"../x",'"$window}]"
refused_with "unschedulableGracePeriodSeconds" "spec.unschedulableGracePeriodSeconds: Invalid value: 86401: *86400" \
  '"unschedulableGracePeriodSeconds":86401'
refused_with "workloadDisruptionProtection" 'spec.workloadDisruptionProtection: Invalid value: *boolean' \
  '"workloadDisruptionProtection":"yes"'
refused_with "scalingMode" \
  'spec.scalingMode: Unsupported value: "StatefulSet": supported values: "OnDemand", "Always", "DaemonSet", "Exter*' \
  '"scalingMode":"StatefulSet"'
accepted "scalingMode DaemonSet" "{$slurmd,\"scalingMode\":\"DaemonSet\"}"
refused_with "replicas with scalingMode DaemonSet" \
  "spec.replicas: Forbidden: may not be set with scalingMode DaemonSet" '"scalingMode":"DaemonSet","replicas":3'
refused_with "pinToNode with scalingMode DaemonSet" \
  "spec.pinToNode: Forbidden: may not be set with scalingMode DaemonSet" '"scalingMode":"DaemonSet","pinToNode":true'
accepted "scalingMode External, without an image" \
  '{"slurmd":{"resources":{"limits":{"cpu":"2","memory":"1Gi"}}},"scalingMode":"External"}'
accepted "scalingMode External, without limits" '{"slurmd":{},"scalingMode":"External"}'
accepted "scalingMode External, with one limit" \
  '{"slurmd":{"resources":{"limits":{"memory":"1Gi"}}},"scalingMode":"External"}'
refused "scalingMode External, with a limit of 0" \
  "spec.slurmd.resources*: Invalid value: *cpu: must be greater than 0" \
  '{"slurmd":{"resources":{"limits":{"cpu":0}}},"scalingMode":"External"}'
refused "scalingMode DaemonSet, without limits" "spec.slurmd.resources*: Required value: limits.cpu" \
  '{"slurmd":{"image":"i"},"scalingMode":"DaemonSet"}'
refused_with "replicas with scalingMode External" \
  "spec.replicas: Forbidden: may not be set with scalingMode DaemonSet or External" \
  '"scalingMode":"External","replicas":3'
refused_with "pinToNode with scalingMode External" \
  "spec.pinToNode: Forbidden: may not be set with scalingMode DaemonSet or External" \
  '"scalingMode":"External","pinToNode":true'
refused_with "variants with scalingMode External" \
  "spec.variants: Forbidden: may not be set with scalingMode External" \
  '"scalingMode":"External","variants":[{"name":"v","patch":{}}]'
refused_with "volumeClaimTemplates with scalingMode External" \
  "spec.volumeClaimTemplates: Forbidden: may not be set with scalingMode External" \
  '"scalingMode":"External","volumeClaimTemplates":[{"metadata":{"name":"v"},"spec":{}}]'
refused_with "confinement with scalingMode External" \
  "spec.confinement: Forbidden: may not be set with scalingMode External" \
  '"scalingMode":"External","confinement":"Cgroup"'
refused_with "pinToNode" "spec.pinToNode: Invalid value: *boolean" '"pinToNode":"yes"'
accepted "pinToNode" "{$slurmd,\"pinToNode\":true}"
refused_with "confinement" \
  'spec.confinement: Unsupported value: "cgroup": supported values: "None", "Cgroup", "Privileged"' \
  '"confinement":"cgroup"'
for profile in None Cgroup Privileged; do
  accepted "confinement $profile" "{$slurmd,\"confinement\":\"$profile\"}"
done
accepted "scalingMode Always" "{$slurmd,\"scalingMode\":\"Always\"}"

for type in RollingUpdate OnDelete ScheduledUpdate; do
  accepted "updateStrategy $type" "{$slurmd,\"updateStrategy\":{\"type\":\"$type\"}}"
done
refused_with "updateStrategy Recreate" \
  'spec.updateStrategy.type: Unsupported value: "Recreate": supported values: "RollingUpdate", "OnDelete", "Scheduled' \
  '"updateStrategy":{"type":"Recreate"}'
for value in 0 -1 '"0%"' '"101%"' '"3"' '"%"' '"1.5%"'; do
  refused_with "maxUnavailable $value" \
    "spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: *an integer greater than 0, or a percentage" \
    "\"updateStrategy\":{\"rollingUpdate\":{\"maxUnavailable\":$value}}"
done
for value in 1 65536 '"1%"' '"100%"'; do
  accepted "maxUnavailable $value" "{$slurmd,\"updateStrategy\":{\"rollingUpdate\":{\"maxUnavailable\":$value}}}"
done

# ---- image and size --------------------------------------------------------------------------------------------------

refused "no slurmd" "spec.slurmd: Required value" '{}'
refused "no image" "spec.slurmd.image: Required value: an image with slurmd" "{\"slurmd\":{$size}}"
refused "an empty image" "spec.slurmd.image: Invalid value: *must be an image name" \
  "{\"slurmd\":{\"image\":\" \",$size}}"
refused "image of another container" "spec.slurmd.image: Required value" \
  "{\"slurmd\":{$size},\"template\":{\"spec\":{\"containers\":[{\"name\":\"other\",\"image\":\"i\"}]}}}"
refused_limits "Required value: limits.cpu: determines CPUs of the nodes" '{"memory":"1Gi"}'
refused_limits "Required value: limits.memory: determines RealMemory of the nodes" '{"cpu":"1"}'
refused_limits "Invalid value: *must be a quantity, such as 500m, 2 or 16Gi" '{"cpu":"1","memory":"lots"}'
refused_limits "Invalid value: *must be a quantity" '{"cpu":"1","memory":"1Gi","example.com/gpu":"two"}'
cpu_rule="Invalid value: *cpu: must be greater than 0 and less than or equal to 65000"
refused_limits "$cpu_rule" '{"cpu":0,"memory":"1Gi"}'
refused_limits "$cpu_rule" '{"cpu":"-1","memory":"1Gi"}'
refused_limits "$cpu_rule" '{"cpu":"65001","memory":"1Gi"}'
refused_limits "Invalid value: *memory: must be greater than 0" '{"cpu":"1","memory":"-1Gi"}'
refused_limits "Invalid value: *limits.memory: must be at least 1Mi greater than spec.memoryReserve" \
  '{"cpu":"1","memory":"64Mi"}'
refused "memoryReserve as much as the limit" \
  "spec.slurmd.resources: Invalid value: *1Mi greater than spec.memoryReserve" "{$slurmd,\"memoryReserve\":\"1Gi\"}"
refused_with "memoryReserve that is no quantity" "spec.memoryReserve: Invalid value: *must be a quantity" \
  '"memoryReserve":"some"'
refused_with "memoryReserve below 0" "spec.memoryReserve: Invalid value: *greater than or equal to 0" \
  '"memoryReserve":-1'
refused "requests above the limits" \
  "spec.slurmd.resources: Invalid value: *requests: must be less than or equal to limits" \
  '{"slurmd":{"image":"i","resources":{"limits":{"cpu":"2","memory":"1Gi"},"requests":{"cpu":"2001m"}}}}'
accepted "limits of 65000 CPUs as a number" \
  '{"slurmd":{"image":"i","resources":{"limits":{"cpu":65000,"memory":"65Mi"}}}}'
accepted "all of a container in the template" '{"slurmd":{},"template":{"spec":{"containers":[
  {"name":"slurmd","image":"i","resources":{"limits":{"cpu":"1500m","memory":"1Gi"}}}]}}}'

# ---- extraConf -------------------------------------------------------------------------------------------------------

refused_extra "must be KEY=VALUE pairs" "Weight"
refused_extra "must be KEY=VALUE pairs" "Weight=1 =2"
refused_extra "must be one line of printable characters" 'Weight=1\nPort=2'
refused_extra "must be one line of printable characters" "Features='a'"
refused_extra "must be one line of printable characters" "Weight=1 # much"
refused_extra "supported keys: CoreSpecCount, *and Weight" "Weight=1 Port=7000"
refused_extra "supported keys:" "NodeName=x"
refused_extra "CoresPerSocket and ThreadsPerCore: must be integers" "ThreadsPerCore=two"
refused_extra "CoresPerSocket and ThreadsPerCore: must be integers" "Weight=1 corespersocket=0"
refused_extra "Gres: must be a comma-separated list of NAME" "Gres=foo:"
refused_extra "Gres: must be a comma-separated list of NAME" "Weight=1 gres=gpu:2,,foo:1"
refused_extra "Gres: must be a comma-separated list of NAME" "Gres=gpu::2"
refused_extra "Gres: must be a comma-separated list of NAME" "Gres=gpu:a:1,foo:(S:0)"
refused_extra "Gres: may be set only once" "Gres=foo:1 Weight=1 gres=foo:a:1"
accepted "extraConf with Gres of all kinds" "{$slurmd,\"extraConf\":\"Gres=gpu:2(S:0),foo,bar:a,baz:t:no_consume:4G\"}"
keys="CoreSpecCount=0 CpuBind=none CPUSpecList=0 MemSpecLimit=1 Parameters=x RestrictedCoresPerGPU=1 SuspendTime=60"
keys+=" TmpDisk=1 Topology=t:s Gres=gpu:a100:8 CoresPerSocket=1 ThreadsPerCore=2 Features=a,b Feature=c"
accepted "extraConf with all its keys, in any case" "{$slurmd,\"extraConf\":\" weight=10  $keys \"}"

# ---- partition -------------------------------------------------------------------------------------------------------

refused_partition() { refused_with "partition $2" "spec.partition.config: Invalid value: *$1" \
  "\"partition\":{\"enabled\":true,\"config\":\"$2\"}"; }
refused_partition "must be KEY=VALUE pairs" "MaxTime"
refused_partition "must be one line of printable characters" 'MaxTime=1\nPartitionName=x'
refused_partition "supported keys: AllowAccounts, *TRESBillingWeights" "MaxTime=1 Nodes=ALL"
refused_with "partition.enabled" "spec.partition.enabled: Invalid value: *boolean" '"partition":{"enabled":"yes"}'
keys="AllowAccounts=a,b AllowGroups=c AllowQos=d Default=YES DefaultTime=30 DefMemPerCPU=1 DenyAccounts=e DenyQos=f"
keys+=" DisableRootJobs=NO ExclusiveUser=NO GraceTime=1 Hidden=NO LLN=NO MaxCPUsPerNode=1 MaxMemPerNode=2 MaxNodes=3"
keys+=" MaxTime=1-0 MinNodes=1 OverSubscribe=FORCE:2 OverTimeLimit=1 PreemptMode=OFF PriorityJobFactor=1 PriorityTier=2"
keys+=" QOS=q ReqResv=NO RootOnly=NO State=UP TRESBillingWeights=CPU=1.0"
accepted "partition with its keys" "{$slurmd,\"partition\":{\"enabled\":true,\"config\":\" $keys \"}}"
accepted "partition without a config" "{$slurmd,\"partition\":{\"enabled\":true}}"

# ---- volume claims ---------------------------------------------------------------------------------------------------

claim() { echo "{\"metadata\":{\"name\":\"$1\"},\"spec\":{\"resources\":{\"requests\":{\"storage\":\"1Gi\"}}}}"; }
refused_claims() {
  refused_with "volumeClaimTemplates: $2" "spec.volumeClaimTemplates*$1" "\"volumeClaimTemplates\":$3"
}
refused_claims ".name: Invalid value: *should match" "name" "[$(claim A_b)]"
refused_claims ".name: Required value" "no name" '[{"metadata":{},"spec":{}}]'
refused_claims ".spec: Required value" "no spec" '[{"metadata":{"name":"a"}}]'
refused_claims "metadata.name: must be unique" "two of a name" "[$(claim a),$(claim b),$(claim a)]"
refused_with "retention policy" 'whenScaled: Unsupported value: "Keep": supported values: "Retain", "Delete"' \
  '"persistentVolumeClaimRetentionPolicy":{"whenScaled":"Keep"}'
accepted "two claims" "{$slurmd,\"volumeClaimTemplates\":[$(claim a),$(claim b)],
  \"persistentVolumeClaimRetentionPolicy\":{\"whenDeleted\":\"Delete\",\"whenScaled\":\"Delete\"}}"

# ---- what slurm-k8s sets itself --------------------------------------------------------------------------------------

for name in SLURMD_{NODENAME,CONF_SERVER,CONF} SLURM_K8S_{NODESET,POD,NAMESPACE,NODE,ZONE,CPU_LIMIT,MEMORY_LIMIT}; do
  refused_slurmd "variable $name" "spec.slurmd.env\[1\].name: Invalid value: *$name: reserved" \
    "\"env\":[{\"name\":\"A\"},{\"name\":\"$name\",\"value\":\"x\"}]"
done
label_rule="app.kubernetes.io/managed-by and names with the prefix slurm-k8s.io/ are reserved"
refused_pod "variable of slurmd in the template" \
  "spec.template.spec.containers\[0\]: Invalid value: *env of container slurmd: *are reserved" \
  '"containers":[{"name":"slurmd","env":[{"name":"SLURMD_CONF"}]}]'
accepted "the same variable elsewhere" "{$slurmd,\"template\":{\"spec\":{\"containers\":[
  {\"name\":\"other\",\"image\":\"i\",\"env\":[{\"name\":\"SLURMD_CONF\"}]}]}}}"
for name in app.kubernetes.io/name app.kubernetes.io/managed-by slurm-k8s.io/nodeset slurm-k8s.io/node; do
  refused_with "label $name" "spec.template.metadata.labels: Invalid value: *$label_rule" \
    "\"template\":{\"metadata\":{\"labels\":{\"a\":\"b\",\"$name\":\"x\"}}}"
done
for name in slurm-k8s.io/request slurm-k8s.io/jobs; do
  refused_with "annotation $name" \
    "spec.template.metadata.annotations: Invalid value: *names with the prefix slurm-k8s.io/ are reserved" \
    "\"template\":{\"metadata\":{\"annotations\":{\"$name\":\"x\"}}}"
done
refused_slurmd "name of the container" 'spec.slurmd.name: Unsupported value: "other": supported values: "slurmd"' \
  '"name":"other"'
refused_pod "hostname" "spec.template.spec: Invalid value: *hostname and subdomain are reserved" '"hostname":"x"'
refused_pod "subdomain" "spec.template.spec: Invalid value: *hostname and subdomain are reserved" '"subdomain":"x"'
refused_pod "restartPolicy" 'spec.template.spec.restartPolicy: Unsupported value: "Always": supported values: "Never"' \
  '"restartPolicy":"Always"'
refused_pod "service account's token" "spec.template.spec.automountServiceAccountToken: Unsupported value: true" \
  '"automountServiceAccountToken":true'
refused_pod "service links" "spec.template.spec.enableServiceLinks: Unsupported value: true" '"enableServiceLinks":true'

# ---- twice the same --------------------------------------------------------------------------------------------------

refused_slurmd "two variables of a name" "spec.slurmd.env\[1\]: Duplicate value: *A" '"env":[{"name":"A"},{"name":"A"}]'
refused_slurmd "two mounts at a path" "spec.slurmd.volumeMounts\[1\]: Duplicate value: */a" \
  '"volumeMounts":[{"name":"v","mountPath":"/a"},{"name":"w","mountPath":"/a"}]'
refused_pod "two volumes of a name" "spec.template.spec.volumes\[1\]: Duplicate value: *v" \
  '"volumes":[{"name":"v"},{"name":"v"}]'
refused_pod "two containers of a name" "spec.template.spec.containers\[1\]: Duplicate value: *c" \
  '"containers":[{"name":"c"},{"name":"c"}]'
refused_pod "a container without a name" "spec.template.spec.containers\[0\].name: Required value" \
  '"containers":[{"image":"i"}]'

# ---- good ones -------------------------------------------------------------------------------------------------------

accepted "a NodeSet with every field" '{"replicas":65536,"spareReplicas":65536,
  "spareSchedules":[{"start":"*/5,7 7-9 * JAN-dec 1-5","duration":"1h30m","timeZone":"America/Argentina/Buenos_Aires",
    "replicas":65536},{"start":"0 7 * * *","duration":"168h","replicas":1,"variant":"v1"}],
  "variants":[{"name":"v1","spareReplicas":65536}],"ordinalPadding":5,"gresType":"a100",
  "gpuResource":"example.com/gpu","claimedGpus":256,
  "bridgeDevices":{"nvidia.com/mig-3g.40gb":"1","nvidia.com/mig-1g.10gb":2},
  "unschedulableGracePeriodSeconds":0,"scalingMode":"OnDemand","confinement":"Privileged",
  "updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"maxUnavailable":"25%"}},
  "memoryReserve":0,"workloadDisruptionProtection":false,"extraConf":"Weight=10 Features=a100,fast Gres=gpu:8",
  "slurmd":{"name":"slurmd","image":"r.example/x/slurmd:1","imagePullPolicy":"Always","args":["-vv"],
    "env":[{"name":"A","value":"1"},{"name":"B","valueFrom":{"fieldRef":{"fieldPath":"spec.nodeName"}}}],
    "resources":{"limits":{"cpu":"8","memory":"64Gi","example.com/gpu":8},"requests":{"cpu":8,"memory":"64Gi"}},
    "volumeMounts":[{"name":"v","mountPath":"/v"},{"name":"v","mountPath":"/w","subPath":"w"}],
    "securityContext":{"capabilities":{"add":["SYS_ADMIN"]}}},
  "template":{"metadata":{"labels":{"team":"a"},"annotations":{"note":"b"}},
    "spec":{"nodeSelector":{"a":"b"},"tolerations":[{"key":"k","operator":"Exists"}],"priorityClassName":"high",
      "restartPolicy":"Never","automountServiceAccountToken":false,"enableServiceLinks":false,
      "volumes":[{"name":"v","emptyDir":{}}],"initContainers":[{"name":"i","image":"i"}],
      "containers":[{"name":"log","image":"i","resources":{"limits":{"cpu":"1"}}},{"name":"slurmd","tty":true}]}}}'
accepted "a NodeSet with as little as possible" "{$slurmd}"
accepted "nulls, as values of a chart have them" "{$slurmd,\"extraConf\":null,\"memoryReserve\":null,\"template\":{
  \"metadata\":null,\"spec\":{\"hostname\":null,\"restartPolicy\":null,\"volumes\":null,\"containers\":null}}}"
accepted_file "$top/examples/nodeset.yaml"

# ---- changes ---------------------------------------------------------------------------------------------------------

change() { # EXPECTED-STATUS WHAT PATTERN PATCH: of the NodeSet schema-test
  local output status=0
  output=$(kube patch nodesets.slurm-k8s.io schema-test --type=merge --patch="$4" 2>&1) || status=1
  # shellcheck disable=SC2053 # it is a pattern
  if ((status == $1)) && [[ $output == *$3* ]]; then report 0 "$2" ""; else report 1 "$2" "$output"; fi
}
trap 'kube delete nodesets.slurm-k8s.io schema-test --ignore-not-found >/dev/null' EXIT
nodeset schema-test "{$slurmd,\"ordinalPadding\":2}" | kube create --filename=- >/dev/null
change 1 "ordinalPadding is immutable" \
  "spec.ordinalPadding: Invalid value: *field is immutable: all nodes would be renamed" \
  '{"spec":{"ordinalPadding":3}}'
change 1 "ordinalPadding cannot be removed" "spec.ordinalPadding: Invalid value: *field is immutable" \
  '{"spec":{"ordinalPadding":null}}'
change 1 "scalingMode cannot become DaemonSet" \
  "spec.scalingMode: Invalid value: *may not be changed to or from DaemonSet or External" \
  '{"spec":{"scalingMode":"DaemonSet"}}'
change 0 "replicas, size and image can" patched \
  '{"spec":{"replicas":9,"ordinalPadding":2,"slurmd":{"image":"j","resources":{"limits":{"cpu":"4"}}}}}'

# ---- what kubectl get shows ------------------------------------------------------------------------------------------

shown() { # WHAT PATTERN OPTION...: of the NodeSet schema-test, with one blank between columns
  local output status=0
  output=$(kube get nodesets.slurm-k8s.io schema-test "${@:3}" 2>&1 | sed -E 's/ +/ /g; s/ $//') || status=1
  # shellcheck disable=SC2053 # it is a pattern
  [[ $output == $2 ]] || status=1
  report "$status" "$1" "$output"
}
kube patch nodesets.slurm-k8s.io schema-test --type=merge --patch='{"spec":{"scalingMode":"Always"}}' >/dev/null
# Each column has a number of its own, and Ready is not the first condition.
time='"lastTransitionTime":"2026-01-01T00:00:00Z"'
kube patch nodesets.slurm-k8s.io schema-test --subresource=status --type=merge --patch='{"status":{
  "desired":11,"replicas":12,"readyReplicas":1,"poweredUp":13,"poweringUp":14,"poweringDown":2,"poweredDown":3,
  "allocated":15,"idle":16,"draining":4,"updatedReplicas":17,"down":18,"conditions":[
    {"type":"RolledOut","status":"False","reason":"Updating","message":"of an update",'"$time"'},
    {"type":"Ready","status":"False","reason":"Resizing","message":"of its nodes",'"$time"'}]}}' >/dev/null
columns="NAME MODE DESIRED REPLICAS UP POWERING-UP ALLOCATED IDLE UPDATED DOWN STATUS"
values="schema-test Always 11 12 13 14 15 16 17 18 Resizing"
shown "columns" "$columns AGE"$'\n'"$values +([0-9a-z])"
shown "columns, wide" "$columns MESSAGE AGE"$'\n'"$values of its nodes +([0-9a-z])" --output=wide

echo "1..$number"
((failed == 0))
