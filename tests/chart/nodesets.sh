# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# NodeSets: objects, volume claims, Roles, policy on their pods, NetworkPolicy.

check "NodeSet's replicas" shows nodesets/nodesets '^  replicas: 3$' --set nodesets.compute.replicas=3
check "NodeSet's update strategy" shows nodesets/nodesets '^    type: OnDelete$' \
  --set nodesets.compute.updateStrategy.type=OnDelete
check "a NodeSet with one value has the defaults" shows nodesets/nodesets '^        memory: 1Gi$' \
  --set nodesets.compute=null,nodesets.gpu.replicas=3
check "defaults for all NodeSets" shows nodesets/nodesets '^  extraConf: "Weight=3"$' \
  --set nodesetDefaults.extraConf=Weight=3
check "a disabled NodeSet" lacks 'NodeSet=compute' --set nodesets.compute.enabled=false
check "workloadDisruptionProtection by default" shows nodesets/nodesets '^  workloadDisruptionProtection: true$'
check "workloadDisruptionProtection disabled" shows nodesets/nodesets '^  workloadDisruptionProtection: false$' \
  --set nodesets.compute.workloadDisruptionProtection=false
check "spareSchedules" shows nodesets/nodesets "^    - duration: 3h" \
  --set-json 'nodesets.compute.spareSchedules=[{"start":"0 7 * * 1-5","duration":"3h","replicas":4}]'
check "spareReplicas" shows nodesets/nodesets "^  spareReplicas: 2" --set nodesets.compute.spareReplicas=2
check "gresType" shows nodesets/nodesets '^  gresType: "a100"' --set nodesets.compute.gresType=a100
check "gpuResource" shows nodesets/nodesets '^  gpuResource: "a.b/gpu"' --set nodesets.compute.gpuResource=a.b/gpu
check "claimedGpus" shows nodesets/nodesets '^  claimedGpus: 2$' --set nodesets.compute.claimedGpus=2
check "no claimedGpus by default" lacks 'claimedGpus'
check "bridgeDevices" shows nodesets/nodesets '^    nvidia.com/gpu: 8' \
  --set-json 'nodesets.compute.bridgeDevices={"nvidia.com/gpu":8}'
check "bridgeDevices: not a quantity" refused "/nodesets/compute/bridgeDevices/nvidia.com~1gpu" \
  --set-json 'nodesets.compute.bridgeDevices={"nvidia.com/gpu":{}}'
check "a gresType that is a count" refused "/nodesets/compute/gresType" --set-string nodesets.compute.gresType=4090
check "pinToNode" shows nodesets/nodesets "^  pinToNode: true" --set nodesets.compute.pinToNode=true
check "confinement" shows nodesets/nodesets "^  confinement: Cgroup" --set nodesets.compute.confinement=Cgroup
check "an unknown confinement" refused "/nodesets/compute/confinement" --set nodesets.compute.confinement=cgroup
check "no confinement by default" lacks confinement: --show-only templates/nodesets/nodesets.yaml
check "a NodeSet of scalingMode DaemonSet has no replicas" lacks replicas: \
  --show-only templates/nodesets/nodesets.yaml --set nodesets.compute.scalingMode=DaemonSet
check "nor has one of scalingMode External" lacks replicas: \
  --show-only templates/nodesets/nodesets.yaml --set nodesets.compute.scalingMode=External
external=(--set nodesets.compute.scalingMode=External)
check "scalingMode External: no limits by default" shows nodesets/nodesets '^      limits: \{\}$' "${external[@]}"
check "scalingMode External: a limit" shows nodesets/nodesets '^        cpu: 8$' \
  "${external[@]}" --set nodesets.compute.slurmd.resources.limits.cpu=8
check "scalingMode External: no other limit" lacks_in nodesets/nodesets '^        memory: 1Gi$' \
  "${external[@]}" --set nodesets.compute.slurmd.resources.limits.cpu=8
all_pods=('^    resources: \[pods\]$' ClusterRole slurm-slurm-controller)
check "scalingMode External: pods of all namespaces are read" part "${all_pods[@]}" "${external[@]}"
read_by_none() { ! part "${all_pods[@]}"; }
check "otherwise not" read_by_none

home=(--set sharedHome.existingClaim=home)
check "shared home: in the nodes" shows nodesets/nodesets '^    - mountPath: /home$' "${home[@]}"
check "shared home: the nodes' volume" shows nodesets/nodesets '^          claimName: home$' "${home[@]}"
check "shared home: beside other volumes" shows nodesets/nodesets '^    - mountPath: /x$' "${home[@]}" \
  --set-json 'nodesetDefaults.slurmd.volumeMounts=[{"name":"x","mountPath":"/x"}]'

claim='nodesets.compute.volumeClaimTemplates=[{"metadata":{"name":"scratch"},"spec":{}}]'
check "volume claims" shows nodesets/nodesets '^        name: scratch$' --set-json "$claim"
check "volume claims: rights" shows controller/rbac 'persistentvolumeclaims' --set-json "$claim"
check "volume claims of other NodeSets: rights" shows controller/rbac 'persistentvolumeclaims' \
  --set rbac.volumeClaims=true
check "no rights to volume claims by default" lacks 'persistentvolumeclaims'
check "invalid retention policy" refused "whenScaled" \
  --set nodesets.compute.persistentVolumeClaimRetentionPolicy.whenScaled=Keep

check "image by a tag that is a number" shows nodesets/nodesets 'image: "r.example/x/slurmd:20261124"' \
  --set-json 'images={"registry":"r.example/x","tag":20261124}'
check "image by tag" shows nodesets/nodesets 'image: "r.example/x/slurmd:1"' \
  --set images.registry=r.example/x,images.tag=1
digest=sha256:$(printf 0 | sha256sum | cut -d ' ' -f 1)
check "image by digest" shows nodesets/nodesets 'image: "a/b@sha256:[0-9a-f]{64}"' \
  --set "nodesets.compute.slurmd.image.repository=a/b,nodesets.compute.slurmd.image.digest=$digest"
check "pull secrets reach nodes" shows nodesets/nodesets '^      - name: pull$' --set 'imagePullSecrets[0].name=pull'

scale_role='apiGroups: \[slurm-k8s.io\] resources: \[nodesets\] verbs: \[get, list, watch\]'
scale_role+=' - apiGroups: \[slurm-k8s.io\] resources: \[nodesets/scale\] verbs: \[get, patch, update\]'
role_to_scale() {
  object Role slurm-nodeset-scale | sed -n '/^rules:/,$p' | tr -s '\n ' ' ' | grep -E -- "$scale_role"
}
check "a role to scale can scale, and nothing else" role_to_scale
check "a role to write NodeSets" \
  part 'verbs: \[create, delete, get, list, patch, update, watch\]' Role slurm-nodeset-edit
check "no roles" lacks 'nodeset-(view|scale|edit)' --set rbac.nodesetRoles=false
check "no built-in role gets the right to write NodeSets" lacks aggregate-to

policy=(ValidatingAdmissionPolicy slurm-slurm-pods)
check "pod policy: pods created by the engine" part \
  "request.userInfo.username == 'system:serviceaccount:slurm:slurm-controller'\$" "${policy[@]}"
check "pod policy: the key's Secret" part "s.secret.name == 'mine'" "${policy[@]}" --set slurmKey.existingSecret=mine
check "pod policy: other service accounts" part '^        \["batch"\]$' "${policy[@]}" \
  --set 'podPolicy.serviceAccounts={batch}'
check "pod policy: in this namespace" part '^        kubernetes.io/metadata.name: "slurm"$' \
  ValidatingAdmissionPolicyBinding slurm-slurm-pods
check "pod policy: invalid level" refused "/podPolicy/level" --set podPolicy.level=restricted
check "Kubernetes 1.29 has no ValidatingAdmissionPolicy" lacks ValidatingAdmissionPolicy --kube-version 1.29.0
check "a cluster without ValidatingAdmissionPolicy" lacks ValidatingAdmissionPolicy --api-versions v1/Pod
check "a cluster with ValidatingAdmissionPolicy" shows nodesets/pod_policy 'kind: ValidatingAdmissionPolicy' \
  --api-versions v1/Pod,admissionregistration.k8s.io/v1/ValidatingAdmissionPolicy
check "no pod policy" lacks ValidatingAdmissionPolicy --set podPolicy.enabled=false

check "srun's ports are allowed" \
  part '\{"endPort":5010,"port":5001\}' NetworkPolicy slurm-nodes --set slurm.srunPortRange=5001-5010
check "jobs cannot reach a metadata service" part \
  '^            except: \["169.254.169.254/32"\]$' NetworkPolicy slurm-nodes
check "nor by IPv6" part '^            except: \["fd00:ec2::254/128"\]$' NetworkPolicy slurm-nodes
check "policy: of our nodes alone" part '^      app.kubernetes.io/managed-by: slurm-k8s$' NetworkPolicy slurm-nodes
check "Service of nodes: of our nodes alone" part '^    app.kubernetes.io/managed-by: slurm-k8s$' Service slurm-nodes
check "jobs can reach all" part '^    - \{\}$' NetworkPolicy slurm-nodes --set-json networkPolicy.blockedFromNodes=[]
check "jobs can ask DNS servers everywhere" part \
  '^        - \{port: 1053, protocol: UDP\}$' NetworkPolicy slurm-nodes --set-json networkPolicy.dnsPorts=[1053]
# A rule without ports would allow all.
check "DNS servers: no port" refused "/networkPolicy/dnsPorts" --set-json networkPolicy.dnsPorts=[]
check "no network policies" lacks 'NetworkPolicy' --set networkPolicy.enabled=false
check "a NodeSet with the name of a node" refused \
  "nodesets.compute-0: Forbidden: it is the name of a node of NodeSet compute" \
  --set nodesets.compute-0.replicas=1
check "a NodeSet that ends with a number" shows nodesets/nodesets '^  name: "gpu-80"$' --set nodesets.gpu-80.replicas=1
check "a number that no node has" shows nodesets/nodesets '^  name: "compute-80"$' --set nodesets.compute-80.replicas=1
check "a NodeSet all" refused "invalid propertyName 'all'" --set nodesets.all.replicas=1
check "a NodeSet default" refused "invalid propertyName 'default'" --set nodesets.default.replicas=1
check "more nodes than slurmctld may have" refused "slurm.maxNodeCount: Invalid value: 7: the NodeSets have 8 nodes" \
  --set slurm.maxNodeCount=7
