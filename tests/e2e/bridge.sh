# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A release with the bridge, and workloads for it.

SCHEDULER=slurm-k8s-bridge

# An earlier file may have left one with another name.
has_bridge() {
  kubectl get statefulset slurm-controller \
    -o jsonpath='{.spec.template.spec.containers[?(@.name=="bridge")].args}' | grep -F "\"$SCHEDULER\""
}
bridge_values() {
  cat <<END
bridge:
  enabled: true
  schedulerName: $SCHEDULER
  managedNamespaces: [$NAMESPACE-managed]
  users:
    - {namespace: $NAMESPACE, serviceAccount: other, uid: 2002, gid: 2002, allow: [qos]}
    - {namespace: $NAMESPACE, uid: 2001, gid: 2001}
END
}

# bridge_values of a file whose $SCHEDULER is its own: bridges with one name would answer each other's pods.
values_with_one_user() { # [FIELD-OF-THE-RULE]
  cat <<END
bridge:
  enabled: true
  schedulerName: $SCHEDULER
  users: [{namespace: $NAMESPACE, uid: 2001, gid: 2001${1:+, $1}}]
END
}

# A deleted pod with this metadata stays, as Kubernetes left it, until let_go.
# shellcheck disable=SC2034 # of the tests
KEPT='"finalizers": ["slurm-k8s.io/test"]'
let_go() { # POD...
  kubectl patch pod "$@" --type=merge --patch '{"metadata": {"finalizers": null}}' >/dev/null
}
is_disrupted() { # POD REASON
  [[ $(pod_field "$1" '.status.conditions[?(@.type=="DisruptionTarget")].reason') == "$2" ]]
}

# What a failed test left behind would be another test's.
remove_workloads() {
  local kept ours='@.metadata.finalizers[0]=="slurm-k8s.io/test"'
  kept=$(kubectl get pods -o jsonpath="{range .items[?($ours)]}{.metadata.name} {end}")
  # shellcheck disable=SC2086 # words
  [[ -z $kept ]] || let_go $kept
  kubectl delete jobs.batch/ranks jobs.batch/single jobs.batch/mixed replicasets.apps/web --ignore-not-found >/dev/null
  kubectl delete pods --field-selector "spec.schedulerName=$SCHEDULER" >/dev/null
  kubectl delete pods --selector slurm-k8s.io/bridge >/dev/null
}

# For the whole cluster: of two workers at once the second would find that it exists.
put_definitions() {
  flock 8
  put_definition scheduling.x-k8s.io v1alpha1 PodGroup podgroup
  put_definition jobset.x-k8s.io v1alpha2 JobSet jobset
  put_definition leaderworkerset.x-k8s.io v1 LeaderWorkerSet leaderworkerset
}
put_definition() { # GROUP VERSION KIND SINGULAR
  kubectl apply -f - >/dev/null <<END
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: $4s.$1
  annotations: {api-approved.kubernetes.io: "unapproved, for a test"}
spec:
  group: $1
  names: {kind: $3, plural: $4s, singular: $4}
  scope: Namespaced
  versions:
    - name: $2
      served: true
      storage: true
      schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
END
}

upgrade_bridge() { # HELM-OPTION…
  "$BED" helm upgrade slurm "$E2E_FOLDER/../../helm/slurm" -n "$NAMESPACE" "${VALUES[@]}" -f <(bridge_values) \
    "$@" >/dev/null
}
# The release is upgraded once.
enable_bridge() {
  if has_bridge >/dev/null 2>&1; then return; fi
  put_definitions 8>"$WORK/definitions.lock"
  kubectl apply -f - >/dev/null <<<'{"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "other"}}'
  upgrade_bridge --wait --timeout 180s
  wait_for 90 "slurmctld up" controller_ready
}

# A pod template's spec that runs COMMAND.
spec_of() { # COMMAND [MORE]
  cat <<END
{"schedulerName": "$SCHEDULER", "restartPolicy": "Never", "terminationGracePeriodSeconds": ${GRACE:-5}, ${2:-}
 "containers": [{"name": "main", "image": "localhost/slurm-k8s/slurmd:$IMAGE_TAG", "command": ["sh", "-c", "$1"],
   ${MOUNTS:-} "resources": {"requests": {"cpu": "10m", "memory": "32Mi"},
                             "limits": {${DEVICES:-} "memory": "64Mi"}}}]}
END
}
put_pod() { # NAME COMMAND [METADATA [SPEC]]
  kubectl apply -f - >/dev/null <<END
{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "$1" ${3:-}}, "spec": $(spec_of "$2" "${4:-}")}
END
}
pod_job() { pod_field "$1" '.metadata.annotations.slurm-k8s\.io/job-id'; }
tell_to_end() { kubectl exec "$1" -- touch /tmp/end || true; } # POD: its end may end the command, too
has_job() { [[ $(pod_job "$1") ]]; }
waits_for() { # POD TEXT
  [[ $(pod_field "$1" '.status.conditions[?(@.type=="PodScheduled")].message') == *"$2"* ]]
}
has_event() { # POD REASON TEXT
  kubectl get events.events.k8s.io --field-selector "regarding.name=$1" \
    -o jsonpath='{range .items[*]}{.reason}{" "}{.note}{"\n"}{end}' | grep -qF "$2 $3"
}
describe_says() { # POD TEXT
  kubectl describe pod "$1" | grep -E ' (SlurmPending|SlurmJobRefused) ' | grep -qF -- "$2"
}
is_gone() { ! kubectl get pod "$1"; }
job_of() { slurm squeue -h -n "$1" -o %A; }
has_running_jobs() { [[ $(slurm squeue -h -n "$1" -t R -o %A | wc -l) == "$2" ]]; } # NAME COUNT
is_without_job() { [[ ! $(job_of "$1") ]]; }
is_in_queue() { [[ $(job_of "$1") ]]; }
