# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What each virtual machine begins with: a disk, a kernel and an initial RAM disk, kept in the cache under a hash of
# their inputs.

vm_disk_key() {
  {
    printf '%s\n' "$VM_SUITE" "$VM_CONTAINERD_SUITE"
    find "$BED_DIR/image/vm" "$BED_DIR/lib/vm_disk.sh" -type f -print0 | sort -z | xargs -0 sha256sum | cut -d ' ' -f 1
  } | sha256sum | cut -c 1-16
}

vm_disk_make() { # FOLDER FILE SIZE: a file system with what is in the folder
  rm -f "$2"
  truncate -s "$3" "$2"
  mke2fs -q -t ext4 -E lazy_itable_init=1,nodiscard -d "$1" "$2"
}

vm_disk_fill() { # FOLDER
  local root=$1/root mirror
  mirror=$(image_mirror)
  [[ $mirror ]] || die 'vm: apt knows no Debian mirror'
  nice -n 19 "$BED_DIR/image/vm/rootfs.sh" "$VM_SUITE" "$root" "$mirror" "$VM_CONTAINERD_SUITE" || return
  mv "$root"/boot/vmlinuz-* "$1/vmlinuz"
  mv "$root"/boot/initrd.img-* "$1/initrd"
  vm_disk_make "$root" "$1/disk" 8G
  rm -rf "$root"
}

# Prints the folder with disk, vmlinuz and initrd.
vm_disk_ensure() {
  local folder partial=$BED_CACHE/vm/partial log=$BED_CACHE/vm-build.log
  folder=$BED_CACHE/vm/$(vm_disk_key)
  if [[ ! -e $folder ]]; then
    lock_take vm
    if [[ ! -e $folder ]]; then
      progress "virtual machine: building its disk (once; minutes; log: $log)"
      rm -rf "$BED_CACHE/vm"
      mkdir -p "$partial"
      if ! vm_disk_fill "$partial" >"$log" 2>&1; then
        tail -n 20 "$log" >&2
        die "virtual machine: its disk: build failed, the whole log is $log"
      fi
      mv "$partial" "$folder"
      rm -f "$log"
      progress 'virtual machine: disk built'
    fi
  fi
  printf '%s\n' "$folder"
}

# Writes a disk with the programs of a Kubernetes node: one file, by the names that it is called by.
vm_disk_programs() { # FILE
  local folder=$1-files
  rm -rf "$folder"
  mkdir -p "$folder"
  install -m 755 "$(readlink -f "$BED_BIN/kubelet")" "$folder/kubelet"
  ln "$folder/kubelet" "$folder/kube-proxy"
  vm_disk_make "$folder" "$1" 512M
  rm -rf "$folder"
}
