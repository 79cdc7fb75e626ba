# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Local storage of a NodeSet's pods is TmpDisk of its nodes: the kubelet of the machine offers some, unlike the bed's.

# shellcheck source=tests/vm/lib.sh
source "$E2E_FOLDER/../vm/lib.sh"

put_disk() { # REQUEST LIMIT
  put_spec disk 1 "$ON_THE_VM" '"resources":{"requests":{"cpu":"50m","memory":"64Mi","ephemeral-storage":"'"$1"'"},
    "limits":{"cpu":"1","memory":"256Mi","ephemeral-storage":"'"$2"'"}}'
}
tmp_disk() { slurm scontrol show node disk-0 -o | sed 's/.* TmpDisk=\([0-9]*\).*/\1/'; }

test_a_node_has_the_storage_of_its_pod() {
  local out
  trap 'remove_nodeset disk' EXIT
  start_vm
  need_release
  put_disk 64Mi 96Mi
  assert_equal "TmpDisk of a powered-down node" 64 "$(tmp_disk)"
  out=$(slurm sbatch -w disk-0 --tmp=80M --wrap true 2>&1) && fail "accepted: $out"
  [[ $out == *"Requested node configuration is not available"* ]] || fail "$out"
  assert_equal "a job with --tmp" disk-0 "$(slurm srun -w disk-0 --tmp=60M hostname)"
  assert_equal "TmpDisk of a node that is up" 64 "$(tmp_disk)"
  wait_for "the node is idle, and not drained" is_idle disk-0
}
is_idle() { [[ $(slurm sinfo -h -n "$1" -o %T) == idle ]]; }
