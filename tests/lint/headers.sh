#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Lint: each header compiles alone: here, or in the source of its name, which includes it before anything else.
# Prints TAP, one line per header.
set -euo pipefail
cd "${TOP_SRCDIR:-$(dirname "$0")/../..}"

folders=()
for folder in lib engine nss plugins spank convert sidecar bridge tests; do
  if [[ -d $folder ]]; then folders+=("$folder"); fi
done
mapfile -t headers < <(find "${folders[@]}" -name '*.hpp' | sort)

# A word for a word: the compiler and Slurm's flags have no quotes.
COMPILE="${CXX:-g++ -std=c++20} -fsyntax-only -Wall -Wextra -Ilib -Iplugins -Itests -I. ${SLURM_CPPFLAGS:-} -x c++"
begins_its_source() { # HEADER
  local source=${1%.hpp}.cc first
  [[ -f $source ]] || return 1
  first=$(grep -m 1 '^#include' "$source")
  [[ $first == "#include \"$1\"" || $first == "#include \"${1#*/}\"" ]]
}
check() { # HEADER: in one piece, since two run side by side
  local output
  if begins_its_source "$1"; then
    echo "ok - $1"
    return
  fi
  # shellcheck disable=SC2086
  if output=$($COMPILE -include "$1" /dev/null 2>&1); then
    echo "ok - $1"
  else
    printf 'not ok - %s\n%s\n' "$1" "$(head -c 3000 <<<"$output" | sed 's/^/# /')"
  fi
}
export COMPILE
export -f begins_its_source check

echo "1..${#headers[@]}"
printf '%s\n' "${headers[@]}" | xargs -P 2 -n 1 bash -c 'check "$1"' check
