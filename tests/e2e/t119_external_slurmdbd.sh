# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Two clusters with one slurmdbd: that of a release is the external slurmdbd of another, in another namespace.
#
# Release: external-slurmdbd

# shellcheck source=tests/e2e/accounting.sh
source "$E2E_FOLDER/accounting.sh"
# shellcheck source=tests/e2e/other_cluster.sh
source "$E2E_FOLDER/other_cluster.sh"

# As docs/admin/accounting.md has it.
install_other_with_this_slurmdbd() {
  local key
  key=$(kubectl get secret slurm-key -o jsonpath='{.data.slurm\.key}')
  "$BED" kubectl create namespace "$OTHER" >/dev/null
  other_kubectl create secret generic slurm-key-of-the-site --from-file=slurm.key=<(base64 -d <<<"$key") >/dev/null
  install_other --set clusterName=other -f - <<END
accounting:
  enabled: true
  enforce: [associations, limits]
  external: true
  externalConfig: {host: slurm-accounting.$NAMESPACE.svc.cluster.local}
slurmKey: {existingSecret: slurm-key-of-the-site}
END
}
# Of this cluster's sacct.
other_is_in_sacct() { # JOB STATE
  [[ $(slurm sacct -nPX -M other -j "$1" --format=JobID,Cluster,State) == "$1|other|$2" ]]
}
other_has_reason() { [[ $(other_slurm squeue -h -j "$1" -o %r) == "$2" ]]; } # JOB REASON

test_a_slurmdbd_of_another_release() {
  local refused job sent held
  trap remove_other EXIT
  enable_accounting
  install_other_with_this_slurmdbd
  assert_equal "pods for accounting" "" "$(other_kubectl get statefulsets -o name | grep -v slurm-controller || true)"
  assert_equal "clusters" "other slurm" "$(slurm sacctmgr -nP list cluster format=cluster | sort | paste -sd ' ')"
  refused=$(other_slurm sbatch --parsable --wrap true 2>&1 || true)
  [[ $refused == *"Invalid account or account/partition combination"* ]] || fail "without an account: $refused"

  # slurmdbd tells the other slurmctld at its pod's address.
  slurm sacctmgr -i add account research cluster=slurm,other >/dev/null
  slurm sacctmgr -i add user slurm account=research cluster=slurm,other >/dev/null
  job=$(other_slurm sbatch --parsable --job-name=of-other --output=/dev/null --wrap true)
  sent=$(slurm sbatch --parsable --clusters=other --job-name=of-other --output=/dev/null --wrap 'exit 3')
  wait_for 90 "the other cluster's job in sacct" other_is_in_sacct "$job" COMPLETED
  wait_for "the job that this one sent there" other_is_in_sacct "${sent%;*}" FAILED
  assert_equal "the same among jobs of this cluster" "" "$(slurm sacct -nPX --name=of-other --format=JobID)"

  # A new pod has another address.
  other_kubectl delete pod slurm-controller-0 >/dev/null
  wait_for 90 "the other cluster up again" other_is_up
  slurm sacctmgr -i modify account research cluster=other set GrpJobs=0 >/dev/null
  held=$(other_slurm sbatch --parsable --output=/dev/null --wrap true)
  wait_for "the limit" other_has_reason "$held" AssocGrpJobsLimit
  slurm sacctmgr -i modify account research cluster=other set GrpJobs=-1 >/dev/null
  wait_for 90 "the job without the limit" other_is_in_sacct "$held" COMPLETED
}
