# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What the components leave on the machine outside of the bed's state, since they have no setting
# for it: saved before the start, restored at the end.

# The kubelet writes these.
HOST_SYSCTLS=(vm/overcommit_memory vm/panic_on_oom kernel/panic kernel/panic_on_oops
  kernel/keys/root_maxkeys kernel/keys/root_maxbytes)
# Parents first.
HOST_DIRECTORIES=(/run/netns /run/containerd /run/containerd/s /var/lib/cni /var/lib/cni/results
  /var/lib/kubelet /var/lib/kubelet/device-plugins /var/log/containers)
KUBELET_DEVICE_SOCKET=/var/lib/kubelet/device-plugins/kubelet.sock

# A kubelet empties the directory of device plugins, which every kubelet of the machine shares.
host_check() {
  [[ ! -S $KUBELET_DEVICE_SOCKET ]] ||
    die "$KUBELET_DEVICE_SOCKET: there is another kubelet on this machine; remove this file if that is not so"
}

# Prints the files of the other beds that are up: their kubelets need the settings, and have saved the former ones.
host_others() {
  local file
  for file in "${SLURM_K8S_STATE:-/var/lib/slurm-k8s-bed}"{,-[2-9]}/host-sysctls; do
    [[ ! -e $file || $file == "$BED_STATE"/* ]] || printf '%s\n' "$file"
  done
}

host_remember() {
  local name others
  mapfile -t others < <(host_others)
  if ((${#others[@]})); then
    cp "${others[0]}" "$BED_STATE/host-sysctls"
  else
    for name in "${HOST_SYSCTLS[@]}"; do
      [[ ! -e /proc/sys/$name ]] || printf '%s %s\n' "$name" "$(<"/proc/sys/$name")"
    done >"$BED_STATE/host-sysctls"
  fi
  for name in "${HOST_DIRECTORIES[@]}"; do
    [[ -e $name ]] || printf '%s\n' "$name"
  done >"$BED_STATE/host-directories"
}

# Sockets of containerd's shims: their names are hashes, each container's bundle tells its own.
host_remove_shim_sockets() {
  local file socket
  for file in "$BED_STATE"/containerd/state/io.containerd.runtime.v2.task/k8s.io/*/address; do
    [[ -e $file ]] || continue
    socket=$(<"$file")
    socket=${socket#unix://}
    [[ $socket != /run/containerd/s/* ]] || rm -f "$socket"
  done
}

host_remove_log_links() {
  [[ ! -d /var/log/containers ]] ||
    find /var/log/containers -maxdepth 1 -type l -lname "$BED_STATE/*" -delete
}

host_restore() {
  local name value
  host_remove_shim_sockets
  host_remove_log_links
  device_remove_sockets
  rm -f "$KUBELET_DEVICE_SOCKET" /var/lib/kubelet/device-plugins/kubelet_internal_checkpoint \
    /var/lib/cni/results/"$BED_CNI_NETWORK"-* /var/lib/cni/results/cni-loopback-*
  [[ -e $BED_STATE/host-sysctls ]] || return 0
  if [[ ! $(host_others) ]]; then
    while read -r name value; do
      printf '%s' "$value" >"/proc/sys/$name"
    done <"$BED_STATE/host-sysctls"
  fi
  tac "$BED_STATE/host-directories" | while read -r name; do
    [[ ! -d $name ]] || rmdir --ignore-fail-on-non-empty "$name"
  done
}
