# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What enforces NetworkPolicies: the firewall of kube-router, without its router and its proxy, in the bed's network
# namespace. It writes chains of iptables and sets of ipset there, for all pods of the bed.

network_policies_serve() {
  component_get http://127.0.0.1:20244/healthz
}

# The mark of what a policy allows is in the last rule of the first complete set of rules.
network_policies_are_enforced() {
  process_is_gone kube-router && die "kube-router: has ended, see $BED_LOG/kube-router.log"
  network_policies_serve && network_run iptables --wait --list-rules KUBE-ROUTER-FORWARD 2>/dev/null | grep -q 0x20000
}

network_policies_start() {
  local arguments
  state_require_up
  package_install ipset iptables
  program_ensure kube-router
  if process_is_gone kube-router; then
    mapfile -t arguments < <(config_arguments kube-router)
    process_start kube-router "$BED_BIN/kube-router" "${arguments[@]}"
  fi
  wait_until 60 "kube-router: all rules (its log: $BED_LOG/kube-router.log)" network_policies_are_enforced
}

# Prints what takes kube-router's rules and chains away, for iptables-restore; nothing where there are none.
network_policies_removal() {
  local saved chains chain
  saved=$(network_run iptables-save --table filter)
  mapfile -t chains < <(sed -nE 's/^:(KUBE-(ROUTER|POD-FW|NWPLCY)-[^ ]*) .*/\1/p' <<<"$saved")
  ((${#chains[@]})) || return 0
  echo '*filter'
  sed -nE 's/^-A ((INPUT|FORWARD|OUTPUT) .*-j KUBE-ROUTER-)/-D \1/p' <<<"$saved"
  for chain in "${chains[@]}"; do echo "-F $chain"; done
  for chain in "${chains[@]}"; do echo "-X $chain"; done
  echo COMMIT
}

# kube-router leaves its rules when it ends, and its own clean-up (--cleanup-config) does not know them. It ends by
# itself, so that no iptables-restore of it comes later.
network_policies_stop() {
  state_require_up
  if process_signal TERM kube-router; then
    wait_until 60 'kube-router: end of the process' process_is_gone kube-router
  fi
  network_policies_removal | network_run iptables-restore --wait --noflush
  # No other program of the bed has sets.
  [[ ! $(type -P ipset) ]] || network_run ipset destroy
}

network_policies_main() {
  case ${1:-} in
    start) network_policies_start ;;
    stop) network_policies_stop ;;
    *) usage_error 'network-policies: start or stop' ;;
  esac
}
