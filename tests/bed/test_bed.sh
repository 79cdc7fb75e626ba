#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Tests the bed itself, in TAP: what it offers, that faults heal, and that `down` leaves nothing.
# Starts and stops the machine's first bed, and a second one: refuses when the first is up.
set -euo pipefail

BED=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/bed
WORK=$(mktemp -d)
STATE=${SLURM_K8S_STATE:-/var/lib/slurm-k8s-bed}
CACHE=${SLURM_K8S_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/slurm-k8s}
IMAGE=localhost/debian:trixie-slim
TESTS=0
FAILURES=0

if [[ ${1:-} == --help ]]; then
  echo 'usage: test_bed.sh (as root, with no bed up; about five minutes)'
  exit
fi

finish() {
  BED_NUMBER=2 "$BED" down 2>>"$WORK/down.log" || true
  "$BED" down 2>>"$WORK/down.log" || cat "$WORK/down.log" >&2
  rm -rf "$WORK"
}

# check DESCRIPTION COMMAND...: one test; what the command says is shown when it fails.
check() {
  local description=$1 verdict=ok status
  shift
  TESTS=$((TESTS + 1))
  # Not in an `if`: that would switch off -e inside the test too.
  set +e
  (
    set -e
    "$@"
  ) >"$WORK/output" 2>&1
  status=$?
  set -e
  if ((status)); then
    verdict='not ok'
    FAILURES=$((FAILURES + 1))
  fi
  printf '%s %d - %s\n' "$verdict" "$TESTS" "$description"
  [[ $verdict == ok ]] || tail -n 40 "$WORK/output" | sed 's/^/# /'
}

# poll SECONDS COMMAND...
poll() {
  local deadline=$((SECONDS + $1))
  shift
  until "$@"; do
    ((SECONDS < deadline)) || return 1
    sleep 0.2
  done
}

kubectl() { "$BED" kubectl "$@"; }

# Everything of the machine that a bed could leave behind. Of the processes only those whose
# program could be the bed's, since the machine may have other work.
snapshot() {
  local directory=$1
  mkdir -p "$directory"
  # shellcheck disable=SC2009 # pgrep does not print what it has matched
  ps -eo args= |
    grep -E "^[^ ]*/?(containerd|containerd-shim[^ ]*|qemu-system[^ ]*|runc|etcd|coredns|kube[^ ]*|pause)( |$)" |
    sort >"$directory/processes" || true
  lsns --noheadings --raw --type net --output NS | sort >"$directory/network-namespaces"
  find /run/netns 2>/dev/null | sort >"$directory/namespace-files" || true
  cut -d ' ' -f 5 /proc/self/mountinfo | grep -v /containers/storage/ | sort >"$directory/mounts"
  find /sys/fs/cgroup -name 'slurm-k8s-bed*' -o -name 'kubepods*' >"$directory/cgroups"
  ip -o link | cut -d : -f 2 >"$directory/interfaces"
  iptables-save | sed '/^#/d; s/\[.*\]//' >"$directory/iptables"
  ip6tables-save | sed '/^#/d; s/\[.*\]//' >"$directory/ip6tables"
  ip route show table all >"$directory/routes"
  sysctl -n vm.overcommit_memory vm.panic_on_oom kernel.panic kernel.panic_on_oops kernel.keys.root_maxkeys \
    net.ipv4.ip_forward >"$directory/sysctls"
  find /var/lib/kubelet /var/lib/cni /var/log/containers /var/log/pods /run/containerd "$STATE" \
    /opt/containerd /usr/libexec/kubernetes /etc/cni /tmp/hostpath_pv 2>/dev/null |
    sort >"$directory/files" || true
}

pod_manifest() {
  cat <<END
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: claim}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
apiVersion: v1
kind: Service
metadata: {name: server}
spec: {selector: {app: server}, ports: [{port: 80, targetPort: 8080}]}
---
apiVersion: v1
kind: Pod
metadata: {name: server, labels: {app: server}}
spec:
  terminationGracePeriodSeconds: 0
  securityContext: {runAsUser: 401, runAsGroup: 401, fsGroup: 401}
  volumes: [{name: data, persistentVolumeClaim: {claimName: claim}}]
  containers:
  - name: server
    image: $IMAGE
    volumeMounts: [{name: data, mountPath: /data}]
    command:
    - perl
    - -MIO::Socket::INET
    - -e
    - |
      open(my \$file, ">", "/data/written") or die "volume: \$!";
      my \$socket = IO::Socket::INET->new(LocalPort => 8080, Listen => 5) or die;
      while (my \$client = \$socket->accept) { print \$client "peer ", \$client->peerhost, "\n"; }
---
apiVersion: v1
kind: Pod
metadata: {name: client}
spec:
  terminationGracePeriodSeconds: 0
  containers:
  - {name: client, image: $IMAGE, command: [sleep, infinity]}
END
}

start_pods() {
  pod_manifest | kubectl apply -f -
  kubectl wait --for=condition=Ready pod/server pod/client --timeout=60s
}

restart_pods() {
  "$BED" image load base
  start_pods
}

client() { kubectl exec -i client -- "$@"; }

# For poll: the service's name and rules come some moments after its pod is ready. The server must
# see the client's own address, since Slurm takes a node's address from its connection.
service_keeps_address() {
  local address
  address=$(kubectl get pod client -o jsonpath='{.status.podIP}')
  client perl -MIO::Socket::INET -e \
    'print IO::Socket::INET->new(PeerAddr => "server:80", Timeout => 5)->getline' >"$WORK/peer" || return 1
  [[ $(<"$WORK/peer") == "peer $address" ]]
}

unknown_name_fails_at_once() {
  local started=$SECONDS status=0
  client getent hosts compute-17 || status=$?
  echo "exit code $status after $((SECONDS - started)) s"
  ((status == 2 && SECONDS - started < 3))
}

no_way_out() {
  local status=0
  "$BED" exec curl --silent --max-time 2 http://192.0.2.1/ || status=$?
  ((status != 0))
}

volume_returns() {
  local volume
  volume=$(kubectl get pvc claim -o jsonpath='{.spec.volumeName}')
  kubectl delete pod server
  kubectl delete pvc claim
  poll 20 volume_has_phase "$volume" Released
  "$BED" volume reset
  poll 20 volume_has_phase "$volume" Available
  [[ -z $(ls -A "$STATE/volumes/$volume") ]]
}

volume_has_phase() {
  [[ $(kubectl get pv "$1" -o jsonpath='{.status.phase}') == "$2" ]]
}

exit_code_passes() {
  local status=0
  client sh -c 'exit 7' || status=$?
  ((status == 7))
}

fails() {
  if "$@"; then return 1; fi
}

usage_error_is_2() {
  local status=0
  "$BED" "$@" || status=$?
  ((status == 2))
}

component_state_is() {
  local line
  line=$("$BED" status | grep "^$1 " || true)
  echo "$line"
  [[ $line == *" $2" ]]
}

kill_and_start() {
  "$BED" fault kill "$1"
  component_state_is "$1" dead
  "$BED" fault start "$1"
  component_state_is "$1" ready
}

stop_and_continue() {
  "$BED" fault stop "$1"
  component_state_is "$1" stopped
  "$BED" fault continue "$1"
  poll 20 component_state_is "$1" ready
}

pod_survived_containerd() {
  client true
}

node_is_ready() {
  kubectl wait --for=condition=Ready node/node1 --timeout=60s
}

# A pid file that names a living process of somebody else, as after a pid was used again.
foreign_process_lives() {
  local file=$STATE/run/coredns.pid kept pid
  sleep 300 &
  pid=$!
  kept=$(<"$file")
  printf '%s %s\n' "$pid" "${kept#* }" >"$file"
  component_state_is coredns dead
  fails "$BED" fault kill coredns
  kill -0 "$pid"
  printf '%s\n' "$kept" >"$file"
  kill "$pid"
}

up_is_fast() {
  local started=$SECONDS
  "$BED" up
  echo "$((SECONDS - started)) s"
  ((SECONDS - started < 40))
}

# Interrupts `up` when all components run but the cluster is still empty.
interrupted_up_completes() {
  local pid
  "$BED" down
  "$BED" up 2>"$WORK/up.log" &
  pid=$!
  poll 60 grep -q 'coredns ready' "$WORK/up.log"
  kill -s KILL "$pid"
  "$BED" up
  kubectl get service kube-dns --namespace kube-system
  [[ $(kubectl get persistentvolumes -o name | wc -l) == 64 ]]
}

# What a build leaves that is killed between a mount and its record, and while it writes an image.
build_after_a_killed_one() {
  local left=$CACHE/storage/overlay/left image
  mkdir -p "$left"
  mount -t tmpfs left "$left"
  image=$CACHE/storage/overlay-images/$(cut -d ' ' -f 2 "$CACHE/images/pause")
  mv "$image/manifest" "$WORK/manifest"
  rm "$CACHE/images/pause"
  "$BED" image build pause
  ! mountpoint --quiet "$left"
  rmdir "$left"
  [[ -e $CACHE/storage/overlay-images/$(cut -d ' ' -f 2 "$CACHE/images/pause")/manifest ]]
  [[ $("$BED" image build pause 2>&1) != *building* ]]
}

end_processes() {
  local pids
  mapfile -t pids < <(find /sys/fs/cgroup -path '*/slurm-k8s-bed/*' -name cgroup.procs -exec cat {} + | sort -u)
  ((${#pids[@]})) || return 0
  kill -s KILL "${pids[@]}" 2>/dev/null || true
  return 1
}

remove_cgroups() {
  find /sys/fs/cgroup -depth -type d \( -path '*/slurm-k8s-bed' -o -path '*/slurm-k8s-bed/*' \) -exec rmdir {} + \
    2>/dev/null
}

# The same names and addresses, and nothing of each other.
further_bed_serves() {
  local -x BED_NUMBER=2
  "$BED" up
  "$BED" image load base
  kubectl create namespace second
  kubectl run one -n second --image="$IMAGE" --restart=Never -- sleep 300
  kubectl wait -n second pod/one --for=condition=Ready --timeout=60s
  "$BED" fault kill kubelet
  BED_NUMBER='' node_is_ready
  [[ -z $(BED_NUMBER='' kubectl get namespace second --ignore-not-found) ]]
  "$BED" down
  BED_NUMBER='' component_state_is containerd ready
  BED_NUMBER='' component_state_is kubelet ready
}

# What a reboot leaves: the files alone, without processes, mounts and cgroups.
up_after_a_reboot() {
  poll 20 end_processes
  awk -v below="$STATE/" 'index($5, below) == 1 { print $5 }' /proc/self/mountinfo | tac | xargs -n 1 umount --lazy
  poll 10 remove_cgroups
  [[ -e $STATE/prepared && $("$BED" status) == 'not up' ]]
  "$BED" up
  component_state_is etcd ready
}

up_heals() {
  "$BED" fault kill kube-scheduler
  "$BED" fault stop kube-proxy
  "$BED" up
  component_state_is kube-scheduler ready
  component_state_is kube-proxy ready
}

# A kubelet that starts removes the plugin's sockets: the plugin registers again.
pods_get_devices() {
  local given
  "$BED" device start | grep '^nvidia.com/gpu 8$'
  "$BED" fault kill kubelet
  "$BED" fault start kubelet
  "$BED" device start
  kubectl apply -f - <<END
apiVersion: v1
kind: Pod
metadata: {name: holder}
spec:
  terminationGracePeriodSeconds: 0
  containers:
  - name: holder
    image: $IMAGE
    command: [sleep, infinity]
    resources: {limits: {nvidia.com/gpu: 2, rdma/hca: 1}}
END
  kubectl wait --for=condition=Ready pod/holder --timeout=60s
  given=$(kubectl exec holder -- sh -c 'echo "$NVIDIA_VISIBLE_DEVICES"; ls /dev/infiniband; ls /dev/nvidia*')
  echo "$given"
  [[ $given == GPU-????????,GPU-????????$'\n'uverbs?$'\n'/dev/nvidia*$'\n'/dev/nvidia* ]]
}

# Emulated: minutes on a busy machine.
second_node_joins() {
  "$BED" vm start vm1
  kubectl wait --for=condition=Ready node/vm1 --timeout=10s
  [[ $("$BED" vm run vm1 stat -f -c %T /sys/fs/cgroup) == cgroup2fs ]]
}

# Init may take a moment to collect the last processes.
nothing_left() {
  poll 10 same_as_before || { cat "$WORK/difference" && false; }
}

same_as_before() {
  rm -rf "$WORK/after"
  snapshot "$WORK/after"
  diff -r "$WORK/before" "$WORK/after" >"$WORK/difference"
}

main() {
  local component
  if [[ $("$BED" status 2>&1) != 'not up' ]]; then
    echo 'Bail out! a bed is up: its users would lose it (bed down)'
    exit 1
  fi
  "$BED" build kube helm coredns device-plugin
  "$BED" image build base
  for number in '' 2; do
    [[ $(BED_NUMBER=$number "$BED" status 2>&1) == 'not up' ]] || { echo "Bail out! bed ${number:-1} is up"; exit 1; }
  done
  snapshot "$WORK/before"
  trap finish EXIT

  check 'up from the cache takes less than 40 s' up_is_fast
  check 'up on a running bed does nothing' "$BED" up
  check 'status says that all is well' "$BED" status
  check 'the base image is loaded' "$BED" image load base
  check 'pods run, and a volume is writable by its fsGroup' start_pods
  check 'a service is reached by its name, from the pod'"'"'s own address' poll 20 service_keeps_address
  check 'an unknown name fails at once' unknown_name_fails_at_once
  check 'a pod reaches the API server' client perl -MIO::Socket::INET -e \
    'IO::Socket::INET->new(PeerAddr => "kubernetes.default:443", Timeout => 5) or die'
  check 'no traffic leaves the bed' no_way_out
  check 'logs of a pod are there' kubectl logs client
  check 'an exit code passes through exec' exit_code_passes
  check 'helm talks to the cluster' "$BED" helm list --all-namespaces
  check 'a volume whose claim was deleted is empty and available again' volume_returns
  check 'an unknown command is a usage error' usage_error_is_2 nonsense
  check 'an argument of up is a usage error' usage_error_is_2 up --help
  check 'an unknown component is a usage error' usage_error_is_2 fault kill nonsense
  for component in etcd containerd kube-apiserver kube-controller-manager kube-scheduler kubelet kube-proxy coredns; do
    check "fault: $component killed and started" kill_and_start "$component"
    check "fault: $component stopped and continued" stop_and_continue "$component"
  done
  check 'the node is ready after all that' node_is_ready
  check 'a running pod survived all that' pod_survived_containerd
  check 'a second up completes an interrupted one' interrupted_up_completes
  check 'pods run again' restart_pods
  check 'up starts what a test has killed or stopped' up_heals
  check 'a process that only has the recorded pid is left alone' foreign_process_lives
  check 'up after a reboot' up_after_a_reboot
  check 'pods run after it' restart_pods
  check 'pods get devices' pods_get_devices
  check 'an image is built after a build that was killed' build_after_a_killed_one
  check 'a further bed serves beside it' further_bed_serves
  [[ ! ${TEST_BED_VM:-} ]] || check 'a virtual machine is a second Kubernetes node' second_node_joins # ./check full
  check 'down with pods and a virtual machine running' "$BED" down
  check 'down on no bed does nothing' "$BED" down
  check 'down leaves nothing' nothing_left

  echo "1..$TESTS"
  ((FAILURES == 0))
}

main
