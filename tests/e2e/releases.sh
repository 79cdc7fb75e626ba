# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Revisions of a release, a later version of the chart and of Slurm, and what an uninstall keeps.

CHART=$E2E_FOLDER/../../helm/slurm

# shellcheck disable=SC2034 # the test files use them
needs_next_slurm() { # sets NEXT_TAG, NEXT_VERSION
  local suite=${E2E_UPGRADE_SUITE:-}
  [[ $suite ]] || skip "needs E2E_UPGRADE_SUITE and its images (./check versions_forky)"
  NEXT_TAG=$(BED_SUITE=$suite "$BED" image tag)
  NEXT_VERSION=$(sed -nE 's/^slurmVersion: "(.*)"$/\1/p' "$E2E_FOLDER/suites/$suite.yaml")
}

# What another release in this namespace has kept.
secrets_of_others() {
  local manifest name
  manifest=$("$BED" helm get manifest slurm -n "$NAMESPACE")
  for name in $(kubectl get secrets --field-selector type!=helm.sh/release.v1 -o name); do
    grep -q "^  name: ${name#secret/}$" <<<"$manifest" || echo "$name"
  done
}
kept_by_notes() {
  "$BED" helm get notes slurm -n "$NAMESPACE" | sed -nE 's/^  (persistentvolumeclaim|secret)/\1/p' | sort
}
kept_objects() { # OBJECTS-OF-OTHERS
  kubectl get pvc,secrets -o name | grep -v /scratch | grep -vxF "${1:-none}" | sort
}

revision() { # the last one that was deployed
  "$BED" helm history slurm -n "$NAMESPACE" -o json | grep -oE '"revision":[0-9]+' | tail -1 | cut -d : -f 2
}

copy_chart() { # VERSION: as the next version of the chart may be
  rm -rf "$WORK/chart-$WORKER"
  cp -r "$CHART" "$WORK/chart-$WORKER"
  sed -i "s/^version: .*/version: $1/" "$WORK/chart-$WORKER/Chart.yaml"
  # shellcheck disable=SC2016 # of the template
  sed -i 's/^        kubectl.kubernetes.io\/default-container: slurmctld$/&\n        e2e: {{ .Values.e2e | quote }}/' \
    "$WORK/chart-$WORKER/templates/controller/statefulset.yaml"
  sed -i 's/"additionalProperties": false,//' "$WORK/chart-$WORKER/values.schema.json"
  printf 'e2e: new\n' >>"$WORK/chart-$WORKER/values.yaml"
}
# New values of the chart, and those that were set: --reuse-values would not have the new ones.
upgrade_to_copy() { # HELM-OPTION…
  "$BED" helm upgrade slurm "$WORK/chart-$WORKER" -n "$NAMESPACE" --reset-then-reuse-values "$@" >/dev/null
}
rollback() { # REVISION HELM-OPTION…
  "$BED" helm rollback slurm "$1" -n "$NAMESPACE" "${@:2}" >/dev/null
}
controller_annotation() { kubectl get pod "$CONTROLLER" -o jsonpath='{.metadata.annotations.e2e}'; }
has_annotation() { [[ $(controller_annotation) == "$1" ]] && controller_ready; }
