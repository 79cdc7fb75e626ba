# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Finds a Go that is new enough; where Debian's is older, that one fetches a newer toolchain as a Go module.

go_new_enough() {
  local version
  version=$(GOTOOLCHAIN=local "$1" env GOVERSION 2>/dev/null) || return 1
  [[ $(printf '%s\n' "$GO_MINIMUM" "${version#go}" | sort -V | head -n 1) == "$GO_MINIMUM" ]]
}

# Prints the newest of the Go programs on this machine.
go_installed() {
  local candidate
  for candidate in "$(type -P go || true)" /usr/local/go/bin/go /usr/lib/go-*/bin/go; do
    [[ -x $candidate ]] || continue
    printf '%s %s\n' "$(GOTOOLCHAIN=local "$candidate" env GOVERSION)" "$candidate"
  done | sort -V | tail -n 1 | cut -d ' ' -f 2
}

# A module zip has no execute bits. Go 1.21 and later sets them when it fetches a toolchain for
# itself (GOTOOLCHAIN); the plain module download works with every Go, Debian 12's 1.19 too.
go_fetch_toolchain() {
  local old=$1 module answer directory
  module=golang.org/toolchain@v0.0.1-go$GO_TOOLCHAIN.linux-$("$old" env GOARCH)
  progress "fetching $module with $("$old" version)"
  # A fault of the download is in the answer, too.
  answer=$(cd / && GO111MODULE=on GOTOOLCHAIN=local go_run "$old" mod download -json "$module") || true
  directory=$(sed -n 's/^\t"Dir": "\(.*\)",\?$/\1/p' <<<"$answer")
  [[ -d $directory ]] || die "$module: not fetched: $answer"
  chmod -R u+w "$directory"
  find "$directory/bin" "$directory/pkg/tool" -type f -exec chmod +x {} +
  printf '%s\n' "$directory/bin/go"
}

# The build's caches stay out of the user's own; program.sh removes them when all is built.
go_run() {
  CGO_ENABLED=0 GOCACHE=$BED_CACHE/go/build GOMODCACHE=$BED_CACHE/go/mod GOBIN='' GOFLAGS='' "$@"
}

# Prints the path of a go program of at least GO_MINIMUM.
go_program() {
  local found
  found=$(go_installed)
  if [[ -z $found ]]; then
    package_install golang-go
    found=$(go_installed)
  fi
  if go_new_enough "$found"; then
    printf '%s\n' "$found"
  else
    go_fetch_toolchain "$found"
  fi
}
