#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# images/build with builders that are fakes: what they are asked for, and what the command refuses. Prints TAP.
set -euo pipefail

top=$(cd "${TOP_SRCDIR:-../..}" && pwd)
# shellcheck source=tests/support/expect.sh
source "$top/tests/support/expect.sh"

# ---- fakes ----

export FAKE=$folder/fake
mkdir -p "$FAKE"
for name in docker podman buildah; do
  cat >"$FAKE/$name" <<'END'
#!/bin/bash
echo "${0##*/} $*" >>"$FAKE/asked"
echo "the builder's words"
[[ ! -e $FAKE/broken || "$*" != *"$(cat "$FAKE/broken")"* ]]
END
  chmod +x "$FAKE/$name"
done
export PATH=$FAKE:$PATH
unset DOCKER PODMAN BUILDAH

# NAME CODE OUT ERR OPTION...
build() {
  rm -f "$FAKE/asked"
  expect "${@:1:4}" "$top/images/build" "${@:5}"
}
is() { expect "$1" 0 "$2" "" echo "$3"; } # NAME EXPECTED ACTUAL
asked() { grep -E -- "$1" "$FAKE/asked" || true; } # PATTERN
what=(--registry=reg.example/me --tag=1)

# ---- tests ----

build "help" 0 "usage: images/build*--slurm=RELEASE*debian:bookworm-slim*" "" --help
build "version" 0 "slurm-k8s [0-9]*.[0-9]*.[0-9]*" "" --version
build "an unknown option" 2 "" "images/build: --fast: unknown option (see images/build --help)" --fast
build "no registry" 2 "" "images/build: --registry: required*" --tag=1
build "an invalid registry" 2 "" "images/build: --registry: invalid: Reg/*" --registry=Reg/ --tag=1
build "no tag" 2 "" "images/build: --tag: required*" --registry=reg.example
build "an invalid tag" 2 "" "images/build: --tag: invalid: a b*" --registry=reg.example "--tag=a b"
build "no value" 2 "" "images/build: --base: requires a value*" "${what[@]}" --base
build "an unknown Slurm" 2 "" "images/build: --slurm: must be 22.05, 24.11 or 26.05*" "${what[@]}" --slurm=21.08
build "an unknown builder" 2 "" "images/build: --builder: must be docker, podman or buildah*" \
  "${what[@]}" --builder=kaniko
build "an invalid platform" 2 "" "images/build: --platform: must be*" "${what[@]}" --platform=arm64
build "an invalid argument" 2 "" "images/build: --build-arg: must be NAME=VALUE*" "${what[@]}" --build-arg=fast
build "an unknown image" 2 "" "images/build: image slurm: no images/slurm/Dockerfile*" "${what[@]}" slurm
expect "a builder that is not there" 1 "" "images/build: --builder: no-such: not found" \
  env BUILDAH=no-such "$top/images/build" "${what[@]}" --builder=buildah

build "all images" 0 "*the builder's words*" "*image builder*image slurmctld*image slurmrestd*complete" "${what[@]}"
is "by the first builder" "docker build *" "$(head -n 1 "$FAKE/asked")"
is "in their order" "$(grep -v '^#' "$top/images/build-order")" \
  "$(sed -E 's,.*--tag reg.example/me/([a-z]+):1 .*,\1,' "$FAKE/asked")"
is "what each is built from" \
  "docker build --build-arg BASE=debian:trixie-slim --build-arg BUILDER=reg.example/me/builder:1 \
--build-arg VERSION=[0-9]* --label org.opencontainers.image.version=[0-9]* \
--file $top/images/slurmd/Dockerfile --tag reg.example/me/slurmd:1 $top" "$(asked slurmd:1)"

build "options with values behind them" 0 "*" "*" --registry reg.example/me --tag 1 --builder buildah --slurm 26.05 \
  --build-arg "EXTRA_PACKAGES=strace gdb" --build-arg http_proxy=http://proxy.example:3128 --platform linux/arm64 slurmd
is "one platform" "buildah build --layers --platform linux/arm64 --build-arg BASE=debian:forky-slim *\
--build-arg EXTRA_PACKAGES=strace gdb --build-arg http_proxy=http://proxy.example:3128 \
*--tag reg.example/me/slurmd:1 *" "$(<"$FAKE/asked")"
build "a base" 0 "*" "*" "${what[@]}" --base=mine/debian:12 slurmd
is "of the user's" "*BASE=mine/debian:12 *" "$(<"$FAKE/asked")"
expect "a builder with options" 0 "*" "*" \
  env "PODMAN=podman --root=/x" "$top/images/build" "${what[@]}" --builder=podman slurmd
is "has them" "podman --root=/x build *" "$(tail -n 1 "$FAKE/asked")"

both=--platform=linux/amd64,linux/arm64
build "two platforms" 0 "*" "*image slurmd for linux/amd64*image slurmd for linux/arm64*" "${what[@]}" \
  --builder=podman "$both" --push builder slurmd
is "each is built from its own builder" "*linux/arm64 *BUILDER=reg.example/me/builder:1-arm64 *slurmd:1-arm64 *" \
  "$(asked ' build .*slurmd:1-arm64')"
here=containers-storage:reg.example/me/slurmd
is "their list" "podman manifest create reg.example/me/slurmd:1 $here:1-amd64 $here:1-arm64" \
  "$(asked 'create.*slurmd')"
is "is pushed" "podman manifest push --all reg.example/me/slurmd:1 docker://reg.example/me/slurmd:1" "$(asked push)"
build "docker" 0 "*" "*" "${what[@]}" --builder=docker "$both" slurmd
is "makes no list of images that are in no registry" "" "$(asked manifest)"
build "docker, with --push" 0 "*" "*push of image slurmd*" "${what[@]}" --builder=docker "$both" --push slurmd
is "pushes the images before their list" "docker push reg.example/me/slurmd:1-amd64
docker push reg.example/me/slurmd:1-arm64
docker manifest push reg.example/me/slurmd:1" "$(asked push)"
build "--push with one platform" 0 "*" "*" "${what[@]}" --push builder slurmd
is "all but builder" "docker push reg.example/me/slurmd:1" "$(asked push)"

echo images/sidecar/ >"$FAKE/broken"
build "an image that cannot be built" 1 "*the builder's words" "*images/build: sidecar: build: failed" "${what[@]}"
is "is the last that was tried" "*images/sidecar/*" "$(tail -n 1 "$FAKE/asked")"
echo manifest >"$FAKE/broken"
build "a list that cannot be made" 1 "*" "*images/build: slurmd: list of platforms: failed" "${what[@]}" \
  --builder=podman "$both" slurmd
echo push >"$FAKE/broken"
build "an image that cannot be pushed" 1 "*" "*images/build: slurmd: push: failed" "${what[@]}" --push slurmd

echo "1..$number"
