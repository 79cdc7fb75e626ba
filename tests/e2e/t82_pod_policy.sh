# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What the chart's policy lets a NodeSet make of a pod, and who may write NodeSets.

# pod SLURMD-FIELDS POD-FIELDS [TOKEN], in JSON with a comma before each: as the engine builds it.
pod() {
  echo '{"containers":[{"name":"slurmd","image":"localhost/x"'"$1"'}],"automountServiceAccountToken":'"${3:-false}$2}"
}
KEY_VOLUME='{"name":"slurm-key","secret":{"secretName":"slurm-key","defaultMode":256}}'
KEY_MOUNT='{"name":"slurm-key","mountPath":"/run/slurm-k8s/key"}'
OWN_VOLUME='{"name":"mine","projected":{"sources":[{"serviceAccountToken":{"path":"token"}}]}}'

is_taken() { # TEXT SPEC
  local answer
  answer=$(try_pod "$2" 2>&1) || fail "$1: $answer"
}
is_forbidden() { # TEXT FIELD SPEC
  local answer
  if answer=$(try_pod "$3" 2>&1); then fail "$1: taken" || return 1; fi
  [[ $answer == *"slurm-k8s: $2: "* ]] || fail "$1: refused otherwise: $answer"
}
has_policy() { ! try_pod "$PRIVILEGED_POD"; }

test_pods_that_the_policy_takes() {
  wait_for "the policy is in force" has_policy
  is_taken "the engine's own volume" "$(pod ",\"volumeMounts\":[$KEY_MOUNT]" ",\"volumes\":[$KEY_VOLUME]")"
  is_taken "by default" "$(pod ',"securityContext":{"capabilities":{"drop":["NET_RAW","MKNOD"]}}' \
    ',"securityContext":{"seccompProfile":{"type":"RuntimeDefault"}}')"
  is_taken "a capability of baseline" "$(pod ',"securityContext":{"capabilities":{"add":["CHOWN"]}}' '')"
  is_taken "a group for a site's own volumes" "$(pod '' ',"securityContext":{"fsGroup":100}')"
  is_taken "a site's own Secret" "$(pod '' ',"volumes":[{"name":"a","secret":{"secretName":"mine"}}]')"
}

test_pods_that_the_policy_refuses() {
  local security=',"securityContext":'
  is_forbidden "another service account" serviceAccountName "$(pod '' ',"serviceAccountName":"slurm-controller"')"
  is_forbidden "a token" volumes "$(pod '' ",\"volumes\":[$OWN_VOLUME]")"
  is_forbidden "its default token" automountServiceAccountToken "$(pod '' '' true)"
  is_forbidden "the key for all" volumes "$(pod '' ",\"volumes\":[${KEY_VOLUME/256/292}]")"
  is_forbidden "the key by another name" volumes "$(pod '' ",\"volumes\":[${KEY_VOLUME/\"slurm-key\"/\"a\"}]")"
  is_forbidden "the key for all, by an item" volumes "$(pod '' \
    ",\"volumes\":[${KEY_VOLUME/256/256,\"items\":[\{\"key\":\"slurm.key\",\"path\":\"k\",\"mode\":292\}]}]")"
  is_forbidden "the key, projected" volumes \
    "$(pod '' ',"volumes":[{"name":"a","projected":{"sources":[{"secret":{"name":"slurm-key"}}]}}]')"
  is_forbidden "the key at another place" volumeMounts \
    "$(pod ",\"volumeMounts\":[${KEY_MOUNT/\/run\/slurm-k8s/\/tmp}]" ",\"volumes\":[$KEY_VOLUME]")"
  is_forbidden "the key in an init container" volumeMounts "$(pod '' ",\"volumes\":[$KEY_VOLUME],
    \"initContainers\":[{\"name\":\"a\",\"image\":\"localhost/x\",\"volumeMounts\":[$KEY_MOUNT]}]")"
  is_forbidden "the key for a group" securityContext \
    "$(pod '' ",\"volumes\":[$KEY_VOLUME]$security{\"fsGroup\":65534}")"
  is_forbidden "the key in a variable" env \
    "$(pod ',"env":[{"name":"A","valueFrom":{"secretKeyRef":{"name":"slurm-key","key":"slurm.key"}}}]' '')"
  is_forbidden "all keys in variables" env "$(pod ',"envFrom":[{"secretRef":{"name":"slurm-key"}}]' '')"
  is_forbidden "hostNetwork" "hostNetwork, hostPID, hostIPC" "$(pod '' ',"hostNetwork":true')"
  is_forbidden "hostIPC" "hostNetwork, hostPID, hostIPC" "$(pod '' ',"hostIPC":true')"
  is_forbidden "hostPath" volumes "$(pod '' ',"volumes":[{"name":"a","hostPath":{"path":"/"}}]')"
  is_forbidden "hostPort" ports "$(pod ',"ports":[{"containerPort":1,"hostPort":1}]' '')"
  is_forbidden "privileged" securityContext "$(pod "$security{\"privileged\":true}" '')"
  is_forbidden "CAP_SYS_ADMIN" securityContext "$(pod "$security{\"capabilities\":{\"add\":[\"SYS_ADMIN\"]}}" '')"
  is_forbidden "NET_RAW" securityContext "$(pod "$security{\"capabilities\":{\"add\":[\"NET_RAW\"]}}" '')"
  is_forbidden "no seccomp" securityContext "$(pod "$security{\"seccompProfile\":{\"type\":\"Unconfined\"}}" '')"
  is_forbidden "no seccomp in the pod" securityContext \
    "$(pod '' "$security{\"seccompProfile\":{\"type\":\"Unconfined\"}}")"
  is_forbidden "no AppArmor" securityContext "$(pod "$security{\"appArmorProfile\":{\"type\":\"Unconfined\"}}" '')"
  is_forbidden "SELinux" securityContext "$(pod '' "$security{\"seLinuxOptions\":{\"type\":\"spc_t\"}}")"
  is_forbidden "a probe of another address" "probes, lifecycle" \
    "$(pod ',"livenessProbe":{"httpGet":{"host":"169.254.169.254","port":80}}' '')"
  is_forbidden "a hook of another address" "probes, lifecycle" \
    "$(pod ',"lifecycle":{"postStart":{"httpGet":{"host":"127.0.0.1","port":80}}}' '')"
  is_forbidden "sysctl" securityContext \
    "$(pod '' "$security{\"sysctls\":[{\"name\":\"kernel.msgmax\",\"value\":\"1\"}]}")"
}

# What Kubernetes itself says of the pods that are there, as docs/admin/access.md promises.
violations() { # LEVEL
  kubectl label namespace "$NAMESPACE" --overwrite --dry-run=server "pod-security.kubernetes.io/enforce=$1" 2>&1 |
    grep -E '^Warning: ' || true
}
test_levels_of_pods_that_are_there() {
  local job
  assert_equal "above restricted: the controller" "" "$(violations restricted)"
  job=$(submit -N1 --wrap 'sleep 600')
  wait_job "$job" RUNNING 60
  assert_equal "above baseline: the controller and a node" "" "$(violations baseline)"
  [[ $(violations restricted) == *compute-* ]] || fail "a node's pod meets restricted: nothing is looked at"
  slurm scancel "$job"
}

# The namespace's administrator allows more, but neither the key nor tokens.
test_a_privileged_namespace() {
  trap forbid_privileged EXIT
  allow_privileged
  is_taken "CAP_SYS_ADMIN" \
    "$(pod ',"securityContext":{"privileged":true}' ',"volumes":[{"name":"a","hostPath":{"path":"/"}}]')"
  is_forbidden "a token" volumes "$(pod '' ",\"volumes\":[$OWN_VOLUME]")"
  is_forbidden "the key for all" volumes "$(pod '' ",\"volumes\":[${KEY_VOLUME/256/292}]")"
}

# A template, a patch of a variant: both meet in the pod alone, and the node says what was refused.
test_the_reason_of_a_node_has_the_rule() {
  trap 'kubectl delete nodesets.slurm-k8s.io greedy --ignore-not-found >/dev/null
    wait_for 60 "8 node records" has_node_count 8' EXIT
  local image job
  image=$(kubectl get nodesets.slurm-k8s.io compute -o jsonpath='{.spec.slurmd.image}')
  kubectl apply --filename=- >/dev/null <<JSON
{"apiVersion":"slurm-k8s.io/v1alpha1","kind":"NodeSet","metadata":{"name":"greedy"},"spec":{"replicas":1,
 "slurmd":{"image":"$image","resources":{"limits":{"cpu":"1","memory":"256Mi"}}},
 "template":{"spec":{"volumes":[{"name":"host","hostPath":{"path":"/"}}]}}}}
JSON
  wait_for "9 node records" has_node_count 9
  job=$(submit -w greedy-0 --wrap true)
  says_why() { [[ $(node_reason greedy-0) == *"volumes: hostPath: above Pod Security level baseline"* ]]; }
  wait_for 60 "the Reason names the rule" says_why
  assert_equal "pods of it" 0 "$(kubectl get pods -l slurm-k8s.io/nodeset=greedy -o name | grep -c . || true)"
  slurm scancel "$job"
}

# Roles of the chart, bound to three users.
as_user() { kubectl --as="$1" "${@:2}"; }
may() { [[ $(as_user "$1" auth can-i "$2" "$3" ${4:+--subresource="$4"} 2>/dev/null) == yes ]]; }
may_not() { ! may "$@"; }
test_roles_of_nodesets() {
  local role
  trap 'kubectl delete rolebinding e2e-view e2e-scale e2e-edit --ignore-not-found >/dev/null' EXIT
  for role in view scale edit; do
    kubectl create rolebinding "e2e-$role" --role="slurm-nodeset-$role" --user="e2e-$role" >/dev/null
  done
  # The API server learns of them from a watch.
  wait_for "the bindings" may e2e-edit patch nodesets.slurm-k8s.io
  may e2e-view list nodesets.slurm-k8s.io
  may_not e2e-view patch nodesets.slurm-k8s.io scale
  as_user e2e-scale scale nodeset/compute --replicas=9 >/dev/null
  wait_for "9 node records" has_node_count 9
  as_user e2e-scale scale nodeset/compute --replicas=8 >/dev/null
  wait_for 60 "8 node records" has_node_count 8
  may_not e2e-scale patch nodesets.slurm-k8s.io
  may_not e2e-scale create nodesets.slurm-k8s.io
  may e2e-edit patch nodesets.slurm-k8s.io
  may_not e2e-edit patch nodesets.slurm-k8s.io status
  for role in view scale edit; do
    may_not "e2e-$role" create pods
    may_not "e2e-$role" get secrets
    may_not "e2e-$role" create pods exec
  done
}
