# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Claim 10 of SECURITY.md: an account that has the chart's role to write NodeSets, and nothing else.
# shellcheck source=tests/hostile/lib.sh
source "$E2E_FOLDER/../hostile/lib.sh"

EDITOR=hostile-editor
as_editor() { kubectl --as="$EDITOR" "$@"; }
be_editor() {
  trap 'kubectl delete rolebinding hostile-edit --ignore-not-found >/dev/null
    kubectl delete nodesets.slurm-k8s.io hostile --ignore-not-found >/dev/null
    wait_for 60 "8 node records" has_node_count 8' EXIT
  kubectl create rolebinding hostile-edit --role=slurm-nodeset-edit --user="$EDITOR" >/dev/null
  # The API server learns of it from a watch.
  wait_for "the binding" as_editor auth can-i patch nodesets.slurm-k8s.io
}
# nodeset SPEC-FIELDS: NodeSet `hostile`, written by the editor.
nodeset() {
  local image
  image=$(kubectl get nodesets.slurm-k8s.io compute -o jsonpath='{.spec.slurmd.image}')
  as_editor apply --filename=- 2>&1 <<JSON
{"apiVersion":"slurm-k8s.io/v1alpha1","kind":"NodeSet","metadata":{"name":"hostile"},"spec":{"replicas":1,
 "slurmd":{"image":"$image","resources":{"limits":{"cpu":"1","memory":"256Mi"}}},$1}}
JSON
}

test_rights_of_an_editor() {
  local what
  be_editor
  assert_equal "patch nodesets" yes "$(as_editor auth can-i patch nodesets.slurm-k8s.io 2>/dev/null || true)"
  for what in "get secrets" "create pods" "delete pods" "create pods --subresource=exec" "get pods --subresource=log" \
    "create serviceaccounts --subresource=token" "create rolebindings" "patch configmaps" "patch statefulsets" \
    "impersonate serviceaccounts" "patch nodesets.slurm-k8s.io --subresource=status"; do
    # shellcheck disable=SC2086
    assert_equal "$what" no "$(as_editor auth can-i $what 2>/dev/null || true)"
  done
}

# No template, overlay or patch gets a pod that reaches its Kubernetes node, or the key as a file for jobs: the policy
# sees what they make. t82_pod_policy has each of its rules.
refused_with() { # TEXT RULE
  local job
  job=$(submit -w hostile-0 -n1 --wrap true)
  says_why() { [[ $(node_reason hostile-0) == *"$2"* ]]; }
  wait_for 60 "$1: refused with '$2'" says_why "$@" || fail "Reason: $(node_reason hostile-0)" || return 1
  assert_equal "$1: pods" 0 "$(kubectl get pods -l slurm-k8s.io/nodeset=hostile -o name | grep -c . || true)"
  slurm scancel "$job"
}
again() {
  kubectl delete nodesets.slurm-k8s.io hostile --ignore-not-found >/dev/null
  wait_for 60 "8 node records" has_node_count 8
}
make() { # SPEC-FIELDS
  again
  local answer
  answer=$(nodeset "$1") || fail "$answer" || return 1
  wait_for "9 node records" has_node_count 9
}

test_nodesets_of_a_stranger() {
  be_editor
  RESTARTS=$(restarts)
  make '"template":{"spec":{"hostPID":true,"containers":[{"name":"slurmd","securityContext":{"privileged":true}}]}}'
  refused_with "template" "above Pod Security level baseline"
  make '"template":{"spec":{"volumes":[{"name":"k","secret":{"secretName":"slurm-key","defaultMode":292}}]}}'
  refused_with "key" "only as volume slurm-key with mode 0400"
  assert_equal restarts "$RESTARTS" "$(restarts)"
}

# A patch of a variant is merged when a job chooses it.
test_variants_of_a_stranger() {
  local job
  needs_slurm 23.02
  be_editor
  make \
    '"variants":[{"name":"evil","patch":{"template":{"spec":{"volumes":[{"name":"host","hostPath":{"path":"/"}}]}}}}]'
  knows_variant() { slurm scontrol show node hostile-0 | grep AvailableFeatures | grep -c evil >/dev/null; }
  wait_for "variant" knows_variant
  job=$(submit -w hostile-0 -n1 --constraint=evil --wrap true)
  says_hostpath() { [[ $(node_reason hostile-0) == *"volumes: hostPath: above Pod Security level baseline"* ]]; }
  wait_for 60 "refused" says_hostpath || fail "Reason: $(node_reason hostile-0)"
  slurm scancel "$job"
}

# The sidecar has read the NodeSet as it is now, and has answered for it.
is_read() {
  [[ $(kubectl get nodesets.slurm-k8s.io hostile -o jsonpath='{.metadata.generation}') == \
    $(kubectl get nodesets.slurm-k8s.io hostile -o jsonpath='{.status.observedGeneration}') ]]
}

# Fields that reach slurm.conf's parser, or slurmctld: each is refused, or slurmctld goes on.
test_fields_of_a_stranger() {
  local fields answer taken=0
  be_editor
  RESTARTS=$(restarts)
  for fields in '"extraConf":"Weight=1\nNodeName=x"' '"extraConf":"NodeName=x State=DOWN"' \
    '"extraConf":"Weight=99999999999999999999"' \
    '"extraConf":"Features=a,,b,$(reboot)"' '"extraConf":"Gres=gpu:99999999999"' '"extraConf":"Port=6817"' \
    '"extraConf":"NodeAddr=slurm-controller"' '"replicas":2147483647' '"replicas":-1' '"ordinalPadding":99' \
    '"partition":{"enabled":true,"config":"Nodes=ALL AllowGroups=x"}' '"memoryReserve":"999999999999Ti"' \
    '"variants":[{"name":"a|b","patch":{}}]' '"template":{"metadata":{"labels":{"slurm-k8s.io/node":"compute-0"}}}'; do
    if ! answer=$(nodeset "$fields"); then
      echo "# refused: ${answer:0:120}" >&2
      continue
    fi
    taken=$((taken + 1))
    wait_for "$fields: read by the sidecar" is_read
    wait_for "$fields: slurmctld answers" controller_ready
    assert_equal "$fields: restarts" "$RESTARTS" "$(restarts)"
    echo "# taken: $fields: $(nodeset_condition hostile reason)" >&2
  done
  ((taken >= 1)) || fail "none was taken: is the NodeSet itself valid?"
  again
  assert_equal restarts "$RESTARTS" "$(restarts)"
  assert_equal "nodes of others" "compute-[0-7]" "$(node_names)"
  wait_for "slurmctld answers" controller_ready
}
