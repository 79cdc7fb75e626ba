# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The network namespace of the bed. It has no way out: its default route leads to a bridge without ports.

# A file alone is what a reboot leaves, and a mount may be hidden below another one.
network_exists() {
  [[ $(stat -f -c %T "$BED_NETNS_FILE" 2>/dev/null) == nsfs ]]
}

# `ip netns exec` would mount another /sys, without the cgroups.
network_run() {
  nsenter --net="$BED_NETNS_FILE" -- "$@"
}

# Not in /run/netns: what uses `ip netns` mounts that folder over itself, which hides what is mounted in it.
network_create() {
  : >>"$BED_NETNS_FILE"
  unshare --net="$BED_NETNS_FILE" true
  # A bridge, since some kernels have no dummy device. Kubernetes looks for the default route.
  # shellcheck disable=SC2016 # its own $1
  network_run bash -euc '
    ip link set lo up
    ip link add eth0 type bridge
    ip address add "$1/24" dev eth0
    ip link set eth0 up
    ip route add default dev eth0
    echo 1 >/proc/sys/net/ipv4/ip_forward
  ' - "$NODE_ADDRESS"
}

# Prints the processes in the namespace: the components, containerd's shims, and what `bed exec` left.
network_processes() {
  local inode link
  network_exists || return 0
  inode=$(stat -L -c %i "$BED_NETNS_FILE")
  for link in /proc/[0-9]*/ns/net; do
    [[ $(readlink "$link" 2>/dev/null) != "net:[$inode]" ]] || printf '%s\n' "$link"
  done | cut -d / -f 3
}

# Kills what is left and says whether nothing was: for wait_until.
network_kill_round() {
  local pids
  mapfile -t pids < <(network_processes)
  ((${#pids[@]})) || return 0
  kill -s KILL "${pids[@]}" 2>/dev/null || true
  return 1
}

network_kill_processes() {
  wait_until 20 "network namespace: end of its processes" network_kill_round
}

# Interfaces, routes and iptables rules go with the namespace, once its last process has ended.
network_remove() {
  while network_exists; do umount "$BED_NETNS_FILE"; done
  rm -f "$BED_NETNS_FILE"
}
