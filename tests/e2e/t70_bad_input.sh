# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Invalid input: one error that names object and field, in the right place, and no other effect.

controller_log() { kubectl logs slurm-controller-0 -c slurmctld --since=120s; }
log_has() { controller_log | grep -cE "$1" >/dev/null; }
reason_has() { [[ $(slurm scontrol show node "$1" | grep -oE 'Reason=.*') == *"$2"* ]]; }
condition_has() { [[ $(nodeset_condition "$1" message) == *"$2"* ]]; }

nodeset() { # NAME SPEC: a NodeSet in JSON
  printf '{"apiVersion":"slurm-k8s.io/v1alpha1","kind":"NodeSet","metadata":{"name":"%s"},"spec":%s}' "$1" "$2"
}

refused() { # SPEC TEXT: the API server refuses it, naming the field
  local out
  if out=$(nodeset bad "$1" | kubectl apply -f - 2>&1); then
    kubectl delete nodesets.slurm-k8s.io bad >/dev/null
    fail "taken: $1"
  fi
  [[ $out == *"$2"* ]] || fail "$1: $out"
}

test_a_spec_that_the_schema_refuses() {
  refused '{"replicas":-1}' spec.replicas
  refused '{"replicas":1000000}' spec.replicas
  refused '{"replicas":1,"ordinalPadding":-1}' spec.ordinalPadding
  refused '{"replicas":"many"}' spec.replicas
  # A pod template without a slurmd container.
  refused '{"replicas":1,"template":{"spec":{"containers":[{"name":"other","image":"x"}]}}}' spec.slurmd
  # Further ones: tests/contract/nodeset_schema.sh.
  refused '{"replicas":1,"slurmd":{"image":"x"}}' "limits.cpu: determines CPUs of the nodes"
  assert_equal "nodes" 8 "$(node_count)"
}

test_a_spec_that_the_sidecar_refuses() {
  trap 'kubectl delete nodesets.slurm-k8s.io bad --ignore-not-found >/dev/null' EXIT
  # The schema can't say these.
  nodeset bad '{"replicas":2,"slurmd":{"image":"x","resources":{"limits":{"cpu":"2","memory":"1Gi"}}},
    "extraConf":"CoresPerSocket=3"}' | kubectl apply -f - >/dev/null
  wait_for "the condition names object and field" condition_has bad \
    "nodeset $NAMESPACE/bad: spec.extraConf: Invalid value: \"CoresPerSocket=3\""
  assert_equal "condition" "False InvalidSpec" "$(nodeset_condition bad status) $(nodeset_condition bad reason)"
  assert_equal "nodes" 8 "$(node_count)"
  nodeset bad '{"replicas":2,"slurmd":{"image":"x","resources":{"limits":{"cpu":"5","memory":"1Gi"}}},
    "extraConf":"ThreadsPerCore=2"}' | kubectl apply -f - >/dev/null
  wait_for "the condition is that of the change" condition_has bad "must divide the 5 CPUs"
  # The other NodeSet goes on.
  local job
  job=$(submit -N1 --wrap true)
  wait_done "$job" 60
}

test_a_node_that_no_nodeset_owns() {
  trap 'slurm scontrol delete nodename=stray-0 >/dev/null 2>&1' EXIT
  slurm scontrol create nodename=stray-0 state=cloud cpus=1 realmemory=100 >/dev/null
  slurm scontrol update nodename=stray-0 state=power_up
  wait_for "the reason says so" reason_has stray-0 "no nodeset in namespace $NAMESPACE owns node stray-0"
  assert_equal "pods" 0 "$(pod_count)"
  wait_for 60 "stray-0 powered down again" node_has_state stray-0 POWERED_DOWN
}

test_a_pod_that_the_api_server_refuses() {
  trap 'kubectl delete nodesets.slurm-k8s.io bad --ignore-not-found >/dev/null' EXIT
  nodeset bad '{"replicas":1,"slurmd":{"image":"x","resources":{"limits":{"cpu":"1","memory":"1Gi"}}},
    "template":{"spec":{"volumes":[{"name":"v"}],"priorityClassName":"no-such-class"}}}' | kubectl apply -f - >/dev/null
  wait_for "9 nodes" has_node_count 9
  local job
  job=$(submit -N1 -w bad-0 --wrap true)
  wait_for "the node's reason has the API server's words" reason_has bad-0 "no-such-class"
  wait_job "$job" PENDING 30
  slurm scancel "$job"
  kubectl delete nodesets.slurm-k8s.io bad >/dev/null
  wait_for 60 "8 nodes" has_node_count 8
}

resume() { slurm env "SLURM_RESUME_FILE=$1" /usr/libexec/slurm-k8s/slurm-k8s-resume compute-6 2>&1; }

test_resume_files() {
  # Each is reported, to who ran the program and in slurmctld's log, and the node is resumed all the same.
  local out
  slurm bash -c 'cd /tmp && printf %s "{\"all_nodes_resume\":\"compute-6\",\"jobs\":[{\"job_id\":" >truncated.json &&
    printf %s "{\"all_nodes_of_slurm_99\":\"compute-6\",\"jobs\":[]}" >other.json'
  out=$(resume /tmp/missing.json)
  [[ $out == *"resume file /tmp/missing.json"* ]] || fail "missing: $out"
  out=$(resume /tmp/truncated.json)
  [[ $out == *"resume file /tmp/truncated.json"* ]] || fail "truncated: $out"
  out=$(resume /tmp/other.json)
  [[ $out == *"resume file /tmp/other.json"*all_nodes_resume* ]] || fail "other version: $out"
  log_has 'resume file /tmp/truncated.json' || fail "not in slurmctld's log"
  wait_for "the node's pod" has_pod_count 1
  slurm /usr/libexec/slurm-k8s/slurm-k8s-suspend compute-6
  wait_for "no pod" has_pod_count 0
}

direct() { # KUBECONFIG-CONTENT: what the program says when it works without the engine, which goes on for 60 s
  slurm bash -c 'cat >/tmp/kubeconfig' <<<"$1"
  slurm bash -c 'printf "Kubeconfig=/tmp/kubeconfig\nNamespace=slurm\n" >/tmp/k8s.conf
    timeout 8 /usr/libexec/slurm-k8s/slurm-k8s-resume --config /tmp/k8s.conf --direct compute-6' 2>&1
}
kubeconfig() { # CLUSTER-FIELDS USER-FIELDS
  printf '%s' "{apiVersion: v1, kind: Config, current-context: c, contexts: [{name: c, context: {cluster: c, user: u}}],
    clusters: [{name: c, cluster: {server: 'https://kubernetes.default.svc', $1}}], users: [{name: u, user: {$2}}]}"
}

test_credentials() {
  local out wrong ca=/var/run/secrets/kubernetes.io/serviceaccount/ca.crt
  out=$(direct "$(kubeconfig "certificate-authority: $ca" 'tokenFile: /tmp/no-token')") && fail "done without a token"
  [[ $out == *"/tmp/no-token"* ]] || fail "unreadable token: $out"
  wrong=$(openssl req -x509 -newkey rsa:2048 -nodes -keyout /dev/null -subj /CN=wrong -days 2 2>/dev/null | base64 -w0)
  out=$(direct "$(kubeconfig "certificate-authority-data: $wrong" 'token: x')") && fail "done with a wrong CA"
  [[ $out == *certificate* ]] || fail "wrong CA: $out"
  assert_equal "pods" 0 "$(pod_count)"
}

test_settings() {
  local out
  slurm bash -c 'printf "Namespace=slurm\nNoSuchKey=1\n" >/tmp/bad.conf'
  if out=$(slurm /usr/libexec/slurm-k8s/slurm-k8s-resume --config /tmp/bad.conf compute-6 2>&1); then fail "taken"; fi
  [[ $out == *"/tmp/bad.conf"*2*NoSuchKey* ]] || fail "$out"
  if slurm /usr/libexec/slurm-k8s/slurm-k8s-resume 'compute-[1' >/dev/null 2>&1; then
    fail "a bad hostlist was taken"
  fi
}
