# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Virtual machines: further Kubernetes nodes with a kernel, systemd and cgroup version 2 of their own, on the bed's
# network. vmN has the address VM_FIRST_ADDRESS + N.
#
#   vms/key          for ssh, of all of them
#   vms/NAME/        its disks (disk, seed: what makes it this machine, programs), and the images it has been given

VM_IMAGES=(pause slurmd)

vm_is_name() { [[ ${1:-} =~ ^vm[1-9]$ ]]; }
vm_require_name() { vm_is_name "${1:-}" || usage_error "vm $action: NAME: must be vm1 to vm9"; }
vm_folder() { echo "$BED_STATE/vms/$1"; }
vm_address() { echo "${NODE_ADDRESS%.*}.$((VM_FIRST_NUMBER + ${1#vm}))"; }

# vm_ssh NAME COMMAND...: as a shell there reads it.
vm_ssh() {
  network_run ssh -q -i "$BED_STATE/vms/key" -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null \
    -o ConnectTimeout=30 -o ServerAliveInterval=15 "root@$(vm_address "$1")" "${@:2}"
}

# Prints the range of addresses that the controller manager has given the Kubernetes node.
vm_pod_range() { kubectl_run get node "$1" -o 'jsonpath={.spec.podCIDR}'; }
vm_has_range() { [[ $(vm_pod_range "$1") ]]; }

vm_create_node() {
  # shellcheck disable=SC2034 # config_render
  local VM_NAME=$1 CONFIG_NAMES=("${CONFIG_NAMES[@]}" VM_NAME)
  config_render vm/node.yaml | kubectl_run apply --filename=- >/dev/null
  wait_until 30 "$1: a range of addresses for its pods" vm_has_range "$1"
}

vm_write_keys() {
  local folder
  folder=$(vm_folder "$1")
  [[ -e $BED_STATE/vms/key ]] || ssh-keygen -q -t ed25519 -N '' -f "$BED_STATE/vms/key"
  [[ -e $BED_STATE/pki/$1.conf ]] ||
    (cd "$BED_STATE/pki" && umask 077 && certificate_client "$1" "/O=system:nodes/CN=system:node:$1")
}

# Writes what makes the machine this one: its files, and all of them as seed.new.
vm_write_seed() { # NAME: with the kubelet's settings of vm_start
  # shellcheck disable=SC2034 # config_render
  local CONFIG_NAMES=("${CONFIG_NAMES[@]}" VM_ADDRESS VM_POD_RANGE VM_SINGLE_PROCESS_OOM_KILL VM_CPU_MANAGER_POLICY
    VM_RESERVED_CPU)
  local VM_ADDRESS VM_POD_RANGE folder etc
  # shellcheck disable=SC2034
  VM_ADDRESS=$(vm_address "$1")
  # shellcheck disable=SC2034
  VM_POD_RANGE=$(vm_pod_range "$1")
  folder=$(vm_folder "$1")
  etc=$folder/files/etc
  rm -rf "$folder/files"
  mkdir -p "$etc"/{kubernetes,containerd,cni/net.d,systemd/network} "$folder/files/root/.ssh"
  config_render vm/kubelet.yaml >"$etc/kubernetes/kubelet.yaml"
  config_render vm/containerd.toml >"$etc/containerd/config.toml"
  config_render vm/cni.conflist >"$etc/cni/net.d/10-bed.conflist"
  config_render vm/eth.network >"$etc/systemd/network/eth.network"
  cp "$BED_STATE/pki/$1.conf" "$etc/kubernetes/kubelet.conf"
  cp "$BED_STATE"/pki/{kube-proxy.conf,ca.crt} "$etc/kubernetes/"
  cp "$BED_STATE/vms/key.pub" "$folder/files/root/.ssh/authorized_keys"
  tar -C "$folder/files" --create --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner \
    --file "$folder/seed.new" etc root
  truncate -s %512 "$folder/seed.new"
}

vm_connect() {
  network_run ip link show "$1" >/dev/null 2>&1 || {
    network_run ip tuntap add "$1" mode tap
    network_run ip link set "$1" master eth0 up
  }
  network_run ip route replace "$(vm_pod_range "$1")" via "$(vm_address "$1")"
}

vm_boot() {
  local name=$1 folder base arguments
  folder=$(vm_folder "$name")
  base=$(vm_disk_ensure)
  [[ -e $folder/disk ]] || cp --sparse=always "$base/disk" "$folder/disk"
  cp "$base"/{vmlinuz,initrd} "$folder/"
  vm_disk_programs "$folder/programs"
  mv "$folder/seed.new" "$folder/seed"
  vm_connect "$name"
  date --utc +%FT%TZ >"$folder/started"
  mapfile -t arguments < <(qemu_arguments "$name" "$folder" "$(vm_address "$name")")
  # The emulation takes what processor time there is: the cluster comes first.
  process_start "$name" nice -n 10 qemu-system-x86_64 "${arguments[@]}"
}

vm_require_running() {
  process_pid "$1" >/dev/null || {
    tail -n 10 "$BED_LOG/$1.log" >&2
    die "$1: has ended, see $BED_LOG/$1.log"
  }
}
vm_is_booted() {
  vm_require_running "$1"
  vm_ssh "$1" true 2>/dev/null
}
# By a kubelet that was started after the machine: that of the former boot may still count.
vm_node_is_ready() {
  local status heartbeat
  vm_require_running "$1"
  read -r status heartbeat < <(kubectl_run get node "$1" -o \
    'jsonpath={range .status.conditions[?(@.type=="Ready")]}{.status} {.lastHeartbeatTime}{"\n"}{end}') || return 1
  [[ $status == True && ! $heartbeat < $(<"$(vm_folder "$1")/started") ]]
}

# A running machine gets its files again where they differ: the kubelet has another configuration. It does not start
# with a state of another policy for CPUs.
vm_update() {
  local folder
  folder=$(vm_folder "$1")
  if ! cmp --quiet "$folder/seed" "$folder/seed.new"; then
    vm_ssh "$1" 'tar --extract --no-same-owner --directory / && systemctl stop kubelet &&
      rm -f /var/lib/kubelet/cpu_manager_state && systemctl start kubelet' <"$folder/seed.new"
    date --utc +%FT%TZ >"$folder/started"
    # A disk that is in use keeps its file.
    cat "$folder/seed.new" >"$folder/seed"
    progress "$1: kubelet restarted with another configuration"
  fi
  rm -f "$folder/seed.new"
}

vm_load_image() { # VM IMAGE
  local id file archive
  id=$(image_id "$2")
  if [[ -z $id ]]; then
    progress "$1: image $2 is not built, and not loaded"
    return
  fi
  file=$(vm_folder "$1")/images/$(image_file "$2")
  [[ $(cat "$file" 2>/dev/null) != "$id" ]] || return 0
  archive=$(image_archive "$2" "$id")
  vm_ssh "$1" ctr --namespace k8s.io images import --digests=false - <"$archive" >/dev/null
  rm -f "$archive"
  mkdir -p "$(dirname "$file")"
  printf '%s\n' "$id" >"$file"
  progress "$1: image $2 loaded"
}

vm_start() { # NAME KUBELET-OPTION…
  local name=$1 VM_SINGLE_PROCESS_OOM_KILL=false VM_CPU_MANAGER_POLICY=none VM_RESERVED_CPU=0m option image
  # shellcheck disable=SC2034 # vm_write_seed
  for option in "${@:2}"; do
    case $option in
      --single-process-oom-kill) VM_SINGLE_PROCESS_OOM_KILL=true ;;
      --static-cpu-manager) VM_CPU_MANAGER_POLICY=static VM_RESERVED_CPU=500m ;;
      *) usage_error "vm start: $option: unknown" ;;
    esac
  done
  package_install "${QEMU_PACKAGES[@]}"
  qemu_install
  vm_disk_ensure >/dev/null
  mkdir -p "$(vm_folder "$name")"
  if (($# > 1)); then printf '%s\n' "${@:2}"; fi >"$(vm_folder "$name")/options"
  vm_create_node "$name"
  vm_write_keys "$name"
  vm_write_seed "$name"
  if process_pid "$name" >/dev/null; then vm_update "$name"; else vm_boot "$name"; fi
  # 25 s on two idle processors, minutes on busy ones.
  wait_until 600 "$name: booted (its console: $BED_LOG/$name.log)" vm_is_booted "$name"
  progress "$name: booted"
  wait_until 300 "$name: Kubernetes node ready" vm_node_is_ready "$name"
  progress "$name: Kubernetes node ready"
  for image in "${VM_IMAGES[@]}"; do vm_load_image "$name" "$image"; done
}

# As a machine is lost, and then forgotten.
vm_stop() {
  process_kill "$1"
  kubectl_run delete node "$1" --ignore-not-found >/dev/null
  network_run ip link delete "$1" 2>/dev/null || true
  network_run ip route flush via "$(vm_address "$1")"
  rm -rf "$(vm_folder "$1")"
}

vm_main() {
  local action=${1:-} image
  (($#)) && shift
  case $action in
    start | load | dra | share | run | stop) vm_require_name "${1:-}" ;;
    *) usage_error 'vm: start NAME [KUBELET-OPTION...], load NAME IMAGE..., dra|share|stop NAME, run NAME COMMAND...' ;;
  esac
  state_require_up
  case $action in
    start) vm_start "$@" ;;
    load)
      (($# > 1)) || usage_error 'vm load: IMAGE: required'
      for image in "${@:2}"; do vm_load_image "$1" "$image"; done
      ;;
    dra) vm_dra_start "$1" ;;
    share) vm_share_start "$1" ;;
    run)
      (($# > 1)) || usage_error 'vm run: COMMAND: required'
      vm_ssh "$@"
      ;;
    stop) vm_stop "$1" ;;
  esac
}
