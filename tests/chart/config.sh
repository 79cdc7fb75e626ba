# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# ConfigMap and Secret: slurm.conf without the sections below, slurm-k8s.conf, further files, the key.

config_hash() {
  render --show-only templates/controller/statefulset.yaml "$@" | grep config-hash
}

# What slurmctld takes by a reconfiguration must not roll the controller's pod, the rest must.
hash_follows_what_needs_a_restart() { # OPTION...
  local value
  local hash
  hash=$(config_hash "$@")
  [[ -n $hash && $hash == "$(config_hash "$@")" ]] || return 1
  for value in controller.slurmctld.args[0]=-v slurm.suspendTime=7 'configFiles.a=b' nodesets.more.replicas=2; do
    [[ $hash == "$(config_hash "$@" --set "$value")" ]] || { echo "$value"; return 1; }
  done
  for value in clusterName=other controller.extraConfMap.SlurmdPort=7 slurm.maxRequests=7 \
    'configFilesFrom[0].secret=a'; do
    [[ $hash != "$(config_hash "$@" --set "$value")" ]] || { echo "$value"; return 1; }
  done
}
# Without the push of changes each of them must.
hash_follows_configuration() { # OPTION...
  [[ $(config_hash "$@") == "$(config_hash "$@")" ]] || return 1
  [[ $(config_hash "$@") != "$(config_hash --set slurm.suspendTime=7 "$@")" ]]
}
# The chart and the sidecar agree on what needs a restart.
restart_settings_are_the_same() {
  local chart code
  chart=$(sed -n '/define "slurm.restartSettings"/{n;p}' "$CHART/templates/config/_push.tpl" | tr '|' '\n' | sort)
  code=$(sed -n '/kRestartSettings{/,/};/p' "$TOP/sidecar/config_plan.cc" | grep -o '"[A-Za-z]*"' | tr -d '"' | sort)
  [[ -n $chart && $chart == "$code" ]] || { diff <(echo "$chart") <(echo "$code"); return 1; }
}

key_is_long() {
  local key
  key=$(render --show-only templates/config/key.yaml | sed -n 's/^  slurm.key: "\(.*\)"$/\1/p' |
    base64 --decode | wc -c)
  ((key == 1024)) || { echo "$key bytes"; return 1; }
}

check "a version that is a number" refused "/slurmVersion" --set-json slurmVersion=22.05
check "an unknown version" refused "/slurmVersion" --set slurmVersion=24.12
check "Slurm 24.11 by default: its own authentication" has slurm.conf "AuthType=auth/slurm"
check "Slurm 24.11 by default: no control groups" has cgroup.conf "CgroupPlugin=disabled"
check "Slurm 24.11 by default: no task plugin" has slurm.conf "TaskPlugin=task/none"
check "confinement: task/cgroup" has slurm.conf "TaskPlugin=task/cgroup" --set nodesets.compute.confinement=Cgroup
check "confinement: each pod has a cgroup.conf" has cgroup.conf "Include /run/slurm-k8s/cgroup.conf" \
  --set nodesets.compute.confinement=Privileged
check "confinement: not of a disabled NodeSet" has slurm.conf "TaskPlugin=task/none" \
  --set nodesets.compute.confinement=Cgroup,nodesets.compute.enabled=false,nodesets.other.replicas=1
check "confinement before Slurm 24.11" refused \
  "nodesets.compute.confinement: Cgroup: requires slurmVersion 24.11 or later" --set slurmVersion=24.05 \
  --set nodesets.compute.confinement=Cgroup
own='configFiles.cgroup\.conf=ConstrainSwapSpace=yes'
check "a cgroup.conf of one's own" has cgroup.conf "ConstrainSwapSpace=yes" --set-string "$own"
check "confinement: it needs the pod's part" refused \
  'configFiles.cgroup.conf: a NodeSet has a confinement, which needs the line "Include /run/slurm-k8s/cgroup.conf"' \
  --set-string "$own" --set nodesets.compute.confinement=Cgroup
check "confinement: it has the pod's part" has cgroup.conf "ConstrainSwapSpace=yes" \
  --set-json 'configFiles={"cgroup.conf":"Include /run/slurm-k8s/cgroup.conf\nConstrainSwapSpace=yes\n"}' \
  --set nodesets.compute.confinement=Cgroup
check "confinement: OverMemoryKill" refused "JobAcctGatherParams=OverMemoryKill: slurmd does not start" \
  --set controller.extraConfMap.JobAcctGatherParams=OverMemoryKill --set nodesets.compute.confinement=Cgroup
check "confinement: OverMemoryKill in a text" refused "JobAcctGatherParams=OverMemoryKill: slurmd does not start" \
  --set-string 'controller.extraConf=jobacctgatherparams=UsePss\,overmemorykill' \
  --set nodesets.compute.confinement=Cgroup
check "OverMemoryKill without a confinement" has slurm.conf "JobAcctGatherParams=OverMemoryKill" \
  --set controller.extraConfMap.JobAcctGatherParams=OverMemoryKill
check "Slurm 24.11 by default: no defunct parameter" lacks 'cloud_reg_addrs|munge'
check "paths on shared volumes: none" has slurm-k8s.conf "SharedPaths=none"
check "paths on shared volumes" has slurm-k8s.conf "SharedPaths=/home,/data" --set sharedHome.existingClaim=home \
  --set 'slurm.sharedPaths={/data}'
check "Slurm 26.05" has slurm.conf "AuthType=auth/slurm" --set slurmVersion=26.05
check "Slurm 22.05: munge" has slurm.conf "AuthType=auth/munge" --set slurmVersion=22.05
check "Slurm 22.05: munge for credentials" has slurm.conf "CredType=cred/munge" --set slurmVersion=22.05.8
parameters=enable_configless,idle_on_node_suspend,power_save_interval=0,power_save_min_interval=0,reboot_from_controller
check "SlurmctldParameters" has slurm.conf "SlurmctldParameters=$parameters"
check "scontrol reboot recreates pods" has slurm.conf "RebootProgram=/usr/libexec/slurm-k8s/slurm-k8s-resume"
check "Slurm 22.05: addresses of registrations" has slurm.conf "SlurmctldParameters=$parameters,cloud_reg_addrs" \
  --set slurmVersion=22.05
check "Slurm 22.05: powered-down nodes are shown" has slurm.conf "PrivateData=cloud" --set slurmVersion=22.05
check "Slurm 24.11 by default: they are without it" lacks PrivateData
check "Slurm 22.05: a cgroup plugin without effect" has cgroup.conf "CgroupPlugin=cgroup/v1" --set slurmVersion=22.05

check "no jobs as root" has slurm.conf "DisableRootJobs=YES"
check "srun's ports in slurm.conf" has slurm.conf "SrunPortRange=5001-5010" --set slurm.srunPortRange=5001-5010

check "extraConfMap: a large number" has slurm.conf "MaxArraySize=4000001" \
  --set-json controller.extraConfMap.MaxArraySize=4000001
check "extraConfMap: numbers in a list" has slurm.conf "X=2000000,0.5,a" \
  --set-json 'controller.extraConfMap.X=[2000000,0.5,"a"]'
check "extraConfMap" has slurm.conf "DebugFlags=Power,NodeFeatures" \
  --set 'controller.extraConfMap.DebugFlags={Power,NodeFeatures}'
check "extraConf" has slurm.conf "PrEpPlugins=prep/script" --set controller.extraConf=PrEpPlugins=prep/script
check "a further file" has gres.conf "AutoDetect=off" --set 'configFiles.gres\.conf=AutoDetect=off'
check "cgroup.conf replaced" has cgroup.conf "CgroupPlugin=cgroup/v2" \
  --set 'configFiles.cgroup\.conf=CgroupPlugin=cgroup/v2'

check "slurm-k8s.conf has the Secret" has slurm-k8s.conf "KeySecret=mine" --set slurmKey.existingSecret=mine
check "slurm-k8s.conf has the domain" has slurm-k8s.conf "ClusterDomain=k8s.example.org" \
  --set clusterDomain=k8s.example.org
check "slurm-k8s.conf has the service" has slurm-k8s.conf "NodeService=other-nodes" --set fullnameOverride=other
check "what slurmctld takes by a reconfiguration restarts nothing" hash_follows_what_needs_a_restart
check "without configPush a change restarts the controller" hash_follows_configuration \
  --set controller.configPush.enabled=false
check "without configPush scripts can be run" shows controller/statefulset 'defaultMode: 0755' \
  --set controller.configPush.enabled=false
check "Slurm 22.05: a change restarts the controller" hash_follows_configuration --set slurmVersion=22.05
check "two controllers: what slurmctld takes by a reconfiguration restarts nothing" hash_follows_what_needs_a_restart \
  --set "controller.replicas=2,controller.persistence.existingClaim=shared"
check "two controllers: a pod is deleted by its uid" shows controller/statefulset \
  '^            - name: POD_UID$|name: POD_UID, valueFrom: \{fieldRef: \{fieldPath: metadata.uid\}\}' \
  --set "controller.replicas=2,controller.persistence.existingClaim=shared"
check "settings that need a restart" restart_settings_are_the_same
check "further files of a Secret" shows controller/statefulset '^            - secret/mine$' \
  --set 'configFilesFrom[0].secret=mine'
check "further files of a Secret: in the pod that starts" shows controller/statefulset '^ +- secret: \{name: mine\}$' \
  --set 'configFilesFrom[0].secret=mine'
check "further files of a Secret: rights" shows controller/rbac '^    resourceNames: \[mine\]$' \
  --set 'configFilesFrom[0].secret=mine'
check "a source of two kinds" refused "/configFilesFrom/0" \
  --set 'configFilesFrom[0].secret=mine,configFilesFrom[0].configMap=mine'
check "helm upgrade waits for the answer" shows controller/config_await 'helm.sh/hook: post-upgrade,post-rollback'
check "helm upgrade does not wait" lacks config-await --set controller.configPush.wait=false
# Pod Security level `restricted`, and a root file system that cannot be written. It needs its service account's token.
await_is_restricted() {
  local line
  for line in 'runAsNonRoot: true' 'allowPrivilegeEscalation: false' 'readOnlyRootFilesystem: true' 'drop: \[ALL\]' \
    'type: RuntimeDefault' 'runAsUser: 401'; do
    shows controller/config_await "$line" || return 1
  done
}
check "what waits: restricted" await_is_restricted
check "what waits: no connections to it" part '^  policyTypes: \[Ingress\]$' NetworkPolicy slurm-config-await
check "what waits: the policy is about its pod" part '^      app.kubernetes.io/name: config-await$' NetworkPolicy \
  slurm-config-await
check "what waits: no network policy" lacks_in controller/config_await NetworkPolicy --set networkPolicy.enabled=false
check "what waits: of one controller" shows controller/config_await \
  '\{name: CONTROLLER_PODS, value: slurm-controller-0\}'
two=(--set "controller.replicas=2,controller.persistence.existingClaim=shared")
check "what waits: of two controllers" shows controller/config_await \
  '\{name: CONTROLLER_PODS, value: slurm-controller-0 slurm-controller-1\}' "${two[@]}"
# The pods that have the condition.
config_pods_are() { # NAMES [OPTION...]
  local pods
  pods=$(render --show-only templates/controller/statefulset.yaml "${@:2}" |
    sed -n '/^ *- --config-pod$/{n;s/^ *- //p}' | paste -sd ' ')
  [[ $pods == "$1" ]] || { echo "$pods"; return 1; }
}
check "the condition: of one controller" config_pods_are slurm-controller-0
check "the condition: of two controllers" config_pods_are "slurm-controller-0 slurm-controller-1" "${two[@]}"

check "a key of 1024 bytes" key_is_long
check "the key is kept at uninstall" shows config/key 'helm.sh/resource-policy: keep'
check "no key with existingSecret" lacks "kind: Secret" --set slurmKey.existingSecret=mine
