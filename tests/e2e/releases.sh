# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Revisions of a release, and a later version of the chart.

CHART=$E2E_FOLDER/../../helm/slurm

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
controller_annotation() { kubectl get pod "$CONTROLLER" -o jsonpath='{.metadata.annotations.e2e}'; }
has_annotation() { [[ $(controller_annotation) == "$1" ]] && controller_ready; }
