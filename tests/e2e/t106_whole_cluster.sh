# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A release with every part that the chart has: what its pods may do, where its secrets are, and an upgrade under users.
#
# Release: whole-cluster

# shellcheck source=tests/e2e/whole_cluster.sh
source "$E2E_FOLDER/whole_cluster.sh"

BACKUP=$E2E_FOLDER/../../packaging/slurm-k8s-backup

# POD/CONTAINER of all that run.
containers() {
  kubectl get pods --field-selector status.phase=Running -o \
    go-template='{{range $p := .items}}{{range .spec.containers}}{{$p.metadata.name}}/{{.name}} {{end}}{{end}}'
}
# Kubernetes' own answer: the pods above a level.
above() { # LEVEL
  kubectl label namespace "$NAMESPACE" --overwrite --dry-run=server "pod-security.kubernetes.io/enforce=$1" 2>&1 |
    sed -nE 's/^Warning: ([a-z0-9.-]+)( \(and .*\))?: .*/\1\2/p' | sort | paste -sd' '
}

test_pods_and_their_levels() {
  local name options job
  install_all
  to_zero
  assert_equal "above restricted, without nodes" slurm-login-0 "$(above restricted)"
  job=$(submit -w compute-0 --wrap 'sleep 600')
  wait_job "$job" RUNNING 60
  # Kubernetes names one of those above for the same reasons.
  assert_equal "above restricted, with a node" "compute-0 (and 1 other pod)" "$(above restricted)"
  assert_equal "above baseline" "" "$(above baseline)"
  for name in $(containers); do
    [[ $name != */slurmd ]] || continue # its root file system is the jobs'
    options=$(kubectl exec "${name%/*}" -c "${name#*/}" -- cat /proc/self/mounts | awk '$2 == "/" {print $4}')
    assert_equal "the root file system of $name" ro "${options%%,*}"
  done
  assert_equal "priorities" 7 "$(kubectl get pods -o jsonpath='{range .items[*]}{.spec.priority}{"\n"}{end}' | sort -u)"
  slurm scancel "$job"
}

priority() { kubectl get pod "$1" -o jsonpath='{.spec.priority}'; } # POD
has_priority() { [[ $(priority "$1") == "$2" ]]; } # POD PRIORITY
test_nodes_without_the_priority_of_the_controller() {
  local job
  install_all
  to_zero
  trap '"$BED" helm rollback slurm -n "$NAMESPACE" --wait --timeout 180s >/dev/null' EXIT
  "$BED" helm upgrade slurm "$E2E_FOLDER/../../helm/slurm" -n "$NAMESPACE" --reuse-values \
    --set priorityClass.nodes=false --wait --timeout 180s >/dev/null
  job=$(submit -w compute-0 --wrap 'sleep 600')
  wait_job "$job" RUNNING 60
  has_priority compute-0 0 || fail "compute-0 has the priority $(priority compute-0)"
  has_priority slurm-controller-0 7 || fail "the controller has the priority $(priority slurm-controller-0)"
  slurm scancel "$job"
}

secret_value() { kubectl get secret canary -o jsonpath="{.data.$1}" | base64 --decode; } # KEY
# Of each part, while it works: a job of a user, a token, a request, a backup.
test_no_secret_is_shown() {
  local logs name search job
  install_all
  wait_for 60 "ada's token" has_token ada-token
  logs=$(mktemp -d)
  # A Secret that is shown, in each of the ways: this is how the search would find another. In a pod, as the others.
  kubectl create secret generic canary --from-literal=log=canary-in-a-log-7d1 --from-literal=line=canary-in-a-line-7d1 \
    --from-literal=environment=canary-in-an-environment-7d1 >/dev/null
  kubectl get secrets -o json >"$logs.secrets"
  # shellcheck disable=SC2064 # these
  trap "touch $logs/end; rm -rf $logs $logs.*; kubectl delete secret canary --ignore-not-found >/dev/null" EXIT
  "$E2E_FOLDER/shown_secrets.py" "$logs" <"$logs.secrets" >"$logs.shown" &
  search=$!
  # Those that handle them when they start.
  for name in statefulset/slurm-mariadb statefulset/slurm-accounting statefulset/slurm-login deployment/slurm-rest; do
    kubectl rollout restart "$name" >/dev/null
    kubectl rollout status "$name" --timeout=120s >/dev/null
  done
  wait_for 60 "ssh to the new login pod" can_log_in ada
  job=$(ssh_as ada 'sbatch --parsable --wrap "sleep 300"')
  wait_job "$job" RUNNING 60
  # Not as api() has it, whose token is in a command line.
  slurm sh -c 'umask 077; cat >/tmp/token' <<<"X-SLURM-USER-TOKEN: $(secret_token ada-token)"
  assert_equal "a request" 200 \
    "$(slurm curl -sS -o /dev/null -w '%{http_code}' -H @/tmp/token "$REST/slurm/v0.0.42/ping/")"
  "$BED" exec "$BACKUP" --namespace="$NAMESPACE" create </dev/null >/dev/null
  for name in $(kubectl get pods -o name); do
    kubectl logs "$name" --all-containers >"$logs/${name#pod/}"
  done
  has_text() { (($(cat "$logs"/*"$1"* | wc -l) > 0)); }
  for name in controller accounting mariadb login rest backup compute; do
    has_text "$name" || fail "no log of $name"
  done
  # shellcheck disable=SC2016 # of the pod's shell
  kubectl exec slurm-login-0 -c sackd -- env "VALUE=$(secret_value environment)" \
    sh -c 'sleep 3; : "$0"' "$(secret_value line)"
  secret_value log >"$logs/canary"
  slurm scancel "$job"
  touch "$logs/end"
  wait "$search"
  # kubectl has two of them in its command line.
  assert_equal "what is shown" "canary/environment: command line
canary/environment: environment
canary/line: command line
canary/log: log" "$(<"$logs.shown")"
}

# ---- upgrade ----

is_annotated() { [[ $(kubectl get pod "$1" -o jsonpath='{.metadata.annotations.e2e}') == "$2" ]]; } # POD VALUE
# helm upgrade to another version of the chart recreates the pods of each part; helm rollback does so again.
test_an_upgrade_and_a_rollback_under_users() {
  local before
  install_all
  start_work
  before=$(revision)
  copy_chart 9.9.9
  upgrade_to_copy \
    --set login.metadata.annotations.e2e=new,accounting.metadata.annotations.e2e=new,rest.metadata.annotations.e2e=new \
    --wait --timeout 300s
  wait_for 60 "the new chart's controller" has_annotation new
  wait_for "new login pods" is_annotated slurm-login-0 new
  wait_for "a new slurmdbd" is_annotated slurm-accounting-0 new
  assert_all_work upgraded
  rollback "$before" --wait --timeout 300s
  wait_for 60 "the former chart's controller" has_annotation ""
  wait_for 60 "the former login pods" is_annotated slurm-login-0 ""
  assert_all_work rolled-back
  end_work
}

# ---- the next Slurm ----

# Each part of it, with a job, a pod and a token of the former.
test_the_next_slurm_under_users() {
  local name image
  needs_next_slurm
  trap 'remove_release; install_release' EXIT
  install_all
  start_work
  "$BED" helm upgrade slurm "$CHART" -n "$NAMESPACE" --reuse-values --set "images.tag=$NEXT_TAG" \
    --set-string "slurmVersion=$NEXT_VERSION" --wait --timeout 300s >/dev/null
  wait_for 60 "slurmctld up" controller_ready
  assert_equal "slurmctld" "$NEXT_VERSION" "$(slurm_version | cut -d . -f 1-2)"
  for name in "$CONTROLLER" slurm-login-0 slurm-accounting-0 "$(rest_pod)"; do
    image=$(pod_field "$name" '.spec.containers[0].image')
    [[ $image == *":$NEXT_TAG" ]] || fail "$name has $image"
  done
  assert_all_work next
  end_work
}
rest_pod() { kubectl get pods -l app.kubernetes.io/name=slurmrestd -o jsonpath='{.items[0].metadata.name}'; }

# ---- uninstall ----

# The last one. The pod of the bridge is not the chart's: whose it is ends it.
test_uninstall_keeps_what_it_says() {
  local kept others
  trap 'remove_workloads; remove_release; install_release' EXIT
  install_all
  [[ $(cluster_wide) ]] || fail "no cluster-wide object is found"
  put_pod stays 'sleep 3600'
  wait_for 60 "the bridge's pod" pod_is stays Running
  others=$(secrets_of_others)
  kept=$(kept_by_notes)
  "$BED" helm uninstall slurm -n "$NAMESPACE" --wait --timeout 180s >/dev/null
  # shellcheck disable=SC2317 # called by wait_for
  only_its_pod_is_left() { [[ $(kubectl get pods -o name) == pod/stays ]]; }
  wait_for 90 "no pod of the chart" only_its_pod_is_left
  assert_equal "what is kept" "$kept" "$(kept_objects "${others:+$others$'\n'}persistentvolumeclaim/home")"
  assert_equal "what belongs to no namespace" "" "$(cluster_wide)"
}
# Of this release: their names have the namespace.
cluster_wide() {
  local kinds=clusterroles,clusterrolebindings,priorityclasses,validatingadmissionpolicies
  kubectl get "$kinds,validatingadmissionpolicybindings" -l app.kubernetes.io/instance=slurm -o name |
    grep -E "/($NAMESPACE-slurm|whole-$NAMESPACE\$)" || true
}
