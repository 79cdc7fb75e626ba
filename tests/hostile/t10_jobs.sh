# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Claims 1 to 9 of SECURITY.md: an ordinary user inside a job.
# shellcheck source=tests/hostile/lib.sh
source "$E2E_FOLDER/../hostile/lib.sh"

# Claim 1. Each file by itself: `cat` of two says no when one is missing. The environment and memory of slurmd and tini
# have the key's path, or the key.
# shellcheck disable=SC2016 # expanded in the job
FIND_KEYS='find / -path /proc -prune -o \( -name slurm.key -o -name munge.key -o -name token \) \
  -readable -print 2>/dev/null | grep .'
# Secrets are in a tmpfs.
FIND_IN_TMPFS="awk '\$3 == \"tmpfs\" {print \$2}' /proc/mounts | grep -v ^/dev |
  while read -r folder; do find -L \$folder -xdev -type f -size +0 -readable 2>/dev/null; done | grep ."
test_keys_and_tokens() {
  local out
  log_in
  # shellcheck disable=SC2016
  out=$(attack "$TRY"'
    slurmd=$(pgrep -o slurmd)
    try uid-is-slurms test "$(id -u)" = 401
    try key cat /run/slurm-k8s/key/slurm.key
    try munge-key cat /run/slurm-k8s/key/munge.key
    try key-in-etc cat /etc/slurm/slurm.key
    try munge-key-in-etc cat /etc/munge/munge.key
    try key-of-conf cat /run/slurm/conf/slurm.key
    try any-key bash -c '"${FIND_KEYS@Q}"'
    try any-secret bash -c '"${FIND_IN_TMPFS@Q}"'
    try token test -e /var/run/secrets/kubernetes.io
    try environment-of-slurmd cat /proc/$slurmd/environ
    try environment-of-init cat /proc/1/environ
    try memory-of-slurmd bash -c "exec 3</proc/$slurmd/mem"
    try root-of-slurmd ls /proc/$slurmd/root/
    try files-of-slurmd ls /proc/$slurmd/fd/
    try pod-env-is-written bash -c "echo x >>/run/slurm-k8s/pod.env"
    try credentials cat /var/spool/slurmd/cred_state')
  nothing_works "secrets" "$out" 16
  submit -w "$TARGET" -n1 --mem=64 --wrap 'sleep 600' >/dev/null # its pod stays; log_in's trap cancels it
  is_there bash -c 'cat /run/slurm-k8s/key/*.key'
  is_there bash -c "$FIND_KEYS"
  is_there bash -c "$FIND_IN_TMPFS"
  is_there cat /proc/1/environ
  is_there ls /run/slurm-k8s/pod.env
  survives
}

# Claim 2.
test_no_way_to_root() {
  local out
  log_in
  # shellcheck disable=SC2016
  out=$(attack "$TRY"'
    try privileges grep -q "^NoNewPrivs:.*0" /proc/self/status
    try no-seccomp grep -qE "^Seccomp:.*[01]$" /proc/self/status
    try capabilities grep -qE "^Cap(Eff|Prm):.*[1-9a-f]" /proc/self/status
    try user-namespace unshare --user --map-root-user true
    try mount-namespace unshare --mount true
    try mount mount -t tmpfs none /mnt
    try device mknod /tmp/device c 1 1
    try chroot chroot / true
    try setuid setpriv --reuid=0 true
    try su bash -c "echo | su -c true"
    try kernel-setting bash -c "echo 1 >/proc/sys/net/ipv4/ip_forward"
    try kernel-log dmesg')
  nothing_works "root" "$out" 12
  # A copy of a program that root makes set-uid, as a careless image would have one, has no effect.
  kubectl exec "$TARGET" -c slurmd -- bash -c \
    'cp /usr/bin/id /usr/local/bin/suid-id && chmod 4755 /usr/local/bin/suid-id'
  out=$(attack 'suid-id -u')
  assert_equal "effective user of a set-uid program" "$(attack 'id -u')" "$out"
  # Jobs as root, or as another user.
  # shellcheck disable=SC2016
  out=$(as "$MALLORY" bash -c "$TRY"'
    try sbatch-as-root sbatch --uid=0 --wrap true
    try srun-as-root srun --uid=0 -w compute-0 true
    try sbatch-as-slurm sbatch --uid=401 --wrap true')
  nothing_works "other users" "$out" 3
  survives
}

# Claim 3.
test_control_of_slurm() {
  local out job
  log_in
  job=$(user_job "$ALICE" -w "$TARGET" -n1 --mem=100 --wrap 'sleep 300')
  wait_job "$job" RUNNING 60
  # Slurm's own sockets check who is there: SACK, munge, those of steps.
  out=$(attack "$TRY"'
    try another-socket bash -c "find / -path /proc -prune -o -type s -print 2>/dev/null | grep -vE \
      \"^(/run/slurm/sack.socket|/run/munge/munge.socket.2|/var/spool/slurmd/[^/]*_[0-9.]+)$\" | grep ."
    try node-down scontrol update nodename=compute-0 state=down reason=x
    try node-comment scontrol update nodename=compute-0 comment=x
    try node-create scontrol create nodename=mine state=cloud
    try node-delete scontrol delete nodename=compute-6
    try partition scontrol update partitionname=$(sinfo -h -o %R | head -1) state=down
    try reservation scontrol create reservation starttime=now duration=60 users=nobody nodes=ALL
    try reconfigure scontrol reconfigure
    try debug scontrol setdebug debug5
    try cancel-another scancel --state=RUNNING '"$job"'
    try signal-another scancel --signal=STOP '"$job"'
    try change-another scontrol update jobid='"$job"' timelimit=1
    try hold-another scontrol hold '"$job"'
    try requeue-another scontrol requeue '"$job"'
    try suspend-another scontrol suspend '"$job"'
    try priority-own scontrol update jobid=$SLURM_JOB_ID priority=4000000000
    try script-of-another bash -c "scontrol write batch_script '"$job"' - | grep -q sleep"
    try token scontrol token username=slurm
    try takeover scontrol takeover
    try shutdown scontrol shutdown')
  nothing_works "slurmctld" "$out" 20
  # Nor is it for other users in slurmctld's own pod.
  assert_equal "the engine's socket" "srw------- slurm" "$(slurm stat -c '%A %U' /run/slurm-k8s/engine.sock)"
  assert_equal "job of another user" RUNNING "$(job_state "$job")"
  slurm scancel "$job"
  survives
}

# Claim 4. A job has no token: it asks as nobody. NetworkPolicies, which the bed does not enforce, leave it the way.
test_the_api_server() {
  local what server out token
  log_in
  server=$("$BED" kubectl -n default get service kubernetes -o jsonpath='{.spec.clusterIP}')
  out=$(attack "for what in api/v1 apis/slurm-k8s.io/v1alpha1 api/v1/namespaces/$NAMESPACE/{pods,secrets,configmaps} \
      apis/slurm-k8s.io/v1alpha1/namespaces/$NAMESPACE/nodesets; do
      curl --silent --insecure --max-time 10 --output /dev/null --write-out '%{http_code} ' https://$server/\$what
    done")
  assert_equal "HTTP status codes" "403 403 403 403 403 403" "${out% }"
  # With a token of the account that its pod has, if it got one after all.
  token=$(kubectl create token default --duration=10m)
  out=$(attack "for what in pods secrets configmaps; do
      curl --silent --insecure --max-time 10 --output /dev/null --write-out '%{http_code} ' \
        --header 'Authorization: Bearer $token' https://$server/api/v1/namespaces/$NAMESPACE/\$what
    done")
  assert_equal "HTTP status codes with a token" "403 403 403" "${out% }"
  for what in pods secrets nodesets.slurm-k8s.io; do
    assert_equal "$what" no "$(kubectl --as="system:serviceaccount:$NAMESPACE:default" auth can-i list "$what" \
      2>/dev/null || true)"
  done
}

# Claim 5. Both in one pod. The task of Alice holds its secret in a file, the environment and memory.
test_another_users_job() {
  local job out script
  log_in
  # shellcheck disable=SC2016
  job=$(user_job "$ALICE" -w "$TARGET" -n1 --mem=100 --export=ALL <<'END'
#!/bin/bash
export SECRET=alices
umask 077
mkdir -p /tmp/alice && echo alices >/tmp/alice/file
exec -a alices-task sleep 300
END
  )
  wait_job "$job" RUNNING 60
  wait_for "Alice's task" kubectl exec "$TARGET" -c slurmd -- pgrep -f alices-task
  script=/var/spool/slurmd/job$(printf %05d "$job")/slurm_script
  is_there grep alices "$script"
  is_there cat /tmp/alice/file
  # shellcheck disable=SC2016
  out=$(attack "$TRY"'
    task=$(pgrep -o -f "^alices-tas[k]")
    if [[ -z $task ]]; then echo task-not-found yes; fi
    try file cat /tmp/alice/file
    try environment cat /proc/$task/environ
    try memory bash -c "exec 3</proc/$task/mem"
    try maps grep -q . /proc/$task/maps
    try folder ls /proc/$task/cwd/
    try files ls /proc/$task/fd/
    try trace perl -e "exit(syscall(101, 16, $task, 0, 0) == 0 ? 0 : 1)"
    try read-memory perl -e \
      "\$b = 0 x 8; \$l = pack(q(PQ), \$b, 8); syscall(310, $task, \$l, 1, \$l, 1, 0); exit(\$! == 1 ? 1 : 0)"
    try kill kill -9 $task
    try stop kill -STOP $task
    try renice renice -n 19 -p $task
    try script cat '"$script"'
    try join srun --overlap --jobid='"$job"' true
    try attach sattach '"$job"'.batch')
  nothing_works "another user's job" "$out" 14
  assert_equal "job of another user" RUNNING "$(job_state "$job")"
  slurm scancel "$job"
  survives
}

# Claim 6. Connections that an attacker keeps open while the kubelet and Prometheus ask.
proxy_get() { kubectl get --raw "/api/v1/namespaces/$NAMESPACE/pods/$CONTROLLER:9100/proxy/$1" >/dev/null; }
# Fills the port all the time: 60 connections, each again when it is closed. Ends when the file STOP is there.
# shellcheck disable=SC2016
FLOOD='
  address=$1; deadline=$((SECONDS + 200)) # the test cancels it
  while ((SECONDS < deadline)) && [[ ! -e /tmp/stop-flood ]]; do
    fds=()
    for i in {1..60}; do
      { exec {fd}<>"/dev/tcp/$address/9100"; } 2>/dev/null && fds+=($fd)
    done
    echo "${#fds[@]}" >>/tmp/flood
    sleep 1
    for fd in "${fds[@]}"; do exec {fd}>&-; done
  done'
has_flooded() { kubectl exec "$TARGET" -c slurmd -- test -s /tmp/flood; }
test_connections_to_the_sidecar() {
  local address job path try
  log_in
  address=$(kubectl get pod "$CONTROLLER" -o jsonpath='{.status.podIP}')
  job=$(user_job "$MALLORY" -w "$TARGET" -n1 --mem=100 <<<"#!/bin/bash
set -- $address
$FLOOD")
  wait_job "$job" RUNNING 60
  wait_for "connections of the job" has_flooded
  for try in {1..6}; do
    for path in healthz readyz metrics; do
      proxy_get "$path" || fail "/$path: no answer in round $try" || return 1
    done
    assert_equal "sidecar is ready" true "$(container_field sidecar ready)"
  done
  kubectl exec "$CONTROLLER" -c sidecar -- slurm-k8s-sidecar --check-liveness /run/slurm-k8s-sidecar.alive
  assert_equal "the job still does it" RUNNING "$(job_state "$job")"
  slurm scancel "$job"
  survives
}

# Claim 7. Bytes that are no message, an RPC's beginning, a header of a huge message; then 300 connections that say
# nothing.
# Not of a random length: slurmctld takes messages that say up to 1 GiB (MAX_MSG_SIZE), and was killed once by its
# memory limit of 2 GiB. These say 64 MiB, and more than it takes.
test_garbage_and_connections() {
  local out
  log_in
  # shellcheck disable=SC2016
  out=$(attack '
    send() { timeout 3 bash -c "cat >/dev/tcp/$1/$2" 2>/dev/null || true; }
    controller=$(scontrol show config | sed -nE "s/^SlurmctldHost\[0\] *= [^(]*\(?([^)]*)\)?$/\1/p")
    for to in "$controller 6817" "compute-0 6818" "compute-7 6818"; do
      for length in "\4\0\0\0" "\377"; do { printf "$length"; head -c 100000 /dev/urandom; } | send $to; done
      printf "\0\0\0\4\377\377\377\377" | send $to
      printf "\377\377\377\377" | send $to
      printf "\0\20\0\0" | send $to
      printf "GET / HTTP/1.1\r\n\r\n" | send $to
      head -c 1000000 /dev/zero | send $to
    done
    held=0
    for i in {1..300}; do { exec {fd}<>"/dev/tcp/$controller/6817"; } 2>/dev/null && held=$((held + 1)); done
    echo "$held"
    sleep 2')
  ((out >= 100)) || fail "connections that were opened: $out"
  survives
  wait_for "$TARGET is well" node_is_up "$TARGET"
  assert_equal "a job after it" fine "$(as "$MALLORY" srun --quiet -w "$TARGET" --mem=100 echo fine </dev/null)"
  survives
}

# Claim 8. What is not a job's stays whole.
test_what_is_not_a_jobs() {
  local job out
  log_in
  out=$(attack "$TRY"'
    try log-of-slurmd bash -c "echo hostile-line >/proc/1/fd/1"
    try errors-of-slurmd bash -c "echo hostile-line >/proc/1/fd/2"
    try spool bash -c "echo x >/var/spool/slurmd/x"
    try run bash -c "echo x >/run/x"
    try run-of-slurm-k8s bash -c "echo x >/run/slurm-k8s/x"
    try oom-score bash -c "echo -1000 >/proc/self/oom_score_adj"
    try priority nice -n -5 bash -c "test \$(nice) -lt 0"')
  nothing_works "what is not a job's" "$out" 7
  # Where root could write, and the user can't.
  job=$(as "$MALLORY" sbatch --parsable --output=/run/hostile --chdir=/tmp -w "$TARGET" -n1 --mem=100 --wrap true \
    </dev/null)
  wait_job "$job" "COMPLETED FAILED CANCELLED" 60
  if kubectl exec "$TARGET" -c slurmd -- test -e /run/hostile; then fail "a user's output was written by root"; fi
  assert_equal "lines of the job in slurmd's log" 0 "$(kubectl logs "$TARGET" -c slurmd | grep -c hostile-line || true)"
  survives
}

# Claim 8. A job takes all that it can: processes up to its user's limit, descriptors for connections to slurmd,
# messages that make slurmd write a line, /dev/shm. Disk has no limit on the bed: 300 MB. It keeps processes and
# /dev/shm until the file "go" is there. Says how much it got.
exhaust() {
  cat <<'END'
#!/usr/bin/env python3
import os, resource, socket, time
got = open("/tmp/exhausted-" + os.environ["SLURM_JOB_ID"], "w", buffering=1)
resource.setrlimit(resource.RLIMIT_NOFILE, (1024, 1024))
resource.setrlimit(resource.RLIMIT_NPROC, (400, 400))
for i in range(500):
    with socket.create_connection(("127.0.0.1", 6818), 5) as garbage:
        garbage.sendall(b"\0\0\0\4\377\377\377\377")
held = []
try:
    while True:
        held.append(socket.create_connection(("127.0.0.1", 6818), 5))
except OSError as error:
    print("connections", len(held), error.strerror, file=got)
time.sleep(1)
del held
children = []
try:
    while True:
        child = os.fork()
        if child == 0:
            time.sleep(60)
            os._exit(0)
        children.append(child)
except OSError as error:
    print("processes", len(children), error.strerror, file=got)
written = 0
try:
    with open("/dev/shm/fill", "wb", buffering=0) as fill:
        while True:
            written += fill.write(b"x" * 1000000)
except OSError as error:
    print("shm", written, error.strerror, file=got)
with open("/tmp/fill", "wb") as fill:
    for i in range(300):
        fill.write(b"x" * 1000000)
os.remove("/tmp/fill")
for i in range(30):
    print("x" * 1000000)
print("all", file=got)
while not os.path.exists("/tmp/go"):
    time.sleep(0.2)
os.remove("/dev/shm/fill")
for child in children:
    os.kill(child, 9)
END
}
got() { kubectl exec "$TARGET" -c slurmd -- cat "/tmp/exhausted-$1"; }
has_got_all() { got "$1" | grep -cx all >/dev/null; }
# A process that hides from slurmstepd, and takes what the pod has. Says how many MiB it got.
# shellcheck disable=SC2016
HUNGRY='rm -f /tmp/hungry
(setsid python3 -c "
taken = []
while True:
    taken.append(bytes([1]) * (1 << 20))
    print(len(taken), file=open(\"/tmp/hungry\", \"a\"))
" &)
until [[ -s /tmp/hungry ]]; do sleep 0.1; done
while pgrep -u "$(id -u)" -x python3 >/dev/null; do sleep 0.1; done
tail -n 1 /tmp/hungry'

test_exhaustion() {
  local uid job out neighbour
  log_in
  neighbour=$(user_job "$ALICE" -w "$TARGET" -n1 --mem=100 --wrap 'sleep 300')
  wait_job "$neighbour" RUNNING 60
  uid=$(pod_uid "$TARGET")
  kubectl exec "$TARGET" -c slurmd -- rm -f /tmp/go
  job=$(user_job "$MALLORY" -w "$TARGET" -n1 --mem=500 --output=/tmp/flood-%j < <(exhaust))
  wait_for 60 "all is taken" has_got_all "$job" || fail "job $job is $(job_state "$job"): $(got "$job")"
  out=$(got "$job")
  echo "# $out" >&2
  [[ $out =~ connections\ (9[0-9][0-9]|1[0-9]{3})\ Too\ many\ open\ files ]] || fail "connections: $out"
  [[ $out =~ processes\ [123][0-9][0-9]\ Resource\ temporarily ]] || fail "processes: $out"
  [[ $out =~ shm\ [0-9]{8,}\ No\ space ]] || fail "/dev/shm: $out"
  # Meanwhile slurmd serves others. The node has no CPU for a third job.
  assert_equal "a step beside it" fine \
    "$(as "$ALICE" timeout 60 srun --quiet --overlap --jobid="$neighbour" echo fine </dev/null)"
  kubectl exec "$TARGET" -c slurmd -- touch /tmp/go
  wait_job "$job" "COMPLETED FAILED CANCELLED" 60

  out=$(attack "$HUNGRY")
  echo "# MiB that a hidden process got: $out" >&2
  ((out > 500)) || fail "a hidden process got $out MiB of the pod's 1024"
  assert_equal "lines of the job in slurmd's log" 0 "$(kubectl logs "$TARGET" -c slurmd | grep -c xxxxx || true)"
  assert_equal "pod" "$uid" "$(pod_uid "$TARGET")"
  assert_equal "job of another user" RUNNING "$(job_state "$neighbour")"
  assert_equal "a job after it" fine "$(as "$MALLORY" srun --quiet -w "$TARGET" -n1 --mem=100 echo fine </dev/null)"
  slurm scancel "$neighbour"
  survives
}

# Claim 9. Each is refused or taken within 15 s, whatever it says; slurmctld answers, and the next job runs. Prints what
# was not answered, and at the end how many were typed.
type_all() {
  as "$MALLORY" bash -s <<'END'
long=$(printf 'x%.0s' {1..1000})
weird=$'a\001\t"\\$(reboot)`reboot`\'%s%n%s;{}[]\xff\xfe'
count=0
typed() {
  local status=0
  count=$((count + 1))
  timeout 15 "$@" </dev/null >/dev/null 2>&1 || status=$?
  ((status != 124)) || printf 'no answer within 15 s: %.80q\n' "$*"
}
batch() { typed sbatch --hold --output=/dev/null --chdir=/tmp "$@" --wrap true; }
run() { typed srun --immediate=3 -w compute-0 -n1 --mem=50 "$@"; }
batch --job-name="$weird"
batch --job-name="$long"
batch --comment="$weird"
batch --constraint='&&|[[*'
batch --constraint="$weird"
batch --constraint="[a*99999999999]"
batch --constraint="$long"
batch --prefer='a|b&[c'
batch --batch="$weird"
batch --account="$weird"
batch --partition="$weird"
batch --partition=main,main,nowhere
batch --nodelist='compute-[0-99999999]'
batch --nodelist='[['
batch --exclude='compute-[0-7],x[0-9999]'
batch -N 4000000
batch -n 4000000000
batch --mem=99999999999G
batch --time=999999999-0
batch --array=0-4000000000
batch --array=0-1000000:3%7
batch --dependency="afterok:$long"
batch --dependency=after:1+99999
batch --gres="$weird"
batch --licenses="$weird"
batch --begin=9999-12-31
batch --export="$weird"
batch --k8s-threads="$weird"
batch --switches=1@9999-0
batch --wckey="$weird"
batch --reservation="$weird"
batch --mail-user="$weird"
batch --extra="$weird"
batch --chdir="$weird"
batch --nice=-9999999
batch --priority=4294967295
batch --profile=all
batch --core-spec=99
batch --thread-spec=99
run --job-name="$weird" true
run --comment="$weird" --network="$weird" true
run --constraint="$weird" true
run --mpi="$weird" true
run --chdir="$weird" true
run --export="$weird" true
run --output="/tmp/$weird" true
run --task-prolog="$weird" true
run --cpu-bind="$weird" true
run --het-group=0-4000000 true
run --jobid=4294967295 true
run --relative=99999 true
run --bcast="/tmp/$weird" /bin/true
run --signal=99@99999999 true
run "$weird"
run bash -c 'sbcast /etc/hostname "/tmp/$1"' - "$weird"
run bash -c 'sbcast --size=1 --compress=x /etc/hostname /tmp/x'
run bash -c 'sbcast "$1" /etc/slurm/slurm.conf' - /etc/hostname
typed salloc --immediate=3 -w compute-0 -n1 --mem=50 --job-name="$weird" true
typed salloc --immediate=3 -N 4000000 true
typed salloc --immediate=3 -w compute-0 --mem=50 --bell --kill-command=99 "$weird"
job=$(sbatch --parsable --hold --output=/dev/null --chdir=/tmp --wrap true)
for field in name comment features prefer batchfeatures account partition nodelist excnodelist dependency gres \
  licenses wckey reservationname burstbuffer switches timelimit starttime nice numnodes numcpus minmemorynode \
  priority stdout workdir extra admincomment mailuser; do
  typed scontrol update jobid="$job" "$field=$weird"
  typed scontrol update jobid="$job" "$field=99999999999"
done
typed scontrol update jobid='1_[0-4000000]' comment=x
typed scontrol update jobid="$weird" comment=x
typed scontrol update nodename="$weird" comment=x
typed scontrol update nodename='compute-[0-7]' state="$weird"
typed scontrol create partitionname="$weird"
typed scontrol create reservationname="$weird" starttime=now duration=1 users=nobody nodes=ALL
typed scontrol show job "$weird"
typed scontrol show node "$weird"
typed scontrol show step 1.4294967295
typed scontrol getaddrs 'compute-[0-7]'
typed scontrol getaddrs 'compute-[0-9999]'
typed scontrol getaddrs "$weird"
typed scontrol requeue "$weird"
typed scontrol requeuehold 'State=SPECIAL_EXIT' "$job"
typed scontrol suspend 1_4294967295
typed scontrol wait_job 4294967295
typed scontrol notify "$job" "$weird"
typed scontrol write batch_script "$job" "/tmp/$weird"
typed scontrol token lifespan=4294967295
typed scontrol top "$job"
typed scancel --signal=999 4294967295
typed scancel '1_[0-4000000]'
typed scancel --name="$weird" --account="$weird"
typed squeue -j "$weird"
typed squeue -h -o "$weird%999999i"
typed sinfo -n "$weird"
typed sattach 4294967295.4294967295
typed strigger --set --jobid="$job" --fini --program="$weird"
typed sprio -j "$weird"
typed sdiag --reset
scancel --user="$(id -un)"
echo "typed $count"
END
}
test_what_can_be_typed() {
  local out
  log_in
  as "$MALLORY" srun --quiet -w "$TARGET" --mem=100 true </dev/null # its node is up
  out=$(type_all) || fail "what is typed ended early: $out"
  [[ $out =~ ^typed\ [0-9]{3}$ ]] || fail "$out"
  survives
  assert_equal "a job after it" fine "$(as "$MALLORY" srun --quiet -w "$TARGET" --mem=100 echo fine </dev/null)"
}
