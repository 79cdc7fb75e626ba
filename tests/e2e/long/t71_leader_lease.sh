# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Two sidecars on the same NodeSets: one acts, and the other one goes on when it is gone.
#
# The second is a container of its own in slurmctld's pod, whose loop starts a sidecar named b while /run/hold-b isn't
# there: kubelet would start a container again at once, and who is faster would decide.

LEASE=slurm-k8s-sidecar
TAKE_OVER=20 # s: the lease's duration, a poll before and after

second() { "$BED" fault exec "$CONTROLLER/sidecar-b" sh -c "$1" </dev/null; }
signal_second() { second "touch /run/hold-b && kill -$1 \$(cat /run/b.pid)"; } # SIGNAL: and it stays away
let_second_run() { second 'rm -f /run/hold-b'; }

leads() { # PORT VALUE
  [[ $(kubectl get --raw "/api/v1/namespaces/$NAMESPACE/pods/$CONTROLLER:$1/proxy/metrics" |
    awk '$1 == "slurm_k8s_sidecar_leader" { print $2 }') == "$2" ]]
}
only_the_first_leads() { leads 9100 1 && leads 9101 0; }
only_the_second_leads() { leads 9100 0 && leads 9101 1; }
first_leads() { leads 9100 1; }
lease() { kubectl get lease "$LEASE" -o jsonpath="{.spec.$1}"; }
# As an administrator who gives it away: who had it sees that, and leaves it.
give_to_second() {
  kubectl patch lease "$LEASE" --type=merge --patch '{"spec": {"holderIdentity": "b"}}' >/dev/null
  wait_for "the second leads" only_the_second_leads
}
scales() { # that whoever leads does its work
  scale 5
  wait_for "5 node records" has_nodes 'compute-[0-4]'
  scale 8
  wait_for "8 node records" has_nodes 'compute-[0-7]'
}
seconds_since() { awk -v ms="$(($(now_ms) - $1))" 'BEGIN { printf "%.1f", ms / 1000 }'; }

controller_is_whole() { # a pod of the present revision, each of its containers ready
  [[ $(kubectl get pod "$CONTROLLER" \
    -o jsonpath='{.metadata.labels.controller-revision-hash} {.status.conditions[?(@.type=="Ready")].status}') == \
    "$(kubectl get statefulset slurm-controller -o jsonpath='{.status.updateRevision}') True" ]] &&
    controller_ready
}
upgrade() { # HELM-OPTION…
  "$BED" helm upgrade slurm "$E2E_FOLDER/../../helm/slurm" -n "$NAMESPACE" "${VALUES[@]}" "$@" >/dev/null
}
add_second() {
  local image
  image=$(kubectl get pod "$CONTROLLER" -o jsonpath='{.spec.containers[?(@.name=="sidecar")].image}')
  upgrade --set controller.sidecar.leaderElection=always
  kubectl patch statefulset slurm-controller --patch-file=/dev/stdin >/dev/null <<END
spec:
  template:
    spec:
      containers:
        - name: sidecar-b
          image: $image
          imagePullPolicy: IfNotPresent
          command:
            - sh
            - -c
            - |
              trap 'exit 0' TERM
              touch /run/hold-b
              sed s/:9100/:9101/ /etc/slurm/slurm-k8s.conf >/run/b.conf
              while :; do
                while [ -e /run/hold-b ]; do sleep 0.1; done
                slurm-k8s-sidecar --config=/run/b.conf --leader-elect --leader-elect-identity=b &
                echo \$! >/run/b.pid
                wait
              done
          volumeMounts:
            - {name: config, mountPath: /etc/slurm, readOnly: true}
            - {name: run, mountPath: /run}
            - {name: token, mountPath: /var/run/secrets/kubernetes.io/serviceaccount, readOnly: true}
END
  wait_for 120 "a controller with two sidecars" controller_is_whole
}
remove_second() {
  # shellcheck disable=SC2016 # a word of strategic merge patches
  kubectl patch statefulset slurm-controller \
    --patch '{"spec": {"template": {"spec": {"containers": [{"name": "sidecar-b", "$patch": "delete"}]}}}}' >/dev/null
  upgrade
  wait_for 120 "the controller as it was" controller_is_whole
  kubectl delete lease "$LEASE" --ignore-not-found >/dev/null
}

test_one_of_two_sidecars_acts() {
  local since transitions restarts
  trap remove_second EXIT
  add_second
  wait_for "the first leads" first_leads
  let_second_run
  wait_for "the second waits" only_the_first_leads
  assert_equal "holder" "${CONTROLLER}_$(pod_uid "$CONTROLLER")" "$(lease holderIdentity)"
  assert_equal "duration" 15 "$(lease leaseDurationSeconds)"
  scales

  # In the same pod the next container has the name of the one before.
  restarts=$(container_field sidecar restartCount)
  transitions=$(lease leaseTransitions)
  since=$(now_ms)
  "$BED" fault kill "$CONTROLLER/sidecar"
  restarted() { (($(container_field sidecar restartCount) > restarts)); }
  wait_for "the first is started again" restarted
  wait_for "the first goes on" only_the_first_leads
  echo "# seconds from kill -9 of the container to the same leader: $(seconds_since "$since")"
  assert_equal "transitions" "$transitions" "$(lease leaseTransitions)"

  give_to_second
  scales
  since=$(now_ms)
  signal_second KILL
  wait_for "$TAKE_OVER" "the first takes over from a dead one" first_leads
  echo "# seconds from kill -9 to the next leader: $(seconds_since "$since")"
  scales
  assert_equal "transitions" $((transitions + 1)) "$(lease leaseTransitions)"

  let_second_run
  wait_for "the second waits" only_the_first_leads
  give_to_second
  since=$(now_ms)
  signal_second TERM
  wait_for "the first takes over from one that ended" first_leads
  echo "# seconds from SIGTERM to the next leader: $(seconds_since "$since")"
  scales
}
