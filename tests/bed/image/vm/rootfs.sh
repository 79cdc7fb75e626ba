#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Makes the files of a virtual machine: rootfs.sh SUITE DIRECTORY MIRROR CONTAINERD-SUITE. A stock Debian with systemd
# and the cloud kernel, without boot loader, and a newer Debian's containerd. What makes it one machine of one bed comes
# at boot, from a disk of its own.
set -euo pipefail

suite=$1 root=$2 mirror=$3 containerd=$4
folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
packages=linux-image-cloud-amd64,systemd-sysv,udev,dbus,kmod,iproute2,iptables,conntrack,procps,ca-certificates
packages+=,containerd/$containerd,runc,containernetworking-plugins,openssh-server,nfs-kernel-server

# The initial RAM disk is made once the kernel is configured: with no more in it than this machine's root needs.
# shellcheck disable=SC2016 # mmdebstrap's own $1
mmdebstrap --mode=root --variant=minbase --include="$packages" --aptopt='APT::Install-Recommends "false"' \
  --essential-hook='mkdir -p "$1/etc/initramfs-tools/conf.d"' \
  --essential-hook='printf "MODULES=list\nCOMPRESS=zstd\nCOMPRESSLEVEL=1\n" >"$1/etc/initramfs-tools/conf.d/vm"' \
  --essential-hook='printf "virtio_pci\nvirtio_blk\nvirtio_net\next4\n" >"$1/etc/initramfs-tools/modules"' \
  --essential-hook='printf "#!/bin/sh\nexit 101\n" >"$1/usr/sbin/policy-rc.d"; chmod 755 "$1/usr/sbin/policy-rc.d"' \
  --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' \
  --dpkgopt='path-exclude=/usr/share/locale/*' --dpkgopt='path-exclude=/usr/share/info/*' \
  --aptopt="APT::Default-Release \"$suite\"" --aptopt='Acquire::Check-Valid-Until "false"' \
  "$suite" "$root" "deb $mirror $suite main" "deb $mirror $containerd main"

rm -f "$root/usr/sbin/policy-rc.d" "$root"/var/cache/apt/archives/*.deb "$root"/var/lib/apt/lists/*_*
cp -r "$folder/files/." "$root/"
for unit in seed kubelet kube-proxy systemd-networkd ssh; do
  systemctl --root="$root" enable "$unit.service"
done
# A test that wants an NFS server starts it.
systemctl --root="$root" disable nfs-server.service nfs-blkmap.service rpcbind.service rpcbind.socket nfs-client.target
# Nothing here wants these, and each costs seconds under emulation.
for unit in apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer e2scrub_all.timer e2scrub_reap.service \
  fstrim.timer systemd-networkd-wait-online.service; do
  systemctl --root="$root" mask "$unit"
done
: >"$root/etc/machine-id"
