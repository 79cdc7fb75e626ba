# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Another Slurm cluster in a namespace of its own, with NodeSets and nodes of the same names.

OTHER=$NAMESPACE-other
other_kubectl() { "$BED" kubectl -n "$OTHER" "$@"; }
other_slurm() { BED_NAMESPACE=$OTHER "$BED" slurm "$@"; }
other_is_up() {
  other_slurm scontrol ping | grep -c 'is UP' >/dev/null && [[ $(other_slurm sinfo -h -N -o %N | wc -l) == 8 ]]
}
other_state() { other_slurm scontrol show job "$1" -o | grep -oE '\bJobState=[A-Z]+' | cut -d = -f 2; }
other_is() { [[ $(other_state "$1") == "$2" ]]; }
# shellcheck disable=SC2120 # t119 has options
install_other() { # HELM-OPTION…
  "$BED" helm install slurm "$E2E_FOLDER/../../helm/slurm" -n "$OTHER" --create-namespace "${VALUES[@]}" "$@" \
    --wait --timeout 180s >/dev/null
  wait_for 60 "the other cluster up" other_is_up
}
remove_other() {
  "$BED" helm uninstall slurm -n "$OTHER" --ignore-not-found --wait >/dev/null 2>&1 || true
  "$BED" kubectl delete namespace "$OTHER" --ignore-not-found >/dev/null
}
