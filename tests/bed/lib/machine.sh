# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Plain machines beside the cluster: each a process tree with a root file system (that of images/packages), a host name
# and an address of its own, on the bed's network. All of it goes with its first process.

machine_require_name() {
  # The name is also that of a network device, which may have 15 characters.
  [[ ${1:-} =~ ^[a-z][a-z0-9-]{0,12}$ ]] ||
    usage_error "machine $action: NAME: must be a letter, then at most 12 of a-z, 0-9 and -"
}

machine_root() { echo "$BED_STATE/machines/$1"; }
machine_pid() { process_pid "machine-$1"; }

# Runs as the machine's first process, in its namespaces.
# shellcheck disable=SC2016 # its own $1
MACHINE_INIT='
  hostname "$2"
  mount --types proc proc "$1/proc"
  mount --rbind /sys "$1/sys"
  mount --rbind /dev "$1/dev"
  mount --types tmpfs --options mode=755 tmpfs "$1/run"
  mount --types tmpfs --options mode=1777 tmpfs "$1/tmp"
  touch "$1/run/machine-ready"
  exec catatonit -P'

# machine_enter NAME COMMAND...: in the machine's namespaces, but with this machine's files.
machine_enter() {
  local pid
  pid=$(machine_pid "$1") || die "machine $1: not running"
  nsenter --net="/proc/$pid/ns/net" --mount="/proc/$pid/ns/mnt" --uts="/proc/$pid/ns/uts" \
    --pid="/proc/$pid/ns/pid_for_children" -- "${@:2}"
}

machine_is_ready() {
  machine_pid "$1" >/dev/null || die "machine $1: ended at once, see $BED_LOG/machine-$1.log"
  machine_enter "$1" test -e "$(machine_root "$1")/run/machine-ready"
}

# The node is its way to pods and services, as a router with these routes would be.
machine_connect() { # NAME ADDRESS
  local name=$1 address=$2
  network_run ip link add "m-$name" type veth peer name eth0 netns "$(machine_pid "$name")"
  network_run ip link set "m-$name" master eth0 up
  # shellcheck disable=SC2016 # its own $1
  machine_enter "$name" bash -euc '
    ip link set lo up
    ip address add "$1/24" dev eth0
    ip link set eth0 up
    ip route add default via "$2"
  ' - "$address" "$NODE_ADDRESS"
}

machine_start() { # NAME ADDRESS
  local name=$1 address=${2:-} root
  [[ $address == "${NODE_ADDRESS%.*}".* ]] || usage_error "machine start: ADDRESS: must be ${NODE_ADDRESS%.*}.N"
  root=$(machine_root "$name")
  ! machine_pid "$name" >/dev/null || die "machine $name: already exists"
  machine_remove_files "$name"
  mkdir -p "$root"
  image_load_one packages
  image_ctr mount --rw "$(image_reference packages)" "$root" >/dev/null
  printf '%s\n' "$name" >"$root/etc/hostname"
  printf '127.0.0.1 localhost\n%s %s\n' "$address" "$name" >"$root/etc/hosts"
  printf 'nameserver %s\n' "$DNS_SERVICE_ADDRESS" >"$root/etc/resolv.conf"
  process_start "machine-$name" unshare --net --mount --uts --pid --fork --kill-child \
    bash -euc "$MACHINE_INIT" - "$root" "$name"
  wait_until 10 "machine $name" machine_is_ready "$name"
  machine_connect "$name" "$address"
}

machine_run() { # NAME COMMAND...
  local root
  (($# > 1)) || usage_error 'machine run: COMMAND: required'
  root=$(machine_root "$1")
  machine_enter "$1" chroot "$root" \
    env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root "${@:2}"
}

machine_remove_files() {
  local root
  root=$(machine_root "$1")
  [[ -d $root ]] || return 0
  image_ctr unmount --rm "$root" >/dev/null 2>&1 || umount "$root" 2>/dev/null || true
  rmdir "$root"
}

machine_stop() { # NAME
  process_kill "machine-$1"
  machine_remove_files "$1"
}

machine_main() {
  local action=${1:-}
  (($#)) && shift
  state_require_up
  case $action in
    start | run | enter | stop) machine_require_name "${1:-}" ;;
  esac
  case $action in
    start) machine_start "$@" ;;
    run) machine_run "$@" ;;
    enter) machine_enter "$@" ;;
    stop) machine_stop "$1" ;;
    *) usage_error 'machine: start NAME ADDRESS, run|enter NAME COMMAND..., stop NAME' ;;
  esac
}
