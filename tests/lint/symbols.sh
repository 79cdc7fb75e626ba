#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What the built plugins show to their host: exactly their exports.map, nothing that keeps dlclose() from unloading, and
# no destructors that run while slurmctld ends.
# usage: symbols.sh BUILD-FOLDER
set -euo pipefail

source_folder=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=${1:?usage: symbols.sh BUILD-FOLDER}
status=0

listed() { grep -oE '^    [a-z_0-9]+;' "$source_folder/$1" | tr -d ' ;' | sort; }
exported() { nm -D --defined-only "$build/$1" | awk '{print $3}' | sort; }

while read -r library map; do
  # Slurm from 24.05 on has no power plugins.
  [[ -e $build/$library || $library != */power_k8s.so ]] || continue
  [[ -e $build/$library ]] || { echo "$library: not built"; status=1; continue; }
  if ! diff <(listed "$map") <(exported "$library"); then
    echo "$library: exports differ from $map (< listed, > exported)"
    status=1
  fi
  # A UNIQUE symbol pins the library in slurmctld for ever.
  if nm -D "$build/$library" | grep -q ' u '; then
    echo "$library: has UNIQUE symbols"
    status=1
  fi
done <<'END'
plugins/.libs/prep_k8s.so plugins/prep_k8s/exports.map
plugins/.libs/power_k8s.so plugins/power_k8s/exports.map
plugins/.libs/job_submit_k8s.so plugins/job_submit_k8s/exports.map
plugins/.libs/node_features_k8s.so plugins/node_features_k8s/exports.map
engine/.libs/libslurm_k8s_engine.so engine/c_api/exports.map
nss/.libs/libnss_slurm_k8s.so.2 nss/exports.map
spank/.libs/spank_k8s.so spank/exports.map
spank/.libs/spank_k8s_scripts.so spank/scripts/exports.map
END

# exit() would run it while other threads go on, under whatever locks it was called with: see base/undestroyed.hpp. The
# libraries themselves have the destructors of libstdc++.
while read -r object; do
  if nm --undefined-only "$build/$object" | grep -qE ' __cxa_(thread_)?atexit$| atexit$'; then
    echo "$object: the destructor of a global: base/undestroyed.hpp"
    status=1
  fi
done < <(cd "$build" && find {lib,engine,plugins,nss,spank} -path '*/.libs/*.o')
exit "$status"
