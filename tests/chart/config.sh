# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# ConfigMap and Secret: slurm.conf without the sections below, slurm-k8s.conf, further files, the key.

config_hash() {
  render --show-only templates/controller/statefulset.yaml "$@" | grep config-hash
}

# A changed configuration must roll the controller's pod, and nothing else.
hash_follows_configuration() {
  [[ $(config_hash) == "$(config_hash)" ]] || return 1
  [[ $(config_hash) == "$(config_hash --set controller.slurmctld.args[0]=-v)" ]] || return 1
  [[ $(config_hash) != "$(config_hash --set slurm.suspendTime=7)" ]]
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
check "Slurm 24.11 by default: no defunct parameter" lacks 'cloud_reg_addrs|munge'
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
check "a change of the configuration restarts the controller" hash_follows_configuration

check "a key of 1024 bytes" key_is_long
check "the key is kept at uninstall" shows config/key 'helm.sh/resource-policy: keep'
check "no key with existingSecret" lacks "kind: Secret" --set slurmKey.existingSecret=mine
