# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Huge pages of a NodeSet's pods.

# shellcheck source=tests/vm/lib.sh
source "$E2E_FOLDER/../vm/lib.sh"

huge_pages_of_node() { kubectl get node "$VM" -o jsonpath='{.status.allocatable.hugepages-2Mi}'; }
has_huge_pages() { [[ $(huge_pages_of_node) == "$1" ]]; }
# The kubelet asks the kernel when it starts.
offer() { # PAGES QUANTITY
  in_vm "echo $1 >/proc/sys/vm/nr_hugepages && systemctl restart kubelet"
  wait_for 120 "huge pages of the machine" has_huge_pages "$2"
}
put_huge() {
  put_spec huge 1 '{"volumes":[{"name":"huge","emptyDir":{"medium":"HugePages-2Mi"}}],'"${ON_THE_VM#\{}" \
    '"resources":{"requests":{"cpu":"50m","memory":"64Mi"},
       "limits":{"cpu":"1","memory":"256Mi","hugepages-2Mi":"8Mi"}},
     "volumeMounts":[{"name":"huge","mountPath":"/dev/hugepages"}]'
}
# What a task runs to write to so many MiB of huge pages (MAP_HUGETLB).
fill() {
  echo "python3 -c 'import mmap; size = $1 << 20; flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x40000
mmap.mmap(-1, size, flags=flags).write(bytes(size)); print(size >> 20, \"MiB\")'"
}

test_a_job_has_the_huge_pages_of_its_pod() {
  local out
  trap 'remove_nodeset huge; offer 0 0' EXIT
  start_vm
  need_release
  offer 16 32Mi
  put_huge
  out=$(slurm srun -w huge-0 --mem=100 bash -c "$(fill 8)")
  assert_equal "a job with 8 MiB" "8 MiB" "$out"
  # The machine has more: the pod's limit is the kernel's.
  if out=$(slurm srun -w huge-0 --mem=100 bash -c "$(fill 12)" 2>&1); then fail "a job with 12 MiB: $out"; fi
  # At the reservation; by a runc before 1.1.10 when it writes.
  [[ $out == *"Cannot allocate memory"* || $out == *"Bus error"* ]] || fail "a job with 12 MiB: $out"
}
