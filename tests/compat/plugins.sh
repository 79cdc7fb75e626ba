#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The built plugins beside each version of Slurm. Prints TAP.
#
# A version's list in required/ says which functions it looks for; where its source is there ($SLURM_K8S_SLURM_SOURCES,
# filled by compat/fetch_source), the list and the declarations in compat.hpp are compared with it.
set -euo pipefail
cd "${TOP_SRCDIR:-$(dirname "$0")/../..}"

BUILD=${TOP_BUILDDIR:-.}
SOURCES=${SLURM_K8S_SLURM_SOURCES:-${XDG_CACHE_HOME:-$HOME/.cache}/slurm-k8s/slurm-source}
EVERY_PLUGIN=(plugin_name plugin_type plugin_version init fini)
number=0

# check NAME COMMAND...: passes when COMMAND prints nothing and ends well.
check() {
  local name=$1 found status=ok
  shift
  found=$("$@" 2>&1) || status="not ok"
  [[ -z $found ]] || status="not ok"
  number=$((number + 1))
  echo "$status $number - $name"
  [[ $status == ok ]] || printf '# %s\n' "${found//$'\n'/$'\n# '}"
}

skip() {
  number=$((number + 1))
  echo "ok $number - $1 # SKIP $2"
}

plugin_file() { # TYPE
  case $1 in
    jobacct_gather) echo "$BUILD/plugins/.libs/jobacct_gather_linux.so" ;;
    *) echo "$BUILD/plugins/.libs/${1}_k8s.so" ;;
  esac
}

# missing LIST: what Slurm looks for and the plugin lacks. power/k8s is built for Slurm that has the type alone.
missing() {
  local type symbol exported
  while read -r type; do
    if [[ $type == power && ! -e $(plugin_file power) ]]; then continue; fi
    exported=$(nm -D --defined-only "$(plugin_file "$type")" | awk '{ print $3 }')
    while read -r symbol; do
      grep -qx "$symbol" <<<"$exported" || echo "$type: $symbol: not exported"
    done < <(printf '%s\n' "${EVERY_PLUGIN[@]}"; sed -n "s/^$type //p" "$1")
  done < <(cut -d ' ' -f 1 "$1" | sort -u)
}

# What slurmd, too, must have for the plugin to load: slurmctld's own functions are weak, or slurmd would end. A
# sanitizer's are the test program's.
strong() {
  nm -D --undefined-only "$1" |
    awk '$1 == "U" && $2 !~ /@/ && $2 !~ /^__(asan|lsan|tsan|ubsan|sanitizer)_/ { print $2 }' |
    grep -vxF -f tests/compat/used || true
}

# The functions that Slurm looks for, from its source.
required_by() {
  local type
  { grep -hoE '"job_(submit|modify)"$|"job_(submit|modify)",' "$1"/src/*/job_submit.c || true; } | tr -d '",' |
    sort -u |
    sed 's/^/job_submit /'
  for type in prep node_features power jobacct_gather; do
    { grep -rhoE --include='*.c' "^\s*\"${type}_p_[a-z_0-9]+\"" "$1/src" || true; } | tr -d ' \t"' | sort -u |
      sed "s/^/$type /"
  done
}

# other_signal FOLDER: where our numbers of SIG_OOM, which no public header has, are not Slurm's.
other_signal() {
  local number
  number=$(sed -nE 's/^#define SIG_OOM\s+([0-9]+).*/\1/p' "$1/src/common/slurm_protocol_defs.h")
  sed -nE 's/.*kOutOfMemory = ([0-9]+);.*/\1/p' spank/compat.hpp lib/slurm/rpc/compat.hpp |
    sed "/^$number\$/d; s/\$/: SIG_OOM is $number/"
}

for plugin in job_submit prep node_features power jobacct_gather; do
  file=$(plugin_file "$plugin")
  if [[ -e $file ]]; then check "$(basename "$file") needs what every daemon of Slurm has" strong "$file"; fi
done
for list in tests/compat/required/*; do
  version=${list##*/}
  check "Slurm $version finds its functions in our plugins" missing "$list"
  if [[ -d $SOURCES/$version/src ]]; then
    check "list of $version is that of its source" diff "$list" <(required_by "$SOURCES/$version")
    check "compat.hpp says what the headers of $version say" \
      "${PYTHON3:-python3}" tests/compat/declarations.py "$version" "$SOURCES/$version" plugins/*/*compat.hpp \
      spank/compat.hpp lib/slurm/rpc/compat.hpp
    check "SIG_OOM is that of $version" other_signal "$SOURCES/$version"
  else
    skip "compat.hpp and the headers of $version" "no source in $SOURCES (tests/compat/fetch_source)"
  fi
done
echo "1..$number"
