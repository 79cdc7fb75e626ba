# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Features that a Kubernetes node's annotation gives to the Slurm nodes whose pods are there.
#
# Alone: all

annotate() { kubectl annotate --overwrite node node1 "$1" >/dev/null; }
unannotate() { annotate slurm-k8s.io/features-; }
features() { # NODE: available ones and active ones
  slurm scontrol show node "$1" -o | grep -oE '(Available|Active)Features=[^ ]*' | cut -d= -f2 | paste -sd' '
}
has_features() { [[ $(features "$1") == "$2 $2" ]]; }

test_features_come_and_go_with_the_pod() {
  local first job
  trap unannotate EXIT
  annotate slurm-k8s.io/features=rack1,ssd
  assert_equal "features of a node without a pod" "compute compute" "$(features compute-0)"
  first=$(submit -N1 -w compute-0 --wrap "$(runs_until first)")
  wait_job "$first" RUNNING 60
  wait_for "features of node1" has_features compute-0 compute,k8s/rack1,k8s/ssd
  # A job can ask for them.
  job=$(submit -N1 -C 'k8s/rack1&k8s/ssd' --wrap "$(runs_until second)")
  end_run compute-0 first
  wait_done "$first" 30
  wait_job "$job" RUNNING 20
  assert_equal "node" compute-0 "$(job_nodes "$job")"
  # They follow the annotation, under a job, too, and an administrator's own stay.
  slurm scontrol update nodename=compute-0 availablefeatures=compute,own,k8s/rack1,k8s/ssd \
    activefeatures=compute,own,k8s/rack1,k8s/ssd
  annotate slurm-k8s.io/features=rack2
  wait_for "other features" has_features compute-0 compute,own,k8s/rack2
  slurm scontrol update nodename=compute-0 availablefeatures=compute,k8s/rack2 activefeatures=compute,k8s/rack2
  end_run compute-0 second
  wait_done "$job" 30
  wait_for 60 "a cluster at zero" is_zero
  wait_for "its own features alone" has_features compute-0 compute
}
