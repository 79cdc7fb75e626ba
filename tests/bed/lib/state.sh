# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The bed as a whole: up, down, and whether it is up.

state_require_root() {
  ((EUID == 0)) || die 'must run as root: creates namespaces, mounts and cgroups'
}

state_is_prepared() {
  [[ -e $BED_STATE/prepared ]] && network_exists
}

state_require_up() {
  state_is_prepared || die 'bed is not up; run bed up'
}

state_check_overlay() {
  local probe=$BED_STATE/probe
  mkdir -p "$probe"/{lower,upper,work,merged}
  mount -t overlay overlay -o "lowerdir=$probe/lower,upperdir=$probe/upper,workdir=$probe/work" "$probe/merged" ||
    die "$BED_STATE: this file system cannot hold an overlay; set SLURM_K8S_STATE to a directory on a disk"
  umount "$probe/merged"
  rm -rf "$probe"
}

# `down` removes the whole directory: it must be ours.
state_claim_directory() {
  [[ $BED_STATE == /* ]] || die "SLURM_K8S_STATE=$BED_STATE: not an absolute path"
  if [[ -d $BED_STATE && ! -e $BED_STATE/.slurm-k8s-bed && -n $(ls -A "$BED_STATE") ]]; then
    die "$BED_STATE: exists and is not a bed's state"
  fi
  mkdir -p "$BED_STATE"/{run,log,etcd,kubelet}
  touch "$BED_STATE/.slurm-k8s-bed"
}

state_prepare() {
  state_claim_directory
  state_check_overlay
  host_check
  host_remember
  network_create
  cgroup_create
  certificate_all
  config_write_all
  touch "$BED_STATE/prepared"
  progress 'network, cgroups and certificates ready'
}

# etcd and containerd first; the others once the API server answers, or they would only take the
# processors from it.
state_start_components() {
  local name
  component_start etcd
  component_start containerd
  component_wait etcd
  component_start kube-apiserver
  component_wait containerd
  image_load_one pause
  component_wait kube-apiserver
  for name in "${COMPONENTS[@]}"; do component_start "$name"; done
  for name in "${COMPONENTS[@]:3}"; do component_wait "$name"; done
}

state_fill_cluster() {
  config_render objects.yaml | kubectl_run apply -f - >/dev/null
  [[ -e $BED_STATE/filled ]] || volume_create_pool
  kubectl_run wait --for=create "node/$BED_NODE" serviceaccount/default --timeout=180s >/dev/null
  kubectl_run wait --for=condition=Ready "node/$BED_NODE" --timeout=180s >/dev/null
  touch "$BED_STATE/filled"
  progress "node $BED_NODE ready"
}

# Components that a test has stopped or killed come back.
state_continue_stopped() {
  local name
  for name in "${COMPONENTS[@]}"; do process_signal CONT "$name" || true; done
}

state_up() {
  state_require_root
  package_install "${UP_PACKAGES[@]}"
  program_ensure "${UP_PROGRAMS[@]}"
  image_ensure_built pause
  lock_take state
  if state_is_prepared && [[ -e $BED_STATE/filled ]] && components_all_serve; then
    volume_reset
    progress 'already up'
    return
  fi
  if state_is_prepared; then
    state_continue_stopped
  else
    state_remove
    state_prepare
  fi
  state_start_components
  state_fill_cluster
}

# Prints the mount points below our state, the newest first.
state_mounts() {
  awk -v below="$BED_STATE/" 'index($5, below) == 1 { print $5 }' /proc/self/mountinfo | tac
}

state_unmount() {
  local mount
  while read -r mount; do
    umount "$mount" 2>/dev/null || true
  done < <(state_mounts)
  [[ -z $(state_mounts) ]]
}

# Removes only what exists: also what an interrupted `up` or a reboot left.
state_remove() {
  local name
  # The kubelet first, or it would start again what ends.
  for name in kubelet device-plugin "${COMPONENTS[@]}"; do process_kill "$name"; done
  network_kill_processes
  cgroup_remove
  wait_until 20 "$BED_STATE: unmount" state_unmount
  network_remove
  host_restore
  if [[ -e $BED_STATE/.slurm-k8s-bed ]]; then
    rm -rf --one-file-system "$BED_STATE"
  fi
}

state_down() {
  state_require_root
  lock_take state
  if [[ ! -e $BED_STATE/.slurm-k8s-bed ]] && ! network_exists; then
    progress 'is not up'
    return
  fi
  state_remove
  progress 'down'
}
