# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Devices for resource claims (DRA): the example driver of the Kubernetes project, as a service of a virtual machine. It
# has no hardware and no device files: a container gets variables GPU_DEVICE_N. It needs a containerd with CDI, so 1.7
# or later, which the bed's own node has not.

VM_DRA_PROGRAM=dra-example-kubeletplugin
VM_DRA_GPUS=4

# With the kubelet's rights, which suffice for the claims and slices of its node.
vm_dra_is_running() { vm_ssh "$1" systemctl is-active --quiet "$VM_DRA_PROGRAM"; }

vm_dra_run() {
  local program=/usr/local/sbin/$VM_DRA_PROGRAM
  vm_ssh "$1" "install -m 755 /dev/stdin $program" <"$BED_BIN/$VM_DRA_PROGRAM"
  vm_ssh "$1" systemd-run --quiet --collect --unit "$VM_DRA_PROGRAM" --setenv "NODE_NAME=$1" "$program" \
    --kubeconfig /etc/kubernetes/kubelet.conf --cdi-root /var/run/cdi --num-devices "$VM_DRA_GPUS"
}

# As a DRA driver's chart would.
vm_dra_create_class() {
  kubectl_run apply --filename=- >/dev/null <<YAML
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu.example.com}
spec: {selectors: [{cel: {expression: device.driver == 'gpu.example.com'}}]}
YAML
}

vm_dra_is_offered() {
  [[ $(kubectl_run get resourceslices --field-selector "spec.nodeName=$1" \
    -o 'jsonpath={.items[*].spec.devices[*].name}' | wc -w) == "$VM_DRA_GPUS" ]]
}

vm_dra_start() {
  vm_require_running "$1"
  program_ensure "$VM_DRA_PROGRAM"
  vm_dra_create_class
  vm_dra_is_running "$1" || vm_dra_run "$1"
  wait_until 120 "$1: $VM_DRA_GPUS devices of DeviceClass gpu.example.com" vm_dra_is_offered "$1"
  progress "$1: $VM_DRA_GPUS devices of DeviceClass gpu.example.com"
}
