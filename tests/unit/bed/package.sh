#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# tests/bed/lib/package.sh with apt and dpkg that are fakes: what apt-get is asked for. ./check and ./try install by it.
# Prints TAP.
set -euo pipefail

top=$(cd "${TOP_SRCDIR:-../..}" && pwd)
# shellcheck source=tests/support/expect.sh
source "$top/tests/support/expect.sh"

# ---- fakes ----

export FAKE=$folder/fake BED_CACHE=$folder/cache
mkdir "$FAKE"
PATH=$FAKE:$PATH
# $FAKE/installed has the packages that are there, $FAKE/refused the number of installations that apt-get refuses.
cat >"$FAKE/dpkg-query" <<'END'
#!/bin/bash
! grep -qx "${*: -1}" "$FAKE/installed" || printf 'install ok installed'
END
cat >"$FAKE/apt-cache" <<'END'
#!/bin/bash
[[ ! -e $FAKE/unknown ]]
END
cat >"$FAKE/apt-get" <<'END'
#!/bin/bash
echo "$*" >>"$FAKE/asked"
[[ " $* " == *" install "* ]] || exit 0
refused=$(<"$FAKE/refused")
((refused)) || exit 0
echo $((refused - 1)) >"$FAKE/refused"
echo "E: Packages need to be removed but remove is disabled."
exit 100
END
chmod +x "$FAKE"/*
# Runs a function of package.sh. package_without_services would write to /usr/sbin.
cat >"$folder/run" <<END
set -euo pipefail
source "$top/tests/bed/lib/package.sh"
progress() { :; }
die() { echo "\$*" >&2; exit 1; }
image_mirror() { echo http://mirror.example/debian; }
package_without_services() { "\$@"; }
"\$@"
END

package() { expect "${@:1:4}" bash "$folder/run" "${@:5}"; } # NAME CODE OUT ERR FUNCTION ARGUMENT...
is() { expect "$1" 0 "$2" "" echo "$3"; } # NAME EXPECTED ACTUAL
begin() {
  rm -f "$FAKE/asked" "$FAKE/unknown"
  echo 0 >"$FAKE/refused"
  printf '%s\n' curl containerd.io >"$FAKE/installed"
}
# What apt-get was asked for, without options of all calls and without those that name a folder.
asked() { sed -E 's/^-qq //; s/-o [^ ]+ //g' "$FAKE/asked" 2>/dev/null | paste -sd ';'; }
install="install --yes --no-install-recommends --no-remove"

# ---- tests ----

begin
package "what is there" 0 "" "" package_install curl containerd runc
is "nothing is asked of apt-get" "" "$(asked)"
package "what is missing" 0 "" "" package_install curl jq socat
is "nothing is removed for it" "$install jq socat" "$(asked)"
begin
touch "$FAKE/unknown"
package "what apt does not know" 0 "" "" package_install jq
is "lists are fetched first" "update;$install jq" "$(asked)"
begin
echo 1 >"$FAKE/refused"
package "old lists" 0 "" "*remove is disabled." package_install jq
is "lists are fetched, and nothing is removed in the second try" "$install jq;update;$install jq" "$(asked)"
begin
echo 2 >"$FAKE/refused"
package "an installed package is in the way" 1 "" "*remove is disabled.*apt-get install jq: see above" \
  package_install jq
is "it is not removed" "$install jq;update;$install jq" "$(asked)"
begin
package "from backports" 0 "" "" package_install_backport qemu
is "nothing is removed for it either" "update;$install --target-release *-backports qemu" "$(asked)"

echo "1..$number"
