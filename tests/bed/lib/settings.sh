# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Names, versions, addresses and paths of the test bed: the only place that has them.
# shellcheck disable=SC2034 # the other files use them

REPOSITORY=$(cd "$BED_DIR/../.." && pwd)

KUBERNETES_VERSION=1.34.4
COREDNS_VERSION=1.12.1
HELM_VERSION=3.19.5
KWOK_VERSION=0.7.0
PROMETHEUS_ADAPTER_VERSION=0.12.0
DRA_EXAMPLE_DRIVER_VERSION=0.2.1
JOBSET_VERSION=0.8.2
LWS_VERSION=0.7.0
KUBE_ROUTER_VERSION=2.1.0
PROMETHEUS_OPERATOR_VERSION=0.85.0
# What the modules above ask for, and what is fetched where Debian's Go is older.
GO_MINIMUM=1.24
GO_TOOLCHAIN=1.24.13
# Debian of the virtual machines, and the one that their containerd is of: 2.1 or later can give containers a writable
# cgroup. Their memory in MiB, and the oldest QEMU that was seen to run them.
VM_SUITE=trixie
VM_CONTAINERD_SUITE=forky
VM_MEMORY=2048
VM_FIRST_NUMBER=50
QEMU_MINIMUM=10
# The Debian whose Slurm the images have. Their tag is BED_TAG, with the Debian's name unless it is the default one.
DEFAULT_SUITE=trixie
BASE_SUITE=${BED_SUITE:-$DEFAULT_SUITE}
DEFAULT_TAG=dev
IMAGE_TAG=${BED_TAG:-$DEFAULT_TAG}
[[ $BASE_SUITE == "$DEFAULT_SUITE" ]] || IMAGE_TAG+=-$BASE_SUITE

BED_CACHE=${SLURM_K8S_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/slurm-k8s}
# 2 to 9: a further bed, beside the first.
BED_NUMBER=${BED_NUMBER:-}
BED_STATE=${SLURM_K8S_STATE:-/var/lib/slurm-k8s-bed}${BED_NUMBER:+-$BED_NUMBER}
BED_NAMESPACE=${BED_NAMESPACE:-slurm}
BED_BIN=$BED_CACHE/bin
BED_LOG=$BED_STATE/log
BED_KUBECONFIG=$BED_STATE/pki/admin.conf
CONTAINERD_SOCKET=$BED_STATE/containerd.sock

BED_NETNS_FILE=$BED_STATE/netns
BED_CGROUP=slurm-k8s-bed${BED_NUMBER:+-$BED_NUMBER}
BED_CNI_NETWORK=$BED_CGROUP
BED_NODE=node1
NODE_ADDRESS=172.31.0.1
SERVICE_RANGE=10.96.0.0/16
API_SERVICE_ADDRESS=10.96.0.1
DNS_SERVICE_ADDRESS=10.96.0.10
DNS_PORT=1053
POD_RANGE=10.244.0.0/14
# The node's share of POD_RANGE: the controller manager gives the first node the first /22.
NODE_POD_RANGE=10.244.0.0/22
MAX_PODS=${BED_MAX_PODS:-200}

PAUSE_IMAGE=localhost/pause:slurm-k8s
BASE_IMAGE=localhost/debian:$BASE_SUITE-slim
PROMETHEUS_IMAGE=localhost/prometheus:$BASE_SUITE
VOLUME_COUNT=128
REGISTRY_ADDRESS=$NODE_ADDRESS:5000

COMPONENTS=(etcd containerd kube-apiserver kube-controller-manager kube-scheduler kubelet kube-proxy coredns)
