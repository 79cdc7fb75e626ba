# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# R6: nodes of the bridge alone: Slurm's external nodes, which have no slurmd and no pod.
#
# A Kubernetes node of the bed has few CPUs, so the node has one, which two pods share.
#
# Release: external-nodes
# Alone: test_a_full_node_is_not_refused test_topology_of_the_kubernetes_node test_nodes_have_what_other_pods_leave

# shellcheck source=tests/e2e/bridge.sh
source "$E2E_FOLDER/bridge.sh"

SCHEDULER=slurm-k8s-bridge-external
bridge_values() {
  values_with_one_user 'partition: ex'
  cat <<END
nodesets:
  ex:
    scalingMode: External
    partition: {enabled: true, config: "OverSubscribe=FORCE:2"}
    slurmd: {resources: {limits: {cpu: "1", memory: 1Gi}}}
    podSpec: {nodeSelector: {kubernetes.io/hostname: node1}}
END
}

condition_is() { [[ $(nodeset_condition ex reason) == "$1" ]]; }
is_external() { [[ $(node_state ex-node1) == IDLE+*EXTERNAL* && $(node_state ex-node1) != *POWER* ]]; }
place_on() { # HOSTNAME
  kubectl patch nodesets.slurm-k8s.io ex --type=merge \
    -p '{"spec":{"template":{"spec":{"nodeSelector":{"kubernetes.io/hostname":"'"$1"'"}}}}}' >/dev/null
}
limit_to() { # LIMITS
  kubectl patch nodesets.slurm-k8s.io ex --type=merge \
    -p '{"spec":{"slurmd":{"resources":{"limits":'"$1"'}}}}' >/dev/null
}
# It is never powered down: a cluster with it is not at zero.
leave() {
  remove_workloads
  kubectl delete pods -l e2e=other --grace-period=1 >/dev/null
  limit_to '{"cpu":"1","memory":"1Gi"}'
  place_on elsewhere
  wait_for 60 "no external node" has_no_external_node
}
enter() {
  trap leave EXIT
  enable_bridge
  place_on node1
  wait_for 60 "its record" is_external
}
has_no_external_node() { ! slurm scontrol show node ex-node1; }

test_an_older_slurm_has_no_external_nodes() {
  needs_slurm_before 26.05
  enable_bridge
  wait_for "the condition" condition_is ExternalNodesUnknown
  assert_equal "its message" "spec.scalingMode: External: Slurm is older than 26.05" "$(nodeset_condition ex message)"
  has_no_external_node 2>/dev/null || fail "there is a node: $(node_state ex-node1)"
}

# "CPUS MIB": what the pods there leave of node1, less memoryReserve, while none of them has a Slurm job.
left_of_node1() {
  local allocatable
  allocatable=$(kubectl get node node1 -o jsonpath='{.status.allocatable.cpu} {.status.allocatable.memory}')
  kubectl describe node node1 | awk -v allocatable="$allocatable" '
    BEGIN { split("m .001 k 1000 M 1000000 G 1000000000 Ki 1024 Mi 1048576 Gi 1073741824", words, " ")
      for (i = 1; i < 16; i += 2) scale[words[i]] = words[i + 1] }
    function number(text,  suffix) { suffix = text; sub(/^[0-9.]+/, "", suffix)
      return suffix == "" ? text + 0 : text * scale[suffix] }
    /^Allocated resources:/ { on = 1 }
    on && ($1 == "cpu" || $1 == "memory") { requested[$1] = number($2) }
    END { split(allocatable, all, " ")
      printf "%d %d\n", number(all[1]) - requested["cpu"] + .000001,
        (number(all[2]) - requested["memory"]) / 1048576 - 64 }'
}
node_size() {
  slurm scontrol show node ex-node1 -o | sed -nE 's/.*CPUTot=([0-9]+) .*RealMemory=([0-9]+) .*/\1 \2/p'
}
has_what_is_left() { [[ $(node_size) == "$(left_of_node1)" ]]; }
memory_is() { # -lt|-gt MIB
  local size
  size=$(node_size)
  [[ $size ]] && test "${size#* }" "$1" "$2"
}
put_other_pod() { # NAME: not of the bridge, with 512 MiB of node1
  kubectl apply -f - >/dev/null <<END
{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "$1", "labels": {"e2e": "other"}}, "spec": {
  "terminationGracePeriodSeconds": 1, "nodeName": "node1", "containers": [{"name": "main",
    "image": "localhost/slurm-k8s/slurmd:$IMAGE_TAG", "command": ["sleep", "600"],
    "resources": {"requests": {"cpu": "10m", "memory": "512Mi"}}}]}}
END
}

# Pods of other tests come and go there meanwhile: so sizes are compared within 200 MiB.
test_nodes_have_what_other_pods_leave() {
  local before
  needs_slurm 26.05
  enter
  limit_to '{"cpu":null,"memory":null}'
  wait_for 90 "what is left" has_what_is_left
  before=$(node_size)
  echo "node1 has left: $before (CPUs, MiB)"
  put_other_pod other
  wait_for 30 "it shrinks" memory_is -lt $((${before#* } - 500 + 200))
  wait_for 30 "the other pod runs" pod_is other Running
  kubectl delete pod other >/dev/null
  stays 40 memory_is -lt $((${before#* } - 500 + 200))
  wait_for 60 "it grows" memory_is -gt $((${before#* } - 200))
}

# All that Slurm says that there is.
test_a_full_node_is_not_refused() {
  local size
  needs_slurm 26.05
  enter
  limit_to '{"cpu":null,"memory":null}'
  wait_for 90 "what is left" has_what_is_left
  size=$(node_size)
  echo "a pod of $size (CPUs, MiB)"
  kubectl apply -f - >/dev/null <<END
{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "full"}, "spec": {"schedulerName": "$SCHEDULER",
  "restartPolicy": "Never", "terminationGracePeriodSeconds": 1, "containers": [{"name": "main",
    "image": "localhost/slurm-k8s/slurmd:$IMAGE_TAG", "command": ["sleep", "20"],
    "resources": {"requests": {"cpu": "${size% *}", "memory": "${size#* }Mi"}}}]}}
END
  wait_for 60 "it runs" pod_is full Running
  assert_equal "its node's size meanwhile" "$size" "$(node_size)" # its own pod does not count
  wait_for 60 "it has ended" pod_is full Succeeded
  wait_job "$(pod_job full)" COMPLETED 30
}

test_pods_run_on_external_nodes() {
  local first said
  needs_slurm 26.05
  enter
  put_pod one 'sleep 600'
  wait_for 60 "the first runs" pod_is one Running
  first=$(pod_job one)
  assert_equal "its node, its Kubernetes node" "ex-node1 node1" \
    "$(job_nodes "$first") $(pod_field one .spec.nodeName)"
  assert_equal "pods of slurmd" 0 "$(pod_count)"
  put_pod two 'exit 3'
  wait_for 60 "the second has ended" pod_is two Failed
  wait_job "$(pod_job two)" FAILED 30
  assert_equal "its exit code" 3:0 "$(job_field "$(pod_job two)" ExitCode)"

  ! said=$(submit -p ex -n1 --wrap true 2>&1) || fail "a job of Slurm's own was taken: $said"
  [[ $said == *"Requested node configuration is not available"* ]] || fail "a job of Slurm's own: $said"
  put_pod three 'sleep 600'
  wait_for 60 "the third runs" pod_is three Running
  put_pod four 'sleep 600'
  wait_for "the fourth waits for a CPU" waits_for four Resources
  slurm scancel "$first"
  wait_for 60 "the first is gone with its job" is_gone one
  wait_for 60 "the fourth runs" pod_is four Running
}

# A node without a slurmd must not become "not responding", nor be powered down for being idle.
test_external_nodes_stay() {
  needs_slurm 26.05
  enter
  stays 40 is_external # SuspendTime is 15 s
  put_pod one 'sleep 600'
  wait_for 60 "a pod runs" pod_is one Running
  slurm scontrol reconfigure
  kubectl delete pod "$CONTROLLER" >/dev/null
  wait_for 60 "slurmctld up" controller_ready
  pod_is one Running || fail "the pod is $(pod_field one .status.phase)"
  is_job_in "$(pod_job one)" RUNNING || fail "its job is $(job_state "$(pod_job one)")"
  put_pod two true
  wait_for 60 "another one has run" pod_is two Succeeded
  wait_job "$(pod_job two)" COMPLETED 30

  # Its Kubernetes node is no longer one of the NodeSet's.
  place_on elsewhere
  wait_for "drained while a pod runs" node_has_state ex-node1 DRAIN
  pod_is one Running || fail "the pod is $(pod_field one .status.phase)"
  kubectl delete pod one >/dev/null
  wait_for 60 "no node" has_no_external_node
  place_on node1
  wait_for 60 "its record" is_external
  put_pod three true
  wait_for 90 "a pod has run there" pod_is three Succeeded
}

node_topology() { slurm scontrol show node ex-node1 -o | grep -oE '\bTopology=[^ ]*' | cut -d= -f2; }
has_topology() { [[ $(node_topology) == "$1" ]]; }
switch_nodes() { slurm scontrol show topology unit="$1" | grep -oE '\bNodes=[^ ]*' | head -1 | cut -d= -f2; }
annotate() { kubectl annotate --overwrite node node1 "$1" >/dev/null; }
# Without any node: a node of the other configuration would have no place in this one's topology.
configure() { # HELM-OPTION…
  scale 0
  wait_for 60 "no node records" has_node_count 0
  upgrade_bridge "$@" --wait --timeout 180s
  wait_for 60 "slurmctld up" controller_ready
}
without_topology() {
  annotate slurm-k8s.io/topology-
  leave
  configure
  scale 8
  wait_for 60 "8 node records" has_node_count 8
}

LEAVES=$'SwitchName=rack1\nSwitchName=rack2\nSwitchName=none\n'

# R6: another annotation is followed at once. slurmctld resets a topology when it powers a node down, which it never
# does here: without the annotation it stays until the record is created again (docs/admin/bridge.md).
test_topology_of_the_kubernetes_node() {
  needs_slurm 26.05
  trap without_topology EXIT
  enable_bridge
  place_on elsewhere
  wait_for 60 "no external node" has_no_external_node
  configure --set controller.extraConf=TopologyPlugin=topology/tree --set nodesets.ex.extraConf=Topology=default:none \
    --set-string configFiles.topology\\.conf="${LEAVES}SwitchName=root Switches=rack1\,rack2\,none"
  place_on node1
  wait_for 60 "its record" is_external
  assert_equal "topology of the definition" default:none "$(node_topology)"
  annotate slurm-k8s.io/topology=default:rack1
  wait_for "the topology of node1" has_topology default:rack1
  assert_equal "nodes of the switch" ex-node1 "$(switch_nodes rack1)"
  put_pod one 'sleep 600'
  wait_for 60 "a pod runs" pod_is one Running
  annotate slurm-k8s.io/topology=default:rack2
  wait_for "another one, beside the pod" has_topology default:rack2
  pod_is one Running || fail "the pod is $(pod_field one .status.phase)"
  kubectl delete pod one >/dev/null
  annotate slurm-k8s.io/topology-
  place_on elsewhere
  wait_for 60 "no external node" has_no_external_node
  place_on node1
  wait_for 60 "its record" is_external
  assert_equal "topology of another record" default:none "$(node_topology)"
}
