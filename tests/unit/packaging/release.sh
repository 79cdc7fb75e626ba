#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# packaging/release with a buildah and a helm that are fakes: which files it makes, and what it leaves when it fails.
# Prints TAP. tests/release/run makes a real one.
set -euo pipefail

top=$(cd "${TOP_SRCDIR:-../..}" && pwd)
# shellcheck source=tests/support/expect.sh
source "$top/tests/support/expect.sh"

# ---- fakes ----

export FAKE=$folder/fake
mkdir -p "$FAKE/root/var/lib/dpkg" "$FAKE/root/etc" "$FAKE/root/packages"
echo VERSION_CODENAME=trixie >"$FAKE/root/etc/os-release"
echo package >"$FAKE/root/packages/slurm-k8s-sidecar_1_amd64.deb"
cat >"$FAKE/root/var/lib/dpkg/status" <<'END'
Package: slurmctld
Status: install ok installed
Architecture: amd64
Source: slurm-wlm (24.11.5-4)
Version: 24.11.5-4

Package: gone
Status: deinstall ok config-files
Architecture: amd64
Version: 1
END
cat >"$FAKE/buildah" <<'END'
#!/bin/bash
echo "$*" >>"$FAKE/asked"
case $1 in
  build) if [[ -e $FAKE/broken && "$*" == *images/$(cat "$FAKE/broken")/* ]]; then echo "no compiler"; exit 1; fi ;;
  from) echo container ;;
  mount) echo "$FAKE/root" ;;
  push) archive=${4#oci-archive:}; echo "image ${archive#*:}" >"${archive%%:*}" ;;
esac
END
cat >"$FAKE/helm" <<'END'
#!/bin/bash
echo "$*" >>"$FAKE/helm-asked"
grep -E '^  tag:|^slurmVersion' "$2/values.yaml" >"${6%/}/chart.tgz"
END
chmod +x "$FAKE"/{buildah,helm}
export BUILDAH=$FAKE/buildah HELM=$FAKE/helm

# NAME CODE OUT ERR OPTION...
release() { expect "${@:1:4}" "$top/packaging/release" --output="$folder/releases" "${@:5}"; }
is() { expect "$1" 0 "$2" "" echo "$3"; } # NAME EXPECTED ACTUAL

# ---- tests ----

release "help" 0 "usage: *" "" --help
release "unknown option" 2 "" "usage: *" --fast
release "unknown Slurm" 1 "" "*--slurm: must be 22.05, 24.11 or 26.05*" --slurm=21.08

release "a release" 0 "*total*$folder/releases/*+slurm24.11" \
  "*image builder*image packages*archive of image slurmctld*complete"
made=$(tail -n 1 "$folder/out")
version=$(basename "$made" +slurm24.11)
images=$(grep -v '^#' "$top/images/build-order" | grep -vx builder)
is "an archive of each image but the builder" "$(sort <<<"$images")" "$(ls "$made/images" | sed 's/.oci.tar$//' | sort)"
is "its name" "image localhost/slurm-k8s/slurmd:$version-slurm24.11" "$(<"$made/images/slurmd.oci.tar")"
is "what each has" "$(sort <<<"$images")" "$(ls "$made/sbom" | sed 's/.spdx.json$//' | sort)"
is "of the base for this Slurm" "*--build-arg BASE=debian:trixie-slim *--build-arg VERSION=$version *" \
  "$(<"$FAKE/asked")"
is "the chart has these images" "  tag: $version-slurm24.11?slurmVersion: \"24.11\"" "$(<"$made/chart.tgz")"
is "the chart's versions" "*--version $version+slurm24.11 *--app-version 24.11.5" "$(<"$FAKE/helm-asked")"
is "Debian packages" package "$(cat "$made"/packages/*.deb)"
is "the version of slurm-k8s-backup" "slurm-k8s-backup $version" "$("$made/slurm-k8s-backup" --version)"
is "no container is left" "$(grep -c '^from' "$FAKE/asked")" "$(grep -c '^rm' "$FAKE/asked")"
expect "SHA256SUMS" 0 "" "" bash -c "cd '$made' && sha256sum --check --strict --quiet SHA256SUMS"
is "of all files" "$(find "$made" -type f ! -name SHA256SUMS | wc -l)" "$(wc -l <"$made/SHA256SUMS")"

packages() { # prints name and version of what a list has
  python3 -c '
import json, sys
print(*("{name} {versionInfo}".format(**each) for each in json.load(sys.stdin)["packages"]), sep=", ")' <"$1"
}
is "installed packages, and slurm-k8s" "slurm-k8s/slurmd $version, slurm-k8s $version, slurmctld 24.11.5-4" \
  "$(packages "$made/sbom/slurmd.spdx.json")"

release "there already" 1 "" "*/releases/*+slurm24.11: exists"
echo sidecar >"$FAKE/broken"
release "an image that cannot be built" 1 "" "*sidecar: build: failed*no compiler*images: not all are built" \
  --slurm=26.05
is "leaves nothing" "$version+slurm24.11" "$(ls "$folder/releases")"

echo "1..$number"
