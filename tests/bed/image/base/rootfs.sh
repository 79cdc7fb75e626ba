#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Makes the root of the base image: rootfs.sh SUITE DIRECTORY [MIRROR]. Like Debian's own slim image:
# no documentation, no service starts, apt leaves nothing behind.
set -euo pipefail

suite=$1 root=$2 mirror=${3:-}

debootstrap --variant=minbase "$suite" "$root" ${mirror:+"$mirror"}

cat >"$root/etc/dpkg/dpkg.cfg.d/slim" <<'END'
path-exclude /usr/share/doc/*
path-include /usr/share/doc/*/copyright
path-exclude /usr/share/info/*
path-exclude /usr/share/locale/*
path-exclude /usr/share/man/*
END
cat >"$root/etc/apt/apt.conf.d/slim" <<'END'
Acquire::Languages "none";
APT::AutoRemove::SuggestsImportant "false";
DPkg::Post-Invoke { "rm -f /var/cache/apt/archives/*.deb /var/cache/apt/*.bin || true"; };
END
printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
chmod 755 "$root/usr/sbin/policy-rc.d"

find "$root/usr/share/doc" -mindepth 2 ! -type d ! -name copyright -delete
rm -rf "$root"/usr/share/{info,locale,man}/* "$root"/var/lib/apt/lists/* \
  "$root"/var/cache/apt/*.bin "$root"/var/cache/apt/archives/*.deb "$root"/var/log/{bootstrap,dpkg}.log
# Those of the machine that built the image.
: >"$root/etc/hostname"
: >"$root/etc/resolv.conf"
: >"$root/etc/machine-id"
