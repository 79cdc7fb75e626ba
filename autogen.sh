#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Makes ./configure out of a git checkout. A release tarball has it already.
set -euo pipefail
if [ "${1:-}" = --help ]; then
  echo "usage: ./autogen.sh   (needs autoconf, automake, libtool and pkg-config)"
  exit 0
fi
[ $# -eq 0 ] || { echo "autogen.sh: unexpected argument: $1" >&2; exit 2; }
cd "$(dirname "$0")"
autoreconf --force --install
echo "now run ./configure, or from an empty folder: $PWD/configure"
