# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The chart's NetworkPolicies where they are enforced (bed network-policies): a cluster with every part works, and each
# row of the table in docs/admin/access.md is tried from real pods. All these connections succeed without enforcement.
#
# Alone: all
# Release: network-policies

# shellcheck source=tests/e2e/whole_cluster.sh
source "$E2E_FOLDER/whole_cluster.sh"

BACKUP=$E2E_FOLDER/../../packaging/slurm-k8s-backup
OTHERS=$NAMESPACE-others
METADATA=169.254.169.254
SRUN_PORT=64990 # of SrunPortRange

# The port on which the cluster's DNS server listens.
dns_port() { "$BED" kubectl -n kube-system get service kube-dns -o jsonpath='{.spec.ports[0].targetPort}'; }
other() { # ROLE: a peer
  printf 'namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %s}}, ' "$OTHERS"
  printf 'podSelector: {matchLabels: {role: %s}}' "$1"
}
policies_values() { # PUBLIC-KEY
  whole_cluster_values "$1"
  cat <<END
networkPolicy:
  dnsPorts: [53, $(dns_port)]
  clients: [{$(other client)}]
  nodesFrom: [{$(other proxy)}]
END
}
install_cluster() { has_login >/dev/null 2>&1 || install_login policies_values ada; }

enforce() { "$BED" network-policies start; }
end_enforcement() { "$BED" network-policies stop; }

# ---- who connects, and to what ----

# A program for python3 that takes connections: ADDRESS PORT. Its own HTTP server asks a DNS server first, which takes
# seconds where there is none. No quotes: it is in others' quotes.
LISTEN="import socket, sys; s = socket.create_server((sys.argv[1], int(sys.argv[2]))); \
any(not s.accept() for _ in iter(int, 1))"

put_peer() { # NAMESPACE NAME [LABEL: VALUE,…]
  "$BED" kubectl -n "$1" apply -f - >/dev/null <<END
apiVersion: v1
kind: Pod
metadata: {name: $2, labels: {peer: "", ${3:-}}}
spec:
  terminationGracePeriodSeconds: 0
  containers:
    - name: main
      image: localhost/slurm-k8s/slurmd:$IMAGE_TAG
      command: [python3, -c, "$LISTEN", 0.0.0.0, "8000"]
END
}
put_peers() {
  local namespace
  for namespace in "$OTHERS" monitoring; do
    "$BED" kubectl create namespace "$namespace" --dry-run=client -o yaml | "$BED" kubectl apply -f - >/dev/null 2>&1
  done
  put_peer "$NAMESPACE" neighbour
  put_peer "$NAMESPACE" submitter 'slurm-k8s.io/client: "true"'
  put_peer "$NAMESPACE" archiver 'app.kubernetes.io/name: slurm-backup, app.kubernetes.io/instance: slurm'
  # Another namespace's pod is none of the cluster's, whatever its labels.
  put_peer "$OTHERS" stranger 'slurm-k8s.io/client: "true", app.kubernetes.io/name: slurmd'
  put_peer "$OTHERS" client 'role: client'
  put_peer "$OTHERS" proxy 'role: proxy'
  put_peer monitoring prometheus
  for namespace in "$NAMESPACE" "$OTHERS" monitoring; do
    "$BED" kubectl -n "$namespace" wait --for=condition=Ready pods --selector peer --timeout 120s >/dev/null
  done
}
# A metadata service of a cloud, at its address on the Kubernetes node, with a DNS server as in Google's cloud: what
# matters is that they accept connections.
start_metadata_service() {
  "$BED" exec ip address replace "$METADATA/32" dev lo
  "$BED" exec python3 -c "$LISTEN" "$METADATA" 80 >/dev/null 2>&1 &
  METADATA_PROCESSES=$!
  "$BED" exec python3 -c "$LISTEN" "$METADATA" 53 >/dev/null 2>&1 &
  METADATA_PROCESSES+=" $!"
}
# shellcheck disable=SC2086 # two processes
end_metadata_service() {
  kill $METADATA_PROCESSES
  "$BED" exec ip address delete "$METADATA/32" dev lo
}
clean_up() {
  end_enforcement
  [[ ! ${METADATA_PROCESSES:-} ]] || end_metadata_service
  kubectl delete pods --selector peer >/dev/null
  "$BED" kubectl delete namespace "$OTHERS" monitoring --ignore-not-found >/dev/null
}

pod_address() { "$BED" kubectl -n "$1" get pods "${@:2}" -o jsonpath='{.items[0].status.podIP}'; } # NAMESPACE OPTION…
address_of() { pod_address "$NAMESPACE" --selector "app.kubernetes.io/name=$1"; } # PART
address_named() { pod_address "$1" --field-selector "metadata.name=$2"; } # NAMESPACE POD
# The job's tasks listen on a port of their own choice and on one of srun's. So does a process beside slurmctld, and one
# where users log in.
find_targets() { # sets TARGETS, JOB
  local controller login node api dns
  JOB=$(submit -w 'compute-[6-7]' --wrap \
    "srun sh -c 'python3 -c \"$LISTEN\" 0.0.0.0 8000 & exec python3 -c \"$LISTEN\" 0.0.0.0 $SRUN_PORT'")
  wait_job "$JOB" RUNNING 60
  kubectl exec "$CONTROLLER" -c slurmctld -- sh -c "setsid python3 -c '$LISTEN' 0.0.0.0 $SRUN_PORT >/dev/null 2>&1 &"
  kubectl exec slurm-login-0 -c sshd -- sh -c "setsid python3 -c '$LISTEN' 0.0.0.0 $SRUN_PORT >/dev/null 2>&1 &"
  controller=$(address_of slurmctld)
  login=$(address_of login)
  node=$(address_named "$NAMESPACE" compute-7)
  api=$("$BED" kubectl -n default get endpointslices kubernetes -o jsonpath='{.endpoints[0].addresses[0]}')
  dns=$("$BED" kubectl -n kube-system get endpointslices --selector kubernetes.io/service-name=kube-dns \
    -o jsonpath='{.items[0].endpoints[0].addresses[0]}')
  declare -gA TARGETS=(
    [slurmctld]=$controller/6817 [srun-beside-slurmctld]=$controller/$SRUN_PORT [metrics]=$controller/9100
    [bridge-metrics]=$controller/9101
    [slurmd]=$node/6818 [srun-in-a-job]=$node/$SRUN_PORT [job]=$node/8000
    [sshd]=$login/2222 [srun-in-a-login]=$login/$SRUN_PORT [sackd]=$login/6818
    [slurmdbd]=$(address_of slurmdbd)/6819 [mariadb]=$(address_of mariadb)/3306
    [slurmrestd]=$(address_of slurmrestd)/6820
    [metadata]=$METADATA/80 [dns-of-metadata]=$METADATA/53 [api-server]=$api/6443 [dns]=$dns/$(dns_port)
    [neighbour]=$(address_named "$NAMESPACE" neighbour)/8000 [archiver]=$(address_named "$NAMESPACE" archiver)/8000
    [stranger]=$(address_named "$OTHERS" stranger)/8000)
}

# FROM RESULT TARGET…: what is expected with enforcement.
connections() {
  cat <<'END'
job open slurmctld srun-beside-slurmctld slurmd srun-in-a-job job sshd srun-in-a-login slurmdbd slurmrestd
job open dns dns-of-metadata api-server neighbour stranger
job refused metadata metrics bridge-metrics sackd mariadb archiver
slurmctld open slurmd srun-in-a-job srun-in-a-login sackd slurmdbd slurmrestd sshd
slurmctld refused job mariadb archiver
login open slurmctld srun-beside-slurmctld slurmd srun-in-a-job slurmdbd slurmrestd dns dns-of-metadata
login refused metadata metrics bridge-metrics job mariadb archiver
submitter open slurmctld srun-beside-slurmctld slurmd srun-in-a-job sshd srun-in-a-login slurmdbd slurmrestd
submitter refused metrics bridge-metrics job sackd mariadb archiver
client open slurmctld srun-beside-slurmctld slurmd srun-in-a-job sshd srun-in-a-login slurmdbd
client refused metrics bridge-metrics job sackd mariadb slurmrestd archiver
proxy open slurmd srun-in-a-job job sshd
proxy refused slurmctld srun-beside-slurmctld metrics slurmdbd mariadb slurmrestd
neighbour open sshd slurmrestd metadata
neighbour refused slurmctld srun-beside-slurmctld metrics bridge-metrics slurmd srun-in-a-job job srun-in-a-login sackd
neighbour refused slurmdbd mariadb archiver
bridged open sshd slurmrestd neighbour
bridged refused slurmctld metrics slurmd job slurmdbd mariadb
stranger open sshd metadata
stranger refused slurmctld srun-beside-slurmctld metrics bridge-metrics slurmd srun-in-a-job job srun-in-a-login sackd
stranger refused slurmdbd mariadb slurmrestd archiver
prometheus open metrics bridge-metrics sshd
prometheus refused slurmctld srun-beside-slurmctld slurmd job slurmdbd mariadb slurmrestd
slurmdbd open slurmctld mariadb
slurmdbd refused srun-beside-slurmctld metrics slurmd job srun-in-a-login
slurmrestd open slurmctld slurmdbd dns dns-of-metadata
slurmrestd refused metrics slurmd job sshd mariadb neighbour stranger api-server metadata
archiver open mariadb
archiver refused slurmctld metrics slurmd slurmdbd
mariadb refused slurmctld metrics slurmd sshd slurmdbd slurmrestd neighbour stranger
mariadb refused api-server metadata dns dns-of-metadata
END
}

# Arguments are TARGET=ADDRESS/PORT. No answer is a result of its own: kube-router refuses.
# shellcheck disable=SC2016 # of that shell
TRY='for target; do
  timeout 30 bash -c "exec 3<>/dev/tcp/${target#*=}" 2>/dev/null
  case $? in 0) result=open ;; 1) result=refused ;; *) result="no answer" ;; esac
  echo "${target%%=*} $result"
done'
try_from() { # FROM TARGET…
  local target
  local -a arguments=()
  for target in "${@:2}"; do arguments+=("$target=${TARGETS[$target]}"); done
  set -- "$1" bash -c "$TRY" try "${arguments[@]}"
  case $1 in
    job) slurm srun --jobid="$JOB" --overlap -w compute-6 -N1 -n1 "${@:2}" ;;
    slurmctld) slurm "${@:2}" ;;
    login) kubectl exec slurm-login-0 -c sshd -- "${@:2}" ;;
    slurmdbd) kubectl exec slurm-accounting-0 -c slurmdbd -- "${@:2}" ;;
    slurmrestd) kubectl exec deployment/slurm-rest -c slurmrestd -- "${@:2}" ;;
    mariadb) kubectl exec slurm-mariadb-0 -c mariadb -- "${@:2}" ;;
    stranger | client | proxy) "$BED" kubectl -n "$OTHERS" exec "$1" -- "${@:2}" ;;
    prometheus) "$BED" kubectl -n monitoring exec "$1" -- "${@:2}" ;;
    *) kubectl exec "$1" -- "${@:2}" ;;
  esac
}
# kube-router takes changed policies in steps: for moments a connection is refused that no policy forbids.
gives() { [[ $(try_from "$1" "${@:3}") == "$2" ]]; } # FROM EXPECTED TARGET…
assert_tried() { # TEXT FROM EXPECTED TARGET…
  wait_for "$1" gives "${@:2}" || assert_equal "$1" "$3" "$(try_from "$2" "${@:4}")"
}
is_tried() { [[ $(try_from "$1" "$2") == "$2 $3" ]]; } # FROM TARGET RESULT
# Fails with what may be the reason if the job's tasks cannot be reached.
fail_with_job() {
  fail "tried: $(try_from job job 2>&1 | paste -sd ' ')" || true
  fail "job: $(slurm squeue --noheader --jobs "$JOB" --format='%T %N %r %M' 2>&1)" || true
  fail "steps: $(slurm squeue --noheader --steps --jobs "$JOB" 2>&1 | xargs)" || true
  fail "compute-7: $(kubectl exec compute-7 -- ps -eo pid,etimes,args 2>&1 | cut -c1-60 | paste -sd ';')"
}
assert_connections() { # enforced|open
  local from result targets target expected wrong=
  while read -r -u 3 from result targets; do
    [[ $1 == enforced ]] || result=open
    expected=$(for target in $targets; do echo "$target $result"; done)
    # shellcheck disable=SC2086 # words
    assert_tried "$1, from $from" "$from" "$expected" $targets || wrong=1
  done 3< <(connections)
  [[ ! $wrong ]]
}

begin() {
  install_cluster
  remove_workloads
  trap clean_up EXIT
  put_peers
}
begin_to_try() {
  begin
  start_metadata_service
  put_pod bridged 'sleep 3600'
  wait_for 60 "the bridge's pod" pod_is bridged Running
  find_targets
}

rules() { "$BED" exec iptables-save | grep -E 'KUBE-(ROUTER|POD-FW|NWPLCY)-' || true; }
test_who_connects() {
  local target
  begin_to_try
  # The tasks of the job, and what was started beside slurmctld and in the login pod.
  for target in job srun-in-a-job srun-beside-slurmctld srun-in-a-login; do
    wait_for 120 "$target listens" is_tried job "$target" open || fail_with_job
  done
  assert_connections open
  enforce
  [[ $(rules) == *KUBE-POD-FW-* ]] || fail "no rules"
  assert_connections enforced
  end_enforcement
  assert_equal "rules that are left" "" "$(rules)"
  assert_equal "sets that are left" "" "$("$BED" exec ipset list -name)"
  assert_connections open
}

# ---- all parts work ----

has_account() { slurm scontrol show assoc_mgr "accounts=$1" flags=assoc | grep -q "Account=$1 "; }
reads_metrics() {
  "$BED" kubectl -n monitoring exec prometheus -- curl -sS --max-time 5 "http://$(address_of slurmctld):9100/metrics" |
    grep -q '^slurm_k8s_'
}
restart_parts() {
  local part
  kubectl rollout restart statefulset slurm-mariadb slurm-accounting slurm-login slurm-controller >/dev/null
  kubectl rollout restart deployment slurm-rest >/dev/null
  for part in statefulset/slurm-{mariadb,accounting,login,controller} deployment/slurm-rest; do
    kubectl rollout status "$part" --timeout 180s >/dev/null
  done
  wait_for 60 "slurmctld up" controller_ready
}
# shellcheck disable=SC2016 # ada's shell
test_all_parts_work() {
  local job archive
  begin
  start_work
  enforce
  assert_all_work enforced
  restart_parts
  assert_all_work restarted
  assert_equal "input and output of two nodes" "words
words" "$(ssh_as ada 'echo words | srun -N2 cat')"
  assert_equal "salloc" "compute" "$(ssh_as ada 'salloc -N1 srun hostname' | sed 's/-[0-9]*$//')"
  # slurmctld tells slurmdbd of a job within seconds of its start.
  job=$(ssh_as ada 'sbatch --parsable --wait -N2 -o out --wrap "srun -N2 true && squeue -h -j \$SLURM_JOB_ID -o %T &&
    timeout 30 sh -c \"until sacct -n -X -j \$SLURM_JOB_ID -o State | grep .; do sleep 1; done\" | xargs &&
    scontrol update jobid=\$SLURM_JOB_ID comment=told"')
  assert_equal "a job of two nodes, about itself" "RUNNING
RUNNING" "$(ssh_as ada 'cat out')"
  assert_equal "its comment" told "$(job_field "$job" Comment)"
  wait_for 60 "job $job in sacct" is_in_sacct "$job" "COMPLETED|0:0"
  slurm sacctmgr --immediate add account policies >/dev/null
  wait_for "slurmdbd tells slurmctld of an account" has_account policies
  wait_for "Prometheus has metrics" reads_metrics
  archive=$("$BED" exec "$BACKUP" --namespace="$NAMESPACE" create </dev/null)
  [[ $archive == slurm-*.tar ]] || fail "no archive: $archive"
  end_work
}

# ---- other values ----

# Nothing restarts. The release keeps these values.
test_other_peers() {
  local uid
  local submitters='[{"podSelector":{"matchLabels":{"slurm-k8s.io/client":"true"}}}]'
  begin_to_try
  uid=$(pod_uid "$CONTROLLER")
  enforce
  wait_for "a job reaches the API server" is_tried job api-server open
  wait_for "all reach sshd" is_tried stranger sshd open
  "$BED" helm upgrade slurm "$CHART" -n "$NAMESPACE" --reuse-values --wait --timeout 180s \
    --set-json "networkPolicy.loginFrom=$submitters,networkPolicy.metricsFrom=$submitters" \
    --set-json "networkPolicy.restFrom=[],networkPolicy.blockedFromNodes=[\"${TARGETS[api-server]%/*}/32\"]" \
    --set-json networkPolicy.dnsPorts=[53] >/dev/null
  assert_equal "the controller" "$uid" "$(pod_uid "$CONTROLLER")"
  wait_for "a job does not reach the API server" is_tried job api-server refused
  TARGETS[service]=$("$BED" kubectl -n default get service kubernetes -o jsonpath='{.spec.clusterIP}')/443
  assert_tried "a job" job "service refused
metadata open
slurmctld open
slurmd open" service metadata slurmctld slurmd
  assert_tried "the submitter" submitter "sshd open
metrics open" sshd metrics
  # The port of its Service is 53.
  assert_tried "slurmrestd" slurmrestd "dns refused" dns
  assert_tried "a stranger" stranger "sshd refused
slurmrestd open
metrics refused" sshd slurmrestd metrics
  assert_tried "Prometheus" prometheus "metrics refused" metrics
  assert_tried "a neighbour" neighbour "sshd refused" sshd
}
