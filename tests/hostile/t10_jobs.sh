# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Claims 1 to 9 of SECURITY.md: an ordinary user inside a job.
# shellcheck source=tests/hostile/lib.sh
source "$E2E_FOLDER/../hostile/lib.sh"

# Claim 1. The file of the key is named, and looked for; slurmd's and tini's environment and memory have it, too.
test_keys_and_tokens() {
  local out
  log_in
  # shellcheck disable=SC2016
  out=$(attack "$TRY"'
    slurmd=$(pgrep -o slurmd)
    try uid-is-slurms test "$(id -u)" = 401
    try key cat /run/slurm-k8s/key/slurm.key
    try key-of-conf cat /etc/slurm/slurm.key /run/slurm/conf/slurm.key
    try munge-key cat /run/munge/munge.key /run/slurm-k8s/key/munge.key
    try token test -e /var/run/secrets/kubernetes.io
    try any-key bash -c \
      "find / -xdev \( -name slurm.key -o -name munge.key -o -name token \) -readable 2>/dev/null | grep -q ."
    try any-mount-of-secrets bash -c \
      "for m in \$(awk \"/slurm-key|kubernetes.io/ {print \\\$2}\" /proc/mounts); do cat \$m/* ; done | grep -q ."
    try environment-of-slurmd cat /proc/$slurmd/environ
    try environment-of-init cat /proc/1/environ
    try memory-of-slurmd bash -c "exec 3</proc/$slurmd/mem"
    try root-of-slurmd ls /proc/$slurmd/root/
    try files-of-slurmd ls /proc/$slurmd/fd/
    try pod-env-is-written bash -c "echo x >>/run/slurm-k8s/pod.env"
    try spool cat /var/spool/slurmd/cred_state /var/spool/slurmd/*/script')
  nothing_works "secrets" "$out" 14
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
  out=$(attack "$TRY"'
    try engine-socket test -e /run/slurm-k8s/engine.sock
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
  assert_equal "job of another user" RUNNING "$(job_state "$job")"
  slurm scancel "$job"
  survives
}

# Claim 4. Jobs have no token: to the API server they are this user.
test_the_api_server() {
  local what answer
  anonymous() { kubectl --as=system:anonymous --as-group=system:unauthenticated "$@"; }
  for what in api/v1 apis/slurm-k8s.io/v1alpha1 "api/v1/namespaces/$NAMESPACE/"{pods,secrets,configmaps} \
    "apis/slurm-k8s.io/v1alpha1/namespaces/$NAMESPACE/nodesets"; do
    if answer=$(anonymous get --raw "/$what" 2>&1); then fail "/$what: given" || return 1; fi
    [[ $answer == *Forbidden* ]] || fail "/$what: $answer"
  done
  # The token that a pod has by default, if one was there after all.
  for what in pods secrets nodesets.slurm-k8s.io; do
    assert_equal "$what" no "$(kubectl --as="system:serviceaccount:$NAMESPACE:default" auth can-i list "$what" \
      2>/dev/null || true)"
  done
}

# Claim 5. Both in one pod. The task of Alice holds its secret in a file, the environment and memory.
test_another_users_job() {
  local job out
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
  wait_for 20 "Alice's task" kubectl exec "$TARGET" -c slurmd -- pgrep -f alices-task
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
    try script bash -c "cat /var/spool/slurmd/job*/slurm_script | grep -q alices"
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
  address=$1; deadline=$((SECONDS + 40))
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
  wait_for 20 "connections of the job" has_flooded
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
test_garbage_and_connections() {
  local out
  log_in
  # shellcheck disable=SC2016
  out=$(attack '
    send() { timeout 3 bash -c "cat >/dev/tcp/$1/$2" 2>/dev/null || true; }
    controller=$(scontrol show config | sed -nE "s/^SlurmctldHost\[0\] *= [^(]*\(?([^)]*)\)?$/\1/p")
    for to in "$controller 6817" "compute-0 6818" "compute-7 6818"; do
      head -c 100000 /dev/urandom | send $to
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
  wait_for 30 "$TARGET is well" node_is_up "$TARGET"
  assert_equal "a job after it" fine "$(as "$MALLORY" srun --quiet -w "$TARGET" --mem=100 echo fine </dev/null)"
  survives
}

# Claim 8. 400 processes, a log that isn't a job's, output without end, files.
test_exhaustion() {
  local uid job out neighbour
  log_in
  neighbour=$(user_job "$ALICE" -w "$TARGET" -n1 --mem=100 --wrap 'sleep 300')
  wait_job "$neighbour" RUNNING 60
  uid=$(pod_uid "$TARGET")
  out=$(attack "$TRY"'
    try log-of-slurmd bash -c "echo hostile-line >/proc/1/fd/1"
    try errors-of-slurmd bash -c "echo hostile-line >/proc/1/fd/2"
    try spool bash -c "echo x >/var/spool/slurmd/x"
    try run bash -c "echo x >/run/x; echo x >/run/slurm-k8s/x"
    try oom-score bash -c "echo -1000 >/proc/self/oom_score_adj"
    try priority nice -n -5 bash -c "test \$(nice) -lt 0"')
  nothing_works "what is not a job's" "$out" 6
  # Where root could write, and the user can't.
  job=$(as "$MALLORY" sbatch --parsable --output=/run/hostile --chdir=/tmp -w "$TARGET" -n1 --mem=100 --wrap true \
    </dev/null)
  wait_job "$job" "COMPLETED FAILED CANCELLED" 60
  if kubectl exec "$TARGET" -c slurmd -- test -e /run/hostile; then fail "a user's output was written by root"; fi
  # shellcheck disable=SC2016
  job=$(user_job "$MALLORY" -w "$TARGET" -n1 --mem=100 --output=/tmp/flood-%j <<'END'
#!/bin/bash
for i in {1..400}; do sleep 20 & done
head -c 30000000 /dev/zero | tr '\0' 'x'
head -c 50000000 /dev/zero >/tmp/fill
rm -f /tmp/fill
kill $(jobs -p)
END
  )
  wait_job "$job" "COMPLETED FAILED CANCELLED" 60
  assert_equal "lines of the job in slurmd's log" 0 "$(kubectl logs "$TARGET" -c slurmd |
    grep -cE 'hostile-line|xxxxx' || true)"
  assert_equal "pod" "$uid" "$(pod_uid "$TARGET")"
  assert_equal "job of another user" RUNNING "$(job_state "$neighbour")"
  assert_equal "a job after it" fine "$(as "$MALLORY" srun --quiet -w "$TARGET" -n1 --mem=100 echo fine </dev/null)"
  slurm scancel "$neighbour"
  survives
}

# Claim 9. Each is refused or taken; slurmctld answers, and the next job runs.
test_what_can_be_typed() {
  local long weird typed=0 status
  log_in
  long=$(printf 'x%.0s' {1..1000})
  weird=$'a\001\t"\\$(reboot)`reboot`\'%s%n%s;{}[]\xff\xfe'
  # one OPTION…: any answer in time is well.
  one() {
    status=0
    typed=$((typed + 1))
    as "$MALLORY" timeout 15 sbatch --hold --output=/dev/null --chdir=/tmp "$@" --wrap true </dev/null >/dev/null 2>&1 \
      || status=$?
    ((status != 124)) || fail "no answer within 15 s: $1"
  }
  one --job-name="$weird"
  one --job-name="$long"
  one --comment="$weird"
  one --constraint='&&|[[*'
  one --constraint="$weird"
  one --constraint="[a*99999999999]"
  one --constraint="$long"
  one --prefer='a|b&[c'
  one --account="$weird"
  one --partition="$weird"
  one --partition=all,all,nowhere
  one --nodelist='compute-[0-99999999]'
  one --nodelist='[['
  one --exclude='compute-[0-7],x[0-9999]'
  one -N 4000000
  one -n 4000000000
  one --mem=99999999999G
  one --time=999999999-0
  one --array=0-4000000000
  one --array=0-1000000:3%7
  one --dependency="afterok:$long"
  one --dependency=after:1+99999
  one --gres="$weird"
  one --licenses="$weird"
  one --begin=9999-12-31
  one --export="$weird"
  one --k8s-threads="$weird"
  one --switches=1@9999-0
  one --wckey="$weird"
  one --reservation="$weird"
  one --mail-user="$weird"
  one --extra="$weird"
  one --chdir="$weird"
  one --nice=-9999999
  one --priority=4294967295
  one --profile=all
  one --core-spec=99
  one --thread-spec=99
  ((typed >= 38)) || fail "typed: $typed"
  as "$MALLORY" scancel --me >/dev/null 2>&1 || true
  as "$MALLORY" scancel --user="$MALLORY"
  survives
  assert_equal "a job after it" fine "$(as "$MALLORY" srun --quiet -w "$TARGET" --mem=100 echo fine </dev/null)"
}
