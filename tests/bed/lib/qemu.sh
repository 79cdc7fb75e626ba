# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# QEMU: a version that emulates what a current kernel does, and the command line of a virtual machine.

# shellcheck disable=SC2034 # vm.sh uses it
QEMU_PACKAGES=(openssh-client mmdebstrap e2fsprogs)

qemu_is_new() { # VERSION
  dpkg --compare-versions "${1:-0}" ge "1:$QEMU_MINIMUM"
}

qemu_is_installed() {
  package_is_installed qemu-system-x86 && qemu_is_new "$(dpkg-query -W -f '${Version}' qemu-system-x86)"
}

qemu_candidate() {
  LC_ALL=C apt-cache policy qemu-system-x86 | awk '$1 == "Candidate:" { print $2 }'
}

# With that of Debian 12 (7.2) a guest with several processors panics after minutes.
qemu_install() {
  ! qemu_is_installed || return 0
  if qemu_is_new "$(qemu_candidate)"; then
    package_install qemu-system-x86
  else
    package_install_backport qemu-system-x86
  fi
}

# Prints the arguments of the machine whose files are in FOLDER, one a line. It is emulated everywhere: /dev/kvm may be
# there and fail.
qemu_arguments() { # NAME FOLDER ADDRESS
  local name=$1 folder=$2 last=${3##*.}
  printf '%s\n' -name "$name" -machine q35 -accel tcg,thread=multi,tb-size=512 -cpu max,la57=off,svm=off \
    -smp 2 -m "$VM_MEMORY" -nodefaults -no-user-config -display none -no-reboot \
    -chardev stdio,id=console,signal=off -serial chardev:console \
    -kernel "$folder/vmlinuz" -initrd "$folder/initrd" -append "root=/dev/vda rw console=ttyS0 mitigations=off audit=0 \
no_timer_check net.ifnames=0 panic=1 systemd.hostname=$name systemd.show_status=error" \
    -drive "file=$folder/disk,if=none,id=disk,format=raw,cache=unsafe" -device virtio-blk-pci,drive=disk \
    -drive "file=$folder/seed,if=none,id=seed,format=raw,readonly=on" -device virtio-blk-pci,drive=seed,serial=seed \
    -drive "file=$folder/programs,if=none,id=programs,format=raw,readonly=on" \
    -device virtio-blk-pci,drive=programs,serial=programs \
    -netdev "tap,id=net,ifname=$name,script=no,downscript=no" \
    -device "virtio-net-pci,netdev=net,mac=$(printf '52:54:00:00:00:%02x' "$last")" -device virtio-rng-pci
}
