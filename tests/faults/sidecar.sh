# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The sidecar is killed with -9 at random moments while NodeSets scale out and in, are updated and deleted, with a job
# on two nodes all the time. Afterwards there is what the NodeSets say: no record more or less, none still drained, no
# pod, and jobs run on records that were made meanwhile.
#
# kubelet waits longer with each restart of a container: here a loop in the container starts the sidecar at once.
#
# Release: ledger

# shellcheck source=tests/faults/lib.sh
source "$E2E_FOLDER/../faults/lib.sh"

KILLS=16
LONGEST_MS=1500 # between two kills: a start and its first rounds take less
SEED=${E2E_SEED:-$RANDOM}

sidecar_shell() { "$BED" fault exec "$CONTROLLER/sidecar" sh -c "$@" </dev/null; }
patch_sidecar() { # FIELDS of its container
  kubectl patch statefulset slurm-controller --patch-file=/dev/stdin >/dev/null <<END
{"spec": {"template": {"spec": {"containers": [{"name": "sidecar", $1}]}}}}
END
  wait_for 60 "the controller's new pod" is_of_this_revision
  wait_for 60 "slurmctld up" controller_ready
}
is_of_this_revision() {
  [[ $(kubectl get pod "$CONTROLLER" -o jsonpath='{.metadata.labels.controller-revision-hash}') == \
    "$(kubectl get statefulset slurm-controller -o jsonpath='{.status.updateRevision}')" ]] &&
    pod_is "$CONTROLLER" Running
}
start_at_once() {
  patch_sidecar \
    '"command": ["sh", "-c", "trap exit TERM; while :; do slurm-k8s-sidecar & echo $! >/run/sidecar.pid; wait; done"]'
}

random_delays() { # seconds, one for each kill
  awk -v seed="$SEED" -v kills="$KILLS" -v most="$LONGEST_MS" \
    'BEGIN { srand(seed); for (i = 0; i < kills; i++) printf "%.3f ", rand() * most / 1000 }'
}
# One that isn't started again yet can't be killed: that isn't one more.
kill_at_random() {
  # shellcheck disable=SC2016,SC2046 # the container's own variables; a word each
  sidecar_shell 'rm -f /run/kills; for wait; do
      sleep "$wait"; until kill -9 "$(cat /run/sidecar.pid)" 2>/dev/null; do sleep 0.01; done
      echo >>/run/kills; done' \
    sh $(random_delays)
}
kill_count() { sidecar_shell 'grep -c "" /run/kills'; }
have_been_killed() { (($(kill_count) >= $1)); }

make_nodeset() { # NAME REPLICAS: none of its nodes is asked for
  kubectl apply --filename=- >/dev/null <<END
{"apiVersion": "slurm-k8s.io/v1alpha1", "kind": "NodeSet", "metadata": {"name": "$1", "namespace": "$NAMESPACE"},
 "spec": {"replicas": $2, "slurmd": $(kubectl get nodesets.slurm-k8s.io compute -o jsonpath='{.spec.slurmd}')}}
END
}
update_template() { # VALUE
  kubectl patch nodesets.slurm-k8s.io compute --type=merge \
    --patch '{"spec": {"template": {"metadata": {"annotations": {"e2e": "'"$1"'"}}}}}' >/dev/null
}
records_of() { slurm sinfo -h -N -o %N | sort -u | grep -c "^$1-" || true; }
has_records() { [[ $(records_of "$1") == "$2" ]]; }
has_condition() { # CONDITION of compute, for its present spec
  local field="{.status.conditions[?(@.type=='$1')].status} {.metadata.generation} {.status.observedGeneration}"
  [[ $(kubectl get nodesets.slurm-k8s.io compute -o jsonpath="$field") =~ ^True\ ([0-9]+)\ ([0-9]+)$ &&
    ${BASH_REMATCH[1]} == "${BASH_REMATCH[2]}" ]]
}
one_is_drained() { [[ $(node_state compute-6) == *DRAIN* || $(node_state compute-7) == *DRAIN* ]]; }
budgets() { kubectl get poddisruptionbudgets -o jsonpath='{.items[*].metadata.name}'; }
has_budgets() { [[ $(budgets) == "$1" ]]; }

as_before() {
  kubectl delete nodesets.slurm-k8s.io extra --ignore-not-found >/dev/null
  scale 8
  patch_sidecar '"command": null'
  wait_for 60 "8 node records" has_node_count 8
}

test_killed_at_random_while_nodesets_change() {
  local job after since killer
  trap as_before EXIT
  echo "# seed $SEED: $(random_delays)"
  start_at_once
  make_nodeset extra 20
  wait_for "records of the second NodeSet" has_records extra 20
  job=$(unique running)
  start_job "$job" "BEATS=0" -N2 -w 'compute-[6-7]' >/dev/null
  wait_for 60 "the job's first beat" has_beaten "$job" 1

  kill_at_random &
  killer=$!
  scale 50
  wait_for 60 "kills while it scales out" have_been_killed 4
  scale 1
  kubectl delete nodesets.slurm-k8s.io extra --wait=false >/dev/null
  wait_for 60 "a node of the job is drained" one_is_drained
  wait_for 60 "kills while it scales in" have_been_killed 8
  update_template "$SEED" # both nodes of the job are
  scale 30
  wait_for 60 "kills while it is updated" have_been_killed 12
  update_template ""
  wait "$killer"
  since=$(now_ms)

  wait_for 60 "30 records of the first" has_records compute 30
  wait_for "none of the second" has_records extra 0
  wait_for "the condition Ready" has_condition Ready
  wait_for "one budget" has_budgets compute-busy
  stop_job "$job"
  after=$(unique after) # on records that were made meanwhile
  start_job "$after" "BEATS=1" -N2 -w 'compute-[20-21]' >/dev/null
  settle "$since" 300 "$job" "$after"
  wait_for 60 "the condition RolledOut" has_condition RolledOut
  assert_equal "records" "30 0" "$(records_of compute) $(records_of extra)"
  assert_equal "kills" "$KILLS" "$(kill_count)"
}
