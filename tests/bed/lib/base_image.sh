# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The base of the images: a minimal Debian, made by debootstrap from the mirror of this machine.

# Prints the Debian mirror that this machine's apt uses; nothing when apt does not know one.
image_mirror() {
  # shellcheck disable=SC2016 # apt-get replaces these
  apt-get indextargets --format '$(ORIGIN)/$(LABEL) $(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
    awk '$1 == "Debian/Debian" && !seen++ { print $2 }'
}

# debootstrap has no script for a Debian that is younger than itself. All of the last 20 years have that of sid.
base_image_know_suite() { # FOLDER for a copy of debootstrap's own
  [[ ! -e /usr/share/debootstrap/scripts/$BASE_SUITE ]] || return 0
  cp -a /usr/share/debootstrap "$1"
  ln -s sid "$1/scripts/$BASE_SUITE"
  export DEBOOTSTRAP_DIR=$1
}

image_build_base() {
  local context=$BED_CACHE/base-context log=$BED_CACHE/base-build.log
  package_install debootstrap
  rm -rf "$context"
  mkdir -p "$context"
  base_image_know_suite "$context/debootstrap"
  if ! "$BED_DIR/image/base/rootfs.sh" "$BASE_SUITE" "$context/root" "$(image_mirror)" >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    die "image base: debootstrap failed, the whole log is $log"
  fi
  # A mirror that is a snapshot has lists that are past their date.
  echo 'Acquire::Check-Valid-Until "false";' >"$context/root/etc/apt/apt.conf.d/mirror"
  tar -C "$context/root" --create --numeric-owner --file "$context/rootfs.tar" .
  image_bud base "$context" "$BED_DIR/image/base/Dockerfile" "$1"
  rm -rf "$context" "$log"
}
