# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The bridge.

on=(--set bridge.enabled=true)
two=(--set controller.replicas=2 --set controller.persistence.existingClaim=state)
alone=(--set controller.sidecar.leaderElection=never)

check "no bridge by default" lacks 'slurm-k8s-bridge'
check "container" shows controller/statefulset 'command: \[slurm-k8s-bridge\]' "${on[@]}"
check "image" shows controller/statefulset 'image: "r/sidecar:7"' "${on[@]}" --set images.registry=r,bridge.image.tag=7
check "scheduler name" shows controller/statefulset '^            - "other"$' \
  "${on[@]}" --set bridge.schedulerName=other
check "scheduler name, of the sidecar" shows controller/statefulset '^            - --bridge-scheduler-name$' "${on[@]}"
check "one controller: no lease" lacks_in controller/rbac slurm-k8s-bridge "${on[@]}"
check "two controllers: a lease" shows controller/rbac 'resourceNames: \[slurm-k8s-sidecar, slurm-k8s-bridge\]' \
  "${on[@]}" "${two[@]}"
check "two controllers: leader election" shows controller/statefulset '^            - --leader-elect$' \
  "${on[@]}" "${two[@]}" "${alone[@]}"
check "launches wait for it" shows config/configmap '^    Bridge=yes$' "${on[@]}"
check "no bridge: no launch waits" shows config/configmap '^    Bridge=no$'
check "a bridge that does not tell: no launch waits" shows config/configmap '^    Bridge=no$' "${on[@]}" \
  --set-json 'bridge.args=["--without-engine"]'
check "users" shows bridge/users '^      uid: 2001$' "${on[@]}" --set-json \
  'bridge.users=[{"namespace":"team-a","uid":2001,"gid":2001}]'
check "users: not root" refused "/bridge/users/0/uid" "${on[@]}" --set-json \
  'bridge.users=[{"namespace":"team-a","uid":0,"gid":2001}]'
check "users: a required field" refused "gid" "${on[@]}" --set-json 'bridge.users=[{"namespace":"team-a","uid":1}]'
check "users: what may be allowed" refused "/bridge/users/0/allow/0" "${on[@]}" --set-json \
  'bridge.users=[{"namespace":"team-a","uid":1,"gid":1,"allow":["user-id"]}]'
check "users: a name" shows bridge/users '^      user: ada$' "${on[@]}" --set-json \
  'bridge.users=[{"namespace":"team-a","user":"ada","uid":2001,"gid":2001}]'
check "PriorityClasses" shows bridge/users '^    - name: high$' "${on[@]}" --set-json \
  'bridge.priorityClasses=[{"name":"high","qos":"urgent"}]'
check "PriorityClasses: a meaning" refused "/bridge/priorityClasses/0" "${on[@]}" --set-json \
  'bridge.priorityClasses=[{"name":"high"}]'
check "PriorityClasses: a priority" refused "/bridge/priorityClasses/0/priority" "${on[@]}" --set-json \
  'bridge.priorityClasses=[{"name":"high","priority":0}]'
check "DeviceClasses" shows bridge/users '^      gpu.nvidia.com: nvidia.com/gpu$' "${on[@]}" --set-json \
  'bridge.deviceClasses={"gpu.nvidia.com":"nvidia.com/gpu"}'
check "DeviceClasses: GPUs" refused "/bridge/deviceClasses/nic" "${on[@]}" --set-json \
  'bridge.deviceClasses={"nic":"rdma/hca"}'
check "tolerations" shows bridge/users '^    - key: slurm$' "${on[@]}" --set-json \
  'bridge.tolerations=[{"key":"slurm","operator":"Exists"}]'
check "tolerations: a key" refused "/bridge/tolerations/0" "${on[@]}" --set-json 'bridge.tolerations=[{"value":"a"}]'
check "tolerations: an effect" refused "/bridge/tolerations/0/effect" "${on[@]}" --set-json \
  'bridge.tolerations=[{"key":"slurm","effect":"NoExecute"}]'
check "rights: resource claims" shows bridge/rbac resourceclaimtemplates "${on[@]}" --set-json \
  'bridge.deviceClasses={"gpu.nvidia.com":"nvidia.com/gpu"}'
check "rights: no resource claims" lacks_in bridge/rbac resourceclaims "${on[@]}"
check "rights: volumes" shows bridge/rbac 'resources: \[persistentvolumes\]' "${on[@]}"
check "rights: no pod is created" lacks_in bridge/rbac create.*pods "${on[@]}"
check "rights: bindings" shows bridge/rbac 'resources: \[pods/binding\]' "${on[@]}"
check "metrics: who may read them" shows controller/network_policy '\{port: 9101\}' "${on[@]}" --set-json \
  'networkPolicy.metricsFrom=[{"podSelector":{}}]' --set networkPolicy.enabled=true
check "not with a slurmctld outside" refused "bridge.enabled: Forbidden" "${on[@]}" --set controller.external=true
check "two controllers: its lease without the sidecar's" shows controller/rbac 'resourceNames: \[slurm-k8s-bridge\]' \
  "${on[@]}" "${two[@]}" "${alone[@]}"
check "policy" shows bridge/pod_policy "schedulerName == 'other'" "${on[@]}" --set bridge.schedulerName=other
check "policy: GPUs are told" shows bridge/pod_policy "r\.contains\('/'\) && !r\.matches\('\^\(nvidia" "${on[@]}"
check "policy: huge pages are not" shows bridge/pod_policy "r\.startsWith\('hugepages-'\)" "${on[@]}"
check "policy: host ports are not" shows bridge/pod_policy "spec.containers: ports: hostPort: Forbidden" "${on[@]}"
check "policy of fields: its label" shows bridge/fields_policy \
  "object.metadata.labels\[\?'slurm-k8s.io/bridge'\] == optional.of\('other'\)" \
  "${on[@]}" --set bridge.schedulerName=other
check "policy of fields: not for the bridge" shows bridge/fields_policy \
  "username != 'system:serviceaccount:slurm:slurm-controller'" "${on[@]}"
check "grace period: of its value" shows controller/statefulset '[-]-max-grace-period=30$' "${on[@]}" \
  --set bridge.maxGracePeriodSeconds=30
check "grace period: a number of seconds" refused "/bridge/maxGracePeriodSeconds" "${on[@]}" \
  --set bridge.maxGracePeriodSeconds=0
check "policy of fields: the gate stays" shows bridge/fields_policy \
  "spec.schedulingGates\[slurm-k8s.io/bridge\]: Forbidden" "${on[@]}"
check "policy: none without the bridge" lacks 'Slurm chooses the node'
managed=("${on[@]}" --set-json 'bridge.managedNamespaces=["team-a","7"]')
check "managed namespaces: none by default" lacks 'Slurm schedules all pods' "${on[@]}"
check "managed namespaces: which" shows bridge/namespaces_policy 'operator: In, values: \["team-a","7"\]' \
  "${managed[@]}"
check "managed namespaces: the scheduler" shows bridge/namespaces_policy "schedulerName == 'slurm-k8s-bridge'" \
  "${managed[@]}"
check "managed namespaces: no node" shows bridge/namespaces_policy "spec.nodeName: Forbidden: Slurm chooses the node" \
  "${managed[@]}" --set bridge.podPolicy=false
check "managed namespaces: not the cluster's own" refused "bridge.managedNamespaces: Forbidden: slurm: " "${on[@]}" \
  --set 'bridge.managedNamespaces={slurm}'
check "policy: not wanted" lacks 'Slurm chooses the node' "${on[@]}" --set bridge.podPolicy=false
check "policy: not before Kubernetes 1.30" lacks 'Slurm chooses the node' "${on[@]}" --kube-version 1.29.0

# The keys of annotations, as the bridge has them.
knows_the_annotations() {
  local keys
  keys=$(sed -n '/kSetters = {/,/};/s/^ *{"\([a-z-]*\)", .*/"\1"/p' "$TOP/bridge/job_request.cc" | paste -s -d ,)
  [[ $keys ]] && shows bridge/pod_policy "in \[$keys\]" "${on[@]}"
}
check "policy: all annotations of the bridge" knows_the_annotations

# What a pod says of its job, as the bridge has it.
knows_the_fields() {
  local field count=0 names
  names='s/.* \**k\(Annotation\(Job\|JobSubmitted\|Rank\|KubeNodes\?\)\|LabelSlinkyJob\) = "\(.*\)".*/\3/p'
  for field in $(sed -n "$names" "$TOP/bridge/names.hpp" "$TOP/lib/nodeset/names.hpp"); do
    shows bridge/fields_policy "\[$field\]: Forbidden: the bridge sets it" "${on[@]}" || return 1
    count=$((count + 1))
  done
  ((count == 6))
}
check "policy of fields: all of the bridge" knows_the_fields
