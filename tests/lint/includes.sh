#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Lint: who may include whom (docs/developer/architecture.md). Prints TAP, one line per rule.
set -euo pipefail
cd "${TOP_SRCDIR:-$(dirname "$0")/../..}"

number=0
# rule NAME COMMAND...: passes when COMMAND prints nothing; what it prints are the offending lines.
rule() {
  local name=$1 found
  shift
  found=$("$@")
  number=$((number + 1))
  if [[ -z $found ]]; then
    echo "ok $number - $name"
  else
    echo "not ok $number - $name"
    while IFS= read -r line; do echo "# $line"; done <<<"$found"
  fi
}

# matches REGEX FOLDER...: "file:line:text" of the lines of C++ files that match.
matches() {
  local regex=$1 folder
  shift
  for folder in "$@"; do
    [[ -d $folder ]] || continue
    grep -rnE --include='*.cc' --include='*.hpp' --include='*.h' "$regex" "$folder" || true
  done
}

# folder_may FOLDER ALLOWED...: of lib's folders, FOLDER includes only the allowed ones.
folder_may() {
  local folder=$1 allowed
  shift
  allowed=$(IFS='|'; echo "$*")
  matches '^ *# *include *"(base|json|http|kube|core|slurm|engine)/' "$folder" | grep -vE "include *\"($allowed)/" ||
    true
}

# only_in REGEX FILES: lines of the product that match outside the files (a regex) that may have them.
only_in() { matches "$1" lib nss plugins spank sidecar | grep -vE "^($2):" || true; }

no_upward() {
  matches '^ *# *include *"(tests|support)/' lib nss plugins spank sidecar
  matches '^ *# *include *"(\.\./)+' lib plugins spank sidecar tests
}

no_sideways() {
  matches '^ *# *include *"(plugins|prep_k8s|node_features_k8s|power_k8s|spank|sidecar)/' lib
  matches '^ *# *include *"(spank|sidecar)/' plugins
  matches '^ *# *include *"(plugins|prep_k8s|node_features_k8s|power_k8s|sidecar)/' spank
  matches '^ *# *include *"(plugins|prep_k8s|node_features_k8s|power_k8s|spank)/' sidecar
}

cmocka_users() {
  matches '# *include *<cmocka' lib plugins spank sidecar tests | grep -v '^tests/support/cmocka\.hpp:' || true
}

readonly entry='plugins/[^:]*/entry\.cc|spank/(scripts/)?entry\.cc'
readonly compat='[^:]*/compat\.hpp'

rule "lib/base includes only base" folder_may lib/base base
rule "lib/json includes base, json" folder_may lib/json base json
rule "lib/http includes base to http" folder_may lib/http base json http
rule "lib/kube includes base to kube" folder_may lib/kube base json http kube
rule "lib/core includes base to core" folder_may lib/core base json http kube core
rule "lib/slurm includes base, json, core" folder_may lib/slurm base json core slurm
rule "lib/engine includes lib" folder_may lib/engine base json http kube core slurm engine
rule "spank includes only base" folder_may spank base
rule "nss includes only base" folder_may nss base
rule "nobody includes tests, or by ../" no_upward
rule "plugins, spank and sidecar don't include each other, and lib none of them" no_sideways
rule "curl only in curl_transport.cc and endpoint.cc" only_in '# *include *[<"]curl/' \
  'lib/http/(curl_transport|endpoint)\.cc'
rule "json-c only in json.cc" only_in '# *include *[<"]json-c/' 'lib/json/json\.cc'
rule "libyaml only in yaml.cc" only_in '# *include *[<"]yaml\.h' 'lib/json/yaml\.cc'
rule "libmicrohttpd only in admin_http.cc" only_in '# *include *[<"]microhttpd' 'sidecar/admin_http\.cc'
rule "Slurm's headers only in entry.cc, compat.hpp, lib/slurm" \
  only_in '# *include *<slurm/' "$entry|$compat|lib/slurm/[^:]*\.cc"
rule "Slurm's version only in entry.cc and compat.hpp" only_in 'SLURM_VERSION_NUM' "$entry|$compat"
rule "cmocka.h only in support/cmocka.hpp" cmocka_users
echo "1..$number"
