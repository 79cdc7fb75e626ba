#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Lint: each header compiles alone. Prints TAP, one line per header.
set -euo pipefail
cd "${TOP_SRCDIR:-$(dirname "$0")/../..}"

read -ra compiler <<<"${CXX:-g++ -std=c++20}"
read -ra slurm_flags <<<"${SLURM_CPPFLAGS:-}"
folders=()
for folder in lib engine nss plugins spank convert sidecar tests; do
  if [[ -d $folder ]]; then folders+=("$folder"); fi
done
mapfile -t headers < <(find "${folders[@]}" -name '*.hpp' | sort)

echo "1..${#headers[@]}"
number=0
for header in "${headers[@]}"; do
  number=$((number + 1))
  if output=$("${compiler[@]}" -fsyntax-only -Wall -Wextra -Ilib -Iplugins -Itests -I. \
      "${slurm_flags[@]}" -x c++ -include "$header" /dev/null 2>&1); then
    echo "ok $number - $header"
  else
    echo "not ok $number - $header"
    while IFS= read -r line; do echo "# $line"; done <<<"$output"
  fi
done
