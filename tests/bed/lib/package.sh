# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Debian packages: installs what is missing, without a question and without a word when nothing is.

# shellcheck disable=SC2034 # the other files use them
# What `up` needs, and what the making of images needs. buildah of Debian 13 wants to see netavark,
# although our builds use the machine's network.
UP_PACKAGES=(buildah catatonit ca-certificates containerd containernetworking-plugins curl iproute2
  iptables netavark openssh-client openssl procps runc)
IMAGE_PACKAGES=(buildah ca-certificates catatonit containerd debootstrap git netavark openssh-client)

# Docker's own package has the programs of Debian's, which would remove it.
declare -A PACKAGE_INSTEAD=([containerd]=containerd.io [runc]=containerd.io)

package_is_installed() {
  [[ $(dpkg-query -W -f '${Status}' "$1" 2>/dev/null) == 'install ok installed' ]]
}

package_missing() {
  local name
  for name in "$@"; do
    package_is_installed "$name" || package_is_installed "${PACKAGE_INSTEAD[$name]:-none}" || printf '%s\n' "$name"
  done
}

package_apt() {
  local log=$BED_CACHE/apt.log
  mkdir -p "$BED_CACHE"
  DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=300 "$@" >"$log" 2>&1 && return
  tail -n 10 "$log" >&2
  return 1
}

# Debian's containerd package starts a service of its own. The bed neither uses nor disturbs one
# that is there, but it does not bring a new one to the machine either: policy-rc.d forbids starts
# while we install.
package_without_services() {
  local policy=/usr/sbin/policy-rc.d status=0
  if [[ -e $policy ]]; then
    "$@"
    return
  fi
  printf '#!/bin/sh\nexit 101\n' >"$policy"
  chmod 755 "$policy"
  "$@" || status=$?
  rm -f "$policy"
  return "$status"
}

package_candidate_known() {
  local name
  for name in "$@"; do
    apt-cache show --no-all-versions "$name" >/dev/null 2>&1 || return 1
  done
}

# With --no-remove apt ends with an error when an installed package is in the way.
package_add() {
  package_without_services package_apt install --yes --no-install-recommends --no-remove "$@"
}

# One at a time: apt-get update does not wait for its lock.
package_install() {
  local missing
  mapfile -t missing < <(package_missing "$@")
  ((${#missing[@]})) || return 0
  command -v apt-get >/dev/null || die "needs ${missing[*]}, and there is no apt-get to install them"
  mkdir -p "$BED_CACHE"
  (
    flock 7
    mapfile -t missing < <(package_missing "$@")
    ((${#missing[@]})) || exit 0
    progress "installing ${missing[*]}"
    package_candidate_known "${missing[@]}" || package_apt update
    package_add "${missing[@]}" && exit
    # An old package list names files that the mirror no longer has.
    package_apt update
    package_add "${missing[@]}" || die "apt-get install ${missing[*]}: see above"
  ) 7>"$BED_CACHE/packages.lock"
}

# From the backports of this machine's Debian. Its apt need not know them, and does not afterwards: these are other
# package lists.
package_add_backport() {
  local folder=$BED_CACHE/backports mirror suite options
  # shellcheck source=/dev/null
  suite=$(source /etc/os-release && echo "$VERSION_CODENAME")-backports
  mirror=$(image_mirror)
  [[ $mirror ]] || die "needs $* of $suite, and apt knows no Debian mirror"
  rm -rf "$folder"
  mkdir -p "$folder"/{sources,lists/partial}
  cp /etc/apt/sources.list.d/*.{list,sources} "$folder/sources/" 2>/dev/null || true
  printf 'deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] %s %s main\n' "$mirror" "$suite" \
    >"$folder/sources/backports.list"
  options=(-o Dir::Etc::SourceParts="$folder/sources" -o Dir::State::Lists="$folder/lists" -o Dir::Cache::pkgcache=
    -o Dir::Cache::srcpkgcache=)
  package_apt "${options[@]}" update
  package_without_services package_apt "${options[@]}" install --yes --no-install-recommends --no-remove \
    --target-release "$suite" "$@"
  rm -rf "$folder"
}

package_install_backport() {
  (
    flock 7
    progress "installing $* from backports"
    package_add_backport "$@" || die "apt-get install $*: see above"
  ) 7>"$BED_CACHE/packages.lock"
}
