# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# examples/autoscaling: a HorizontalPodAutoscaler scales a NodeSet by Slurm's queue, with prometheus-adapter.
#
# Alone: all
# Release: autoscaler

# shellcheck source=tests/e2e/prometheus.sh
source "$E2E_FOLDER/prometheus.sh"

EXAMPLES=$E2E_FOLDER/../../examples/autoscaling
ADAPTER_PORT=16443

# In the bed's network, for the API server a service in the namespace.
start_adapter() { # FOLDER
  local address
  address=$(kubectl get node node1 -o jsonpath='{.status.addresses[?(@.type=="InternalIP")].address}')
  "$BED" build prometheus-adapter
  # As prometheus-adapter's chart makes a configuration of its values.
  { echo externalRules:; sed '1,/^  external:/d; s/^  //' "$EXAMPLES/prometheus-adapter.yaml"; } >"$1/adapter.yaml"
  "$BED" exec "$("$BED" path)/prometheus-adapter" --prometheus-url="$URL" --config="$1/adapter.yaml" \
    --secure-port="$ADAPTER_PORT" --cert-dir="$1/certificates" --metrics-relist-interval=10s \
    --lister-kubeconfig="$("$BED" kubeconfig)" --authentication-kubeconfig="$("$BED" kubeconfig)" \
    --authorization-kubeconfig="$("$BED" kubeconfig)" >"$1/adapter.log" 2>&1 &
  kubectl apply -f - >/dev/null <<END
apiVersion: v1
kind: Service
metadata: {name: prometheus-adapter}
spec: {ports: [{port: 443, targetPort: $ADAPTER_PORT}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: prometheus-adapter, labels: {kubernetes.io/service-name: prometheus-adapter}}
addressType: IPv4
ports: [{port: $ADAPTER_PORT}]
endpoints: [{addresses: ["$address"]}]
---
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1beta1.external.metrics.k8s.io}
spec:
  group: external.metrics.k8s.io
  version: v1beta1
  groupPriorityMinimum: 100
  versionPriority: 100
  insecureSkipTLSVerify: true
  service: {name: prometheus-adapter, namespace: $NAMESPACE}
END
}
wanted_nodes() {
  local path=/apis/external.metrics.k8s.io/v1beta1/namespaces/$NAMESPACE/wanted_nodes
  kubectl get --raw "$path?labelSelector=partition%3Dcompute"
}
wants() { [[ $(wanted_nodes) == *"\"value\":\"$1\""* ]]; }
stop_all() {
  set +e
  kubectl delete apiservice v1beta1.external.metrics.k8s.io >/dev/null
  kubectl delete hpa compute >/dev/null
  queries quit
  kill "$(pgrep -f "prometheus-adapter .*--secure-port=$ADAPTER_PORT")"
  wait
  rm -rf "$work"
}

test_the_queue_scales_a_nodeset() {
  local jobs=() job work
  work=$(mktemp -d)
  "$BED" helm upgrade slurm "$CHART" -n "$NAMESPACE" "${VALUES[@]}" --set nodesets.compute.replicas=null \
    --set nodesets.compute.scalingMode=Always,nodesets.compute.partition.enabled=true --wait --timeout 180s >/dev/null
  wait_for 60 "slurmctld up" controller_ready
  scale 1
  wait_for 90 "one node" has_node_count 1
  trap stop_all EXIT
  start_prometheus "$work"
  start_adapter "$work"
  wait_for 90 "the metric of an empty queue" wants 0 || { tail -5 "$work/adapter.log" >&2; wanted_nodes; return 1; }
  # As it is, but sooner.
  sed "s/namespace: slurm/namespace: $NAMESPACE/; s/stabilizationWindowSeconds: 300/stabilizationWindowSeconds: 15/" \
    "$EXAMPLES/hpa.yaml" | kubectl apply -f - >/dev/null
  # Each wants a node. Slurm takes no job that needs more nodes than there are.
  for job in 1 2 3; do jobs+=("$(submit -p compute -N1 --exclusive --wrap "$(runs_until wanted)")"); done
  wait_for 180 "three nodes" has_node_count 3 || { kubectl describe hpa compute >&2; return 1; }
  for job in "${jobs[@]}"; do
    wait_job "$job" RUNNING 120
    end_run "$(job_nodes "$job")" wanted
    wait_done "$job" 60
  done
  wait_for 150 "one node again" has_node_count 1
}
