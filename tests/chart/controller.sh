# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The controller: StatefulSet, Services, service account, NetworkPolicy; a slurmctld outside Kubernetes.

cluster_rules() {
  awk '/^kind: ClusterRole$/ {on = 1} /^---$/ {on = 0}
    on && /apiGroups|resources|verbs/ {sub(/^[ -]+/, ""); print}' | paste -sd ' '
}

rules_are_narrow() {
  local text
  text=$(render --show-only templates/controller/rbac.yaml)
  ! grep -E 'secrets|\*' <<<"$text" || return 1
  # Of the whole cluster it reads the nodes, and nothing else.
  [[ $(cluster_rules <<<"$text") == 'apiGroups: [""] resources: [nodes] verbs: [get, list, watch]' ]] || return 1
  lacks ClusterRole --show-only templates/controller/rbac.yaml --set watchKubernetesNodes=false || return 1
  grep -qx '    resources: \[pods\]' <<<"$text" && grep -qx '    resources: \[nodesets/status\]' <<<"$text"
}

ALL_PARTS=(--set controller.configPush.enabled=true
  --set "accounting.enabled=true,login.enabled=true,rest.enabled=true,backup.enabled=true,bridge.enabled=true")

# Each container of the chart's own pods. Those of nodes are the jobs'.
root_file_systems_are_read_only() {
  render "${ALL_PARTS[@]}" --set sharedHome.existingClaim=home "$@" |
    awk '/^kind: / {kind = $2} kind == "NodeSet" {next}
      /^ *image: / {images++} /^ *readOnlyRootFilesystem: true$/ {on++}
      END {if (images < 12 || images != on) {print images " images, " on " read-only root file systems"; exit 1}}'
}
check "read-only root file systems" root_file_systems_are_read_only
check "slurmctld can write /tmp and its home" shows controller/statefulset \
  '^            - [{]name: slurmctld-home, mountPath: /home/slurm[}]$'
check "a volume of the site in their place" lacks_in controller/statefulset 'slurmctld-(tmp|home)' \
  --set sharedHome.existingClaim=home,sharedHome.mountPath=/home/ \
  --set-json 'controller.slurmctld.volumeMounts=[{"name":"t","mountPath":"/tmp"}]'

# Of each part that the chart has, and of NodeSets.
all_pods_have_the_class() {
  local text without
  text=$(render "${ALL_PARTS[@]}" --set priorityClass.enabled=true)
  without=$(awk 'BEGIN {RS = "\n---\n"} /\nkind: (StatefulSet|Deployment|Job|CronJob|NodeSet)\n/ {
    all++; if ($0 !~ /\n *priorityClassName: slurm-slurm(\n|$)/) print }
    END {if (all < 9) print "only " all " with pods"}' <<<"$text")
  [[ -z $without ]] || { echo "$without"; return 1; }
}

check "priority class: all pods" all_pods_have_the_class
check "priority class: created" shows priority/priority_class '^value: 7$' \
  --set priorityClass.enabled=true,priorityClass.value=7
check "priority class: none" lacks 'PriorityClass|priorityClass'
check "priority class: an existing one" lacks 'kind: PriorityClass' \
  --set priorityClass.enabled=true,priorityClass.create=false,priorityClass.name=high
check "priority class: which one" refused "priorityClass.name: required" \
  --set priorityClass.enabled=true,priorityClass.create=false
check "priority class: nodes without one" lacks_in nodesets/nodesets priorityClassName \
  --set priorityClass.enabled=true,priorityClass.nodes=false
check "priority class: the controller has it then" part '^      priorityClassName: slurm-slurm$' StatefulSet \
  slurm-controller --set priorityClass.enabled=true,priorityClass.nodes=false
check "priority class: nodes with another one" shows nodesets/nodesets '^      priorityClassName: low$' \
  --set priorityClass.enabled=true,priorityClass.nodes=low
check "priority class: a NodeSet's own before it" shows nodesets/nodesets '^      priorityClassName: own$' \
  --set priorityClass.enabled=true,priorityClass.nodes=low,nodesetDefaults.podSpec.priorityClassName=own
check "priority class: nodes, disabled" lacks priorityClassName --set priorityClass.nodes=low
check "priority class: nodes, no name" refused 'priorityClass/nodes|priorityClass.nodes' \
  --set priorityClass.enabled=true --set-string priorityClass.nodes=Low
check "priority class: a part's own" shows controller/statefulset '^      priorityClassName: own$' \
  --set priorityClass.enabled=true --set controller.podSpec.priorityClassName=own
check "controller's name and address" has slurm.conf "SlurmctldHost=slurm-controller-0(slurm-controller)"
check "two controllers without a shared claim" refused "controller.persistence.existingClaim: Required value" \
  --set controller.replicas=2
check "three controllers" refused "/controller/replicas" --set controller.replicas=3
two=(--set "controller.replicas=2,controller.persistence.existingClaim=shared")
check "two controllers: the first" has slurm.conf "SlurmctldHost=slurm-controller-0" "${two[@]}"
check "two controllers: the second" has slurm.conf "SlurmctldHost=slurm-controller-1" "${two[@]}"
check "two controllers: when the second takes over, by default" has slurm.conf "SlurmctldTimeout=10" "${two[@]}"
check "two controllers: when the second takes over" has slurm.conf "SlurmctldTimeout=30" "${two[@]}" \
  --set slurm.slurmctldTimeout=30
check "two controllers: nodes ask both" has slurm-k8s.conf \
  "ConfServer=slurm-controller-0:6817,slurm-controller-1:6817" "${two[@]}"
check "Service: pods that are not ready, too" shows controller/service '^  publishNotReadyAddresses: true$' \
  --set controller.service.spec.type=LoadBalancer
check "Service: a load balancer" shows controller/service '^  type: LoadBalancer$' \
  --set controller.service.spec.type=LoadBalancer
check "Service: annotations" shows controller/service '^    a: b$' --set controller.service.metadata.annotations.a=b
check "Service: port of Kubernetes nodes" shows controller/service '^      nodePort: 30817$' \
  --set controller.service.nodePort=30817,controller.service.spec.type=NodePort
check "Service: values of a former chart" shows controller/service '^  publishNotReadyAddresses: true$' \
  --set controller.service=null
check "two controllers: a service each" shows controller/service \
  '^    statefulset.kubernetes.io/pod-name: slurm-controller-1$' "${two[@]}"
check "two controllers: one state" shows controller/statefulset 'claimName: shared' "${two[@]}"
check "slurmctld can resolve the address it listens on" shows controller/statefulset "ip: 0.0.0.0"
check "two controllers: two pods" shows controller/statefulset '^  replicas: 2$' "${two[@]}"
check "two controllers: sidecars follow the engine" shows controller/statefulset '^            - --with-engine$' \
  "${two[@]}"
check "two controllers: a lease says whose sidecar acts" shows controller/statefulset '^            - --leader-elect$' \
  "${two[@]}"
check "two controllers: its identity is the pod" shows controller/statefulset \
  '^            - --leader-elect-identity=\$\(POD_NAME\)_\$\(POD_UID\)$' "${two[@]}"
check "two controllers: rights to the lease" shows controller/rbac '^    resourceNames: \[slurm-k8s-sidecar\]$' \
  "${two[@]}"
check "two controllers without a lease" lacks 'leader-elect|leases|POD_NAME' "${two[@]}" \
  --set controller.sidecar.leaderElection=never
check "one controller: no lease" lacks 'leader-elect|leases|POD_NAME'
check "one controller with a lease" shows controller/statefulset '^            - --leader-elect$' \
  --set controller.sidecar.leaderElection=always
check "one controller with a lease: rights" shows controller/rbac '\[leases\]' \
  --set controller.sidecar.leaderElection=always
check "invalid leaderElection" refused "/controller/sidecar/leaderElection" \
  --set controller.sidecar.leaderElection=yes
check "one controller: the sidecar does not follow the engine" lacks 'with-engine|SlurmctldTimeout|pod-name'
check "one controller: nodes ask it by the service" has slurm-k8s.conf "ConfServer=slurm-controller:6817"

home=(--set sharedHome.existingClaim=home)
check "shared home: in the controller" shows controller/statefulset '^            - \{name: home, mountPath: /home\}$' \
  "${home[@]}"
check "shared home: the controller's volume" shows controller/statefulset \
  '^          persistentVolumeClaim: \{claimName: home\}$' "${home[@]}"
check "shared home: home of user slurm" shows controller/statefulset 'mkdir -p /home/slurm' "${home[@]}"
check "shared home: elsewhere" lacks 'mkdir' "${home[@]}" --set sharedHome.mountPath=/shared
check "shared home: not in the controller where users log in" lacks_in controller/statefulset \
  '(name: home$|name: home,|mkdir)' "${home[@]}" --set login.enabled=true --set-string login.users.passwd=x
check "no shared home by default" lacks 'name: home$|name: home,|mkdir'

check "a pod that is not ready does not hold up a rollback" shows controller/statefulset \
  '^  podManagementPolicy: Parallel$'
check "no privileges" lacks 'privileged: true'
check "controller runs as user slurm" shows controller/statefulset 'runAsUser: 401'
check "podSpec overrides" shows controller/statefulset '^      terminationGracePeriodSeconds: 5$' \
  --set controller.podSpec.terminationGracePeriodSeconds=5
check "podSpec's volumes are added" shows controller/statefulset '^        - emptyDir: \{\}$' \
  --set-json 'controller.podSpec.volumes=[{"name":"x","emptyDir":{}}]'
check "own claim" shows controller/statefulset 'claimName: mine' --set controller.persistence.existingClaim=mine
check "state without a claim" lacks 'volumeClaimTemplates' --set controller.persistence.enabled=false

only_the_engine_and_the_sidecar_have_a_token() {
  local text
  text=$(render --show-only templates/controller/statefulset.yaml \
    --set-json 'controller.podSpec.initContainers=[{"name":"mine","image":"localhost/x"}]')
  grep -qx '      automountServiceAccountToken: false' <<<"$text" || return 1
  [[ $(grep -c 'mountPath: /var/run/secrets/kubernetes.io/serviceaccount' <<<"$text") == 2 ]]
}

check "the token is in the containers that need it" only_the_engine_and_the_sidecar_have_a_token
check "the sidecar's liveness probe needs no port" \
  shows controller/statefulset 'exec: \{command: \[slurm-k8s-sidecar, --check-liveness,'
check "the service account has minimal rights" rules_are_narrow

only_what_is_needed_outside() {
  local kinds
  kinds=$(render --set controller.external=true,watchKubernetesNodes=false,podPolicy.enabled=false \
    --set networkPolicy.enabled=false,rbac.nodesetRoles=false | sed -n 's/^kind: //p' | sort | paste -sd ' ')
  [[ $kinds == "NodeSet Role RoleBinding Secret Service ServiceAccount" ]] || { echo "$kinds"; return 1; }
}

check "slurmctld outside: no pod and no ConfigMap" only_what_is_needed_outside
check "slurmctld outside: names of nodes" shows nodesets/service '^  name: slurm-nodes$' --set controller.external=true
check "slurmctld outside: right to renew its own token only" shows controller/rbac \
  '^    resourceNames: \[slurm-controller\]$' --set controller.external=true
check "slurmctld in a pod: no right to renew a token" lacks serviceaccounts/token
check "slurmctld outside: partitions at run time, if its slurm.conf keeps them" shows nodesets/nodesets \
  '^  partition: \{enabled: true' --set controller.external=true,nodesets.compute.partition.enabled=true
check "slurmctld outside: invalid value" refused "/controller/external" --set-string controller.external=yes
check "slurmctld outside: no ingress rules for nodes" shows nodesets/network_policy \
  '^  policyTypes: \[Egress\]$' --set controller.external=true

check "peers of metricsFrom may read metrics" part '^        - \{port: 9100\}$' NetworkPolicy slurm-controller
check "no metrics without metricsFrom" lacks 9100 \
  --show-only templates/controller/network_policy.yaml --set-json networkPolicy.metricsFrom=[]

check "two controllers: a drain evicts one at a time" part '^ +maxUnavailable: 1$' \
  PodDisruptionBudget slurm-controller --set controller.replicas=2,controller.persistence.existingClaim=state
