# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A release with the chart's slurmdbd and MariaDB, and what sacct says of jobs.

sacct_of() { # JOB,… FIELD,…
  slurm sacct --noheader --parsable2 --allocations --duplicates --jobs="$1" --format="$2"
}
is_in_sacct() { [[ $(sacct_of "$1" JobID,State,ExitCode) == "$1|$2" ]]; } # JOB STATE|EXIT-CODE
are_in_sacct_once() { # JOB…
  [[ $(sacct_of "$(IFS=,; echo "$*")" JobID,State | sort) == $(printf '%s|COMPLETED\n' "$@" | sort) ]]
}
has_slurmdbd() { [[ $(kubectl get statefulset slurm-accounting -o jsonpath='{.status.readyReplicas}') == 1 ]]; }
has_no_slurmdbd() { ! kubectl get pod slurm-accounting-0; }
slurmdbd_log() { kubectl logs slurm-accounting-0 -c slurmdbd; }

# shellcheck disable=SC2120 # others have options
enable_accounting() { # HELM-OPTION…
  "$BED" helm upgrade slurm "$E2E_FOLDER/../../helm/slurm" -n "$NAMESPACE" "${VALUES[@]}" \
    --set accounting.enabled=true \
    --set 'accounting.enforce={associations,limits,qos,safe}' --set accounting.mariadb.resources.requests.memory=64Mi \
    "$@" --wait --timeout 180s >/dev/null
  wait_for 60 "slurmctld up" controller_ready
}
