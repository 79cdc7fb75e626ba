# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The files in config/, with @NAME@ replaced by the setting NAME.

CONFIG_NAMES=(BED_STATE BED_KUBECONFIG BED_CGROUP BED_CNI_NETWORK BED_NODE NODE_ADDRESS SERVICE_RANGE
  DNS_SERVICE_ADDRESS DNS_PORT POD_RANGE NODE_POD_RANGE MAX_PODS CONTAINERD_SOCKET PAUSE_IMAGE)

# Prints config/NAME.
config_render() {
  local name text
  text=$(<"$BED_DIR/config/$1")
  for name in "${CONFIG_NAMES[@]}"; do
    text=${text//"@$name@"/"${!name}"}
  done
  [[ $text =~ @[A-Z_]+@ ]] && die "config/$1: unknown setting ${BASH_REMATCH[0]}"
  printf '%s\n' "$text"
}

# Prints the arguments of a component, one a line.
config_arguments() {
  config_render "$1.args" | grep -v '^#'
}

config_write_all() {
  local file
  for file in containerd.toml kubelet.yaml Corefile; do
    config_render "$file" >"$BED_STATE/$file"
  done
  mkdir -p "$BED_STATE/cni"
  config_render cni.conflist >"$BED_STATE/cni/10-bed.conflist"
}
