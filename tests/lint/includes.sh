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

# Names that our includes begin with: lib's folders, and those beside lib.
folders='base|event|json|http|kube|slurm|settings|nodeset|control|daemon|engine|nss|spank|convert|sidecar|bridge'
readonly folders
readonly plugin_folders='slurmctld|prep_k8s|power_k8s|node_features_k8s|job_submit_k8s'

# folder_may FOLDER ALLOWED...: FOLDER includes only the allowed files, and what is in the allowed folders.
folder_may() {
  local folder=$1 allowed
  shift
  allowed=$(IFS='|'; echo "$*")
  matches "^ *# *include *\"($folders|$plugin_folders)/" "$folder" | grep -vE "include *\"($allowed)[/\"]" || true
}

# only_in REGEX FILES: lines of the product that match outside the files (a regex) that may have them.
only_in() { matches "$1" lib engine nss plugins spank convert sidecar bridge | grep -vE "^($2):" || true; }

no_upward() {
  matches '^ *# *include *"(tests|support|lib|plugins)/' lib engine nss plugins spank convert sidecar bridge
  matches '^ *# *include *"(\.\./)+' lib engine nss plugins spank convert sidecar bridge tests
}

# Otherwise no rule sees them. config.h is configure's.
bare() {
  matches '^ *# *include *"[^/"]*"' lib engine nss plugins spank convert sidecar bridge | grep -v '"config\.h"' || true
}

# inner FOLDER NAME: nobody in FOLDER but its subfolder NAME includes that.
inner() {
  local name=${1#lib/}/$2
  matches "^ *# *include *\"$name/" "$1" | grep -v "^$1/$2/" || true
}

# The plugins know the engine by its C interface; ResumeProgram and SuspendProgram are linked with it.
engine_users() {
  matches '^ *# *include *"engine/' plugins |
    grep -vE '^plugins/power_k8s/(program|resume|suspend)\.|"engine/c_api/' || true
}

cmocka_users() {
  matches '# *include *<cmocka' lib engine nss plugins spank convert sidecar bridge tests |
    grep -v '^tests/support/cmocka\.hpp:' || true
}

readonly entry='plugins/[^:]*/entry\.cc|spank/(scripts/)?entry\.cc'
readonly compat='[^:]*/([a-z]+_)?compat\.hpp'
# Who has what writes without a fence: the fences and their lease, main that makes them, and what has no lease.
readonly unfenced='lib/(kube|slurm)/[^:]*|lib/daemon/(fence|leader_lease)\.[^:]*|(sidecar|bridge)/main\.cc'\
'|engine/engine\.cc|engine/c_api/[^:]*|plugins/power_k8s/program\.cc'

rule "lib/base includes itself" folder_may lib/base base
rule "lib/event includes base" folder_may lib/event base event
rule "lib/json includes base" folder_may lib/json base json
rule "lib/http includes base, event" folder_may lib/http base event http
rule "lib/kube includes base, event, json, http" folder_may lib/kube base event json http kube
rule "lib/slurm includes base" folder_may lib/slurm base slurm
rule "lib/slurm includes nothing of lib/slurm/rpc" inner lib/slurm rpc
rule "lib/settings includes base, event, http, kube" \
  folder_may lib/settings base event http kube settings
rule "lib/nodeset includes base, event, json, kube, slurm, settings" \
  folder_may lib/nodeset base event json kube slurm settings nodeset
rule "lib/control includes base, event, json, slurm" \
  folder_may lib/control base event json slurm control
rule "lib/daemon includes base, event, json, kube, slurm, settings" \
  folder_may lib/daemon base event json kube slurm settings daemon
rule "engine includes lib, without daemon" \
  folder_may engine base event json http kube slurm settings nodeset control engine
rule "engine includes nothing of engine/c_api" inner engine c_api
rule "engine/c_api includes worker.hpp and variant_store.hpp of the engine" folder_may engine/c_api \
  base http json slurm settings nodeset control engine/worker.hpp engine/variant_store.hpp engine/c_api
rule "convert includes base, json, nodeset" folder_may convert base json nodeset convert
rule "sidecar includes lib and convert" \
  folder_may sidecar base event json http kube slurm settings nodeset control daemon convert sidecar
rule "bridge includes lib" \
  folder_may bridge base event json http kube slurm settings nodeset control daemon bridge
rule "spank includes only base" folder_may spank base spank
rule "spank includes nothing of spank/scripts" inner spank scripts
rule "nss includes only base" folder_may nss base nss
# Slurm loads each plugin alone: what two of them share is in plugins/slurmctld.
rule "plugins/slurmctld includes base, hostlists and the C interfaces" \
  folder_may plugins/slurmctld base slurm/hostlist.hpp engine/c_api nss/control.h slurmctld
rule "plugins/job_submit_k8s includes base and the settings" \
  folder_may plugins/job_submit_k8s base settings/options.hpp slurmctld job_submit_k8s
for plugin in prep_k8s node_features_k8s; do
  rule "plugins/$plugin includes base" \
    folder_may "plugins/$plugin" base slurm/reasons.hpp slurm/rpc/compat.hpp slurmctld "$plugin"
done
rule "plugins/power_k8s includes lib, without daemon" \
  folder_may plugins/power_k8s base event json http kube slurm settings nodeset control engine slurmctld power_k8s
rule "plugins include the engine's C interface only" engine_users
rule "what is included has its folder's name" bare
rule "nobody includes tests, or by ../" no_upward
rule "curl only in curl_transport.cc and endpoint.cc" only_in '# *include *[<"]curl/' \
  'lib/http/(curl_transport|endpoint)\.cc'
rule "json-c only in json.cc" only_in '# *include *[<"]json-c/' 'lib/json/json\.cc'
rule "libyaml only in yaml.cc and yaml_writer.cc" only_in '# *include *[<"]yaml\.h' \
  'lib/json/yaml\.cc|convert/yaml_writer\.cc'
rule "libmicrohttpd only in admin_http.cc" only_in '# *include *[<"]microhttpd' 'lib/daemon/admin_http\.cc'
rule "Slurm's headers only in entry.cc, compat.hpp, lib/slurm/rpc" \
  only_in '# *include *<slurm/' "$entry|$compat|lib/slurm/rpc/[^:]*\.cc"
rule "Slurm's version only in entry.cc and compat.hpp" only_in 'SLURM_VERSION_NUM' "$entry|$compat"
rule "writes past a daemon's fence only where listed" \
  only_in '\b(unfenced_writer|make_rpc_(slurm|allocations))\(' "$unfenced"
rule "cmocka.h only in support/cmocka.hpp" cmocka_users
echo "1..$number"
