# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# slurmctld on a plain machine with our Debian packages and the files of examples/hybrid, which reaches Kubernetes by a
# kubeconfig: a bare-metal node and pods in one partition. Needs `tests/bed/bed image build packages`.
#
# The machines, and a release in a namespace of its own, are there from the first test to the last, which removes them.

# shellcheck source=tests/e2e/answers.sh
source "$E2E_FOLDER/answers.sh"

HYBRID=$NAMESPACE-hybrid
HEAD=172.31.0.10
METAL=172.31.0.11
API_SERVER=172.31.0.1
CHART=$E2E_FOLDER/../../helm/slurm
AUTH=slurm # or munge

on_head() { "$BED" machine run head "$@"; }
on_metal() { "$BED" machine run metal-0 "$@"; }
# A user of the machines; no image of a pod knows him.
as_alice() { on_head runuser --user alice -- "$@"; }

# What lib.sh has then acts on this cluster: each test is a process of its own.
in_hybrid() {
  # shellcheck disable=SC2034 # kubectl() of lib.sh
  NAMESPACE=$HYBRID
  slurm() { on_head "$@"; }
  submit() { as_alice sbatch --parsable --chdir=/tmp --output=/dev/null "$@"; }
  trap 'if (($?)); then keep_hybrid_logs; fi; reconnect' EXIT
}

keep_hybrid_logs() {
  mkdir -p "$LOGS/hybrid"
  on_head bash -c 'tail -n 1000 /var/log/slurm/*.log' >"$LOGS/hybrid/head" || true
  on_metal cat /var/log/slurm/slurmd.log >"$LOGS/hybrid/metal-0" || true
  slurm sh -c 'scontrol show nodes; scontrol show jobs' >"$LOGS/hybrid/slurm" || true
  kubectl get pods,nodesets.slurm-k8s.io -o yaml >"$LOGS/hybrid/objects.yaml" || true
  kubectl get events >"$LOGS/hybrid/events" || true
  echo "# logs of the machines: $LOGS/hybrid" >&2
}

# head from the API server.
cut_off() { "$BED" machine enter head iptables -A OUTPUT -p tcp --dport 6443 -j DROP; }
reconnect() { "$BED" machine enter head iptables -D OUTPUT -p tcp --dport 6443 -j DROP 2>/dev/null || true; }

# A file of the example with the bed's addresses, and times that a test can wait for.
example() {
  sed -e "s/192\.0\.2\.10\b/$HEAD/g; s/192\.0\.2\.11\b/$METAL/g; s/192\.0\.2\.1\b/$API_SERVER/g" \
    -e "s/^Namespace=slurm$/Namespace=$HYBRID/; s/\bnamespace: slurm\b/namespace: $HYBRID/" \
    -e "s/^AuthType=.*/AuthType=auth\/$AUTH/; s/^CredType=.*/CredType=cred\/$AUTH/" \
    -e 's/^SuspendTime=.*/SuspendTime=15/; s/^SuspendTimeout=.*/SuspendTimeout=5/; s/cred_expire=30/cred_expire=10/' \
    "$E2E_FOLDER/../../examples/hybrid/$1"
}

new_token() { kubectl create token slurm-controller --duration=1h; }
# As a cron job would: complete, or not at all.
put_token() {
  on_head bash -euc 'cd /etc/slurm; install -m 640 -g slurm /dev/stdin new-token; mv new-token kubernetes-token'
}

start_kubernetes_side() { # KEY-FILE
  local values
  values=$(mktemp)
  example values.yaml >"$values"
  "$BED" kubectl create namespace "$HYBRID" >/dev/null
  kubectl create secret generic slurm-key --from-file="$AUTH.key=$1" >/dev/null
  "$BED" helm install slurm "$CHART" -n "$HYBRID" -f "$E2E_FOLDER/suites/$SUITE.yaml" \
    --set "images.tag=$("$BED" image tag)" \
    -f "$values" >/dev/null
  rm -f "$values"
}

put_key() { # MACHINE KEY-FILE OWNER: the owner of slurm.key
  if [[ $AUTH == slurm ]]; then
    "$BED" machine run "$1" install -m 400 -o "$3" /dev/stdin /etc/slurm/slurm.key <"$2"
  else
    "$BED" machine run "$1" install -m 400 -o munge /dev/stdin /etc/munge/munge.key <"$2"
    "$BED" machine run "$1" install -d -m 755 -o munge /run/munge
    "$BED" machine run "$1" runuser --user munge -- munged
  fi
}

# As Debian's units do, of which the machines have no systemd to run them.
start_slurmctld() {
  on_head runuser --user slurm -- slurmctld
  wait_for "slurmctld up" controller_ready
}
stop_slurmctld() {
  local pid
  pid=$(on_head cat /run/slurmctld/slurmctld.pid)
  on_head kill "$pid"
  wait_for "slurmctld's end" on_head test ! -e "/proc/$pid"
}
start_sidecar() {
  local unit=/usr/lib/systemd/system/slurm-k8s-sidecar.service
  on_head bash -euc 'value() { sed -n "s/^$1=//p" "$2"; }
    read -r program _ < <(value ExecStart "$1")
    setsid --fork runuser --user "$(value User "$1")" -- "$program" \
      >/var/log/slurm/sidecar.log 2>&1 </dev/null' - "$unit"
}

start_head() { # KEY-FILE
  local file
  "$BED" machine start head "$HEAD"
  for file in slurm.conf cgroup.conf slurm-k8s.conf kubeconfig; do
    example "$file" | on_head tee "/etc/slurm/$file" >/dev/null
  done
  on_head tee /etc/slurm/plugstack.conf <"$E2E_FOLDER/../../examples/plugstack.conf" >/dev/null
  put_key head "$1" slurm
  kubectl get configmap kube-root-ca.crt -o jsonpath='{.data.ca\.crt}' |
    on_head tee /etc/slurm/kubernetes-ca.crt >/dev/null
  new_token | put_token
  on_head useradd --uid 1500 --create-home alice
  on_head install -d -o slurm -g slurm /run/slurmctld
  on_head systemd-tmpfiles --create slurm-k8s.conf
  start_slurmctld
  start_sidecar
}

start_metal() { # KEY-FILE
  "$BED" machine start metal-0 "$METAL"
  put_key metal-0 "$1" root
  on_metal useradd --uid 1500 --create-home alice
  on_metal slurmd --conf-server "$HEAD:6817" -L /var/log/slurm/slurmd.log
}

is_metal_up() { [[ $(node_state metal-0) == IDLE ]]; }

remove_hybrid() {
  "$BED" machine stop head
  "$BED" machine stop metal-0
  "$BED" helm uninstall slurm -n "$HYBRID" --ignore-not-found --wait >/dev/null 2>&1 || true
  "$BED" kubectl delete namespace "$HYBRID" --ignore-not-found >/dev/null
}

start_hybrid() {
  local key
  remove_hybrid
  key=$(mktemp)
  head -c 1024 /dev/urandom >"$key"
  start_kubernetes_side "$key"
  start_head "$key"
  start_metal "$key"
  rm -f "$key"
  wait_for 60 "8 pod nodes and a metal one" has_node_count 9
  wait_for "the metal node registered" is_metal_up
}

test_a_slurmctld_outside_comes_up() {
  needs_slurm 24.05
  in_hybrid
  start_hybrid
  assert_equal "pods at rest" "" "$(pods)"
}

test_a_slurmctld_outside_has_few_rights() {
  local can=(kubectl auth can-i --as="system:serviceaccount:$HYBRID:slurm-controller")
  needs_slurm 24.05
  in_hybrid
  assert_equal "reads secrets" no "$("${can[@]}" get secrets || true)"
  assert_equal "token of another account" no "$("${can[@]}" create serviceaccounts/default --subresource=token || true)"
  assert_equal "its own token" yes "$("${can[@]}" create serviceaccounts/slurm-controller --subresource=token)"
}

test_a_job_that_fits_on_metal_makes_no_pod() {
  local job
  needs_slurm 24.05
  in_hybrid
  job=$(submit -N1 --wrap 'sleep 2')
  wait_done "$job" 30
  assert_equal "node by weight" metal-0 "$(job_nodes "$job")"
  job=$(submit -N1 --constraint=metal --wrap true 2>&1)
  wait_done "$job" 30 # it is a number: nobody was told that no NodeSet has this feature
  assert_equal "pods" "" "$(pods)"
}

has_found_pod() { on_metal getent hosts "compute-0.slurm-nodes.$HYBRID.svc.cluster.local"; }

test_metal_and_a_pod_run_one_job() {
  # shellcheck disable=SC2016 # the job's own variables
  local job both='echo $SLURMD_NODENAME $(id -u)' expected="compute-0 1500 metal-0 1500"
  needs_slurm 24.05
  in_hybrid
  assert_equal "srun on head" "$expected" "$(as_alice srun --chdir=/tmp -N2 bash -c "$both" | sort | paste -sd ' ')"
  # Steps that metal starts, and that the pod does.
  job=$(submit -N2 --output=/tmp/both --wrap "srun bash -c '$both' | sort
    srun --overlap -N1 -n1 -w compute-0 srun --overlap -N2 -n2 bash -c '$both' | sort
    srun --overlap -N1 -n1 -w compute-0 getent hosts head metal-0")
  wait_for 60 "the pod's name on metal" has_found_pod
  wait_done "$job" 60
  assert_equal "what the steps said" "$expected $expected $HEAD head $METAL metal-0" \
    "$(on_metal cat /tmp/both | paste -sd ' ' | tr -s ' ')"
}

test_pods_go_and_metal_stays() {
  needs_slurm 24.05
  in_hybrid
  wait_for 60 "pods suspended" has_pod_count 0
  # Longer than SuspendTime, and a scan of power saving.
  stays 20 is_metal_up
}

test_slurmctld_outside_restarts() {
  local job uid
  needs_slurm 24.05
  in_hybrid
  job=$(submit -N2 --wrap "srun bash -c '$(runs_until end)'")
  wait_job "$job" RUNNING 60
  uid=$(pod_uid compute-0)
  stop_slurmctld
  start_slurmctld
  end_run compute-0 end
  on_metal touch /tmp/end
  wait_done "$job" 60
  assert_equal "pod" "$uid" "$(pod_uid compute-0)"
  assert_equal "restarts of the job" 0 "$(job_field "$job" Restarts)"
}

test_the_api_server_is_out_of_reach() {
  local metal pod
  needs_slurm 24.05
  in_hybrid
  metal=$(submit -w metal-0 --wrap "$(runs_until cut)")
  wait_job "$metal" RUNNING 30
  cut_off
  pod=$(submit -w compute-3 --wrap true)
  wait_job "$pod" CONFIGURING 30
  on_metal touch /tmp/cut
  wait_done "$metal" 60
  # Nor does a slurmctld that starts meanwhile wait for it.
  stop_slurmctld
  start_slurmctld
  metal=$(submit -w metal-0 --wrap true)
  wait_done "$metal" 60
  assert_equal "pod" "" "$(pods | grep -x compute-3 || true)"
  reconnect
  wait_done "$pod" 120
}

# When a step ends slurmctld tells its srun so, at a host that neither head's /etc/hosts nor its name server knows.
test_a_slurmctld_outside_does_not_wait_for_names() {
  local job library
  needs_slurm 24.05
  in_hybrid
  library=$(mktemp)
  gcc -shared -fPIC -O1 -o "$library" "$E2E_FOLDER/other_host.c"
  on_head bash -c 'cat >/tmp/other_host.so; chmod 755 /tmp/other_host.so' <"$library"
  rm "$library"
  job=$(submit -w metal-0 --wrap 'sleep 100')
  wait_job "$job" RUNNING 30
  take_baseline metal-0 as_alice srun --jobid="$job" --overlap --chdir=/tmp true
  steps() {
    as_alice bash -c "for i in {1..5}; do
        LD_PRELOAD=/tmp/other_host.so timeout 60 srun --jobid=$job --overlap --chdir=/tmp true &
      done; wait"
    slurm scancel "$job"
    wait_job "$job" CANCELLED 30
  }
  slowest_answer metal-0 steps
  assert_answers "srun from nowhere"
  if on_head grep 'attempt number' /var/log/slurm/slurmctld.log; then fail "slurmctld asked for a name again"; fi
}

is_token_refused() { on_head tail -n 20 /var/log/slurm/slurmctld.log | grep -ci 'unauthorized' >/dev/null; }

test_a_token_is_renewed_while_slurmctld_runs() {
  local job old
  needs_slurm 24.05
  in_hybrid
  old=$(on_head cat /etc/slurm/kubernetes-token)
  echo none | put_token
  job=$(submit -w compute-4 --wrap true)
  wait_for "a token that isn't one is refused" is_token_refused
  # With no rights but its own.
  kubectl --kubeconfig=/dev/null --server="https://$API_SERVER:6443" --token="$old" --insecure-skip-tls-verify \
    create token slurm-controller --duration=1h | put_token
  wait_done "$job" 90
}

test_munge_instead_of_slurms_own_key() {
  needs_slurm 24.05
  in_hybrid
  AUTH=munge
  start_hybrid
  # shellcheck disable=SC2016 # the job's own variable
  assert_equal "nodes" "compute-0 metal-0" \
    "$(as_alice srun --chdir=/tmp -N2 bash -c 'echo $SLURMD_NODENAME' | sort | paste -sd ' ')"
  assert_equal "keys in the pod" munge.key "$(kubectl exec compute-0 -- ls /run/slurm-k8s/key)"
}

test_a_hybrid_cluster_goes() {
  needs_slurm 24.05
  remove_hybrid
  assert_equal "machines" "" "$(pgrep --full 'm[a]chine-ready' || true)"
  ! "$BED" exec ip link show m-head 2>/dev/null || fail "m-head: still a device"
}
