# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Jobs choose their pod: variants of a NodeSet by --constraint.

# Two nodes; a job sees in FLAVOR which variant its pod is of.
apply_variants() { # MEMBERS of the spec, in JSON
  local image
  image=$(kubectl get nodesets.slurm-k8s.io compute -o jsonpath='{.spec.slurmd.image}')
  kubectl apply --filename=- >/dev/null <<JSON
{"apiVersion":"slurm-k8s.io/v1alpha1","kind":"NodeSet","metadata":{"name":"var"},"spec":{"replicas":2,"slurmd":{
 "image":"$image","env":[{"name":"FLAVOR","value":"plain"}],
 "resources":{"requests":{"cpu":"50m","memory":"64Mi"},"limits":{"cpu":"1","memory":"256Mi"}}},
 "variants":[{"name":"v1","patch":{"slurmd":{"env":[{"name":"FLAVOR","value":"one"}]}}},
             {"name":"v2","patch":{"slurmd":{"env":[{"name":"FLAVOR","value":"two"}]}}},
             {"name":"v3","allowedAccounts":["physics"],"patch":{}}]${1:+,$1}}}
JSON
  wait_for "10 node records" has_node_count 10
}
put_variants() { # the same
  apply_variants "$@"
  wait_for "variants among the features" has_features var-1 AvailableFeatures var,v1,v2,v3
}
remove_variants() {
  slurm scancel --me >/dev/null 2>&1 || true
  kubectl delete nodesets.slurm-k8s.io var --ignore-not-found >/dev/null
  wait_for 60 "8 node records" has_node_count 8
}
features() { # NODE AvailableFeatures|ActiveFeatures
  slurm scontrol show node "$1" -o | grep -oE "\b$2=[^ ]*" | cut -d= -f2
}
has_features() { [[ $(features "$1" "$2") == "$3" ]]; }
variant_of() { kubectl get pod "$1" -o jsonpath='{.metadata.labels.slurm-k8s\.io/variant}'; }
# slurmd's environment isn't its jobs': they look at slurmd's.
flavor() { kubectl exec "$1" -- printenv FLAVOR; }
refused() { # EXPECTED OPTION…
  local expected=$1 output
  shift
  if output=$(slurm sbatch "$@" --wrap true 2>&1); then fail "taken: $*"; return 1; fi
  [[ $output == *$expected* ]] || fail "$*: $output"
}

test_a_job_gets_the_variant_that_it_asks_for() {
  needs_slurm 23.02
  local job
  trap remove_variants EXIT
  put_variants
  assert_equal available var,v1,v2,v3 "$(features var-0 AvailableFeatures)"
  assert_equal active var "$(features var-0 ActiveFeatures)"
  job=$(submit -N2 --constraint='var&v2' --wrap "$(runs_until two)")
  wait_job "$job" RUNNING 60
  assert_equal nodes "var-0 var-1" "$(job_nodes "$job" | paste -sd' ')"
  assert_equal variant v2 "$(variant_of var-0)"
  assert_equal flavor two "$(flavor var-1)"
  assert_equal "active when it runs" var,v2 "$(features var-0 ActiveFeatures)"
  end_run var-0 two
  wait_done "$job" 30
  to_zero
  assert_equal "active when powered down" var "$(features var-0 ActiveFeatures)"
  job=$(submit -N1 -w var-0 --wrap "$(runs_until plain)")
  wait_job "$job" RUNNING 60
  assert_equal "without a constraint" plain "$(flavor var-0)"
  end_run var-0 plain
  wait_done "$job" 30
}

test_a_job_starts_on_a_spare_node_with_its_variant() {
  needs_slurm 23.02
  local job uid
  trap remove_variants EXIT
  put_variants
  kubectl patch nodesets.slurm-k8s.io var --type=json \
    -p '[{"op":"add","path":"/spec/variants/0/spareReplicas","value":1}]' >/dev/null
  wait_for 60 "a node up" are_up var-0
  assert_equal "variant of the spare node" v1 "$(variant_of var-0)"
  assert_equal "its active features" var,v1 "$(features var-0 ActiveFeatures)"
  uid=$(pod_uid var-0)
  job=$(submit -N1 --constraint=v1 --wrap "$(runs_until spare)")
  wait_job "$job" RUNNING 60
  assert_equal "the job's node, its pod" "var-0 $uid" "$(job_nodes "$job") $(pod_uid var-0)"
  assert_equal flavor one "$(flavor var-0)"
  wait_for 60 "another node up" are_up var-1
  assert_equal "variant of the other spare node" v1 "$(variant_of var-1)"
  end_run var-0 spare
  wait_done "$job" 30
}

test_an_idle_node_of_another_variant_is_recycled() {
  needs_slurm 23.02
  local job
  trap 'remove_variants; install_release' EXIT
  install_release --set slurm.suspendTime=300 # an idle node stays up
  put_variants
  slurm scontrol update nodename=var-[0-1] state=power_up
  wait_for 60 "both nodes up" are_up var-0 var-1
  job=$(submit -N2 --constraint='v2|v1' --wrap "$(runs_until two)")
  wait_job "$job" RUNNING 60
  assert_equal "the first alternative" v2 "$(variant_of var-0)"
  end_run var-0 two
  wait_done "$job" 30
  # As it is, while a node that is powered down will do.
  slurm scontrol update nodename=var-1 state=power_down_force reason=e2e
  wait_for "var-1 powered down" node_has_state var-1 POWERED_DOWN
  local before
  before=$(pod_uid var-0)
  job=$(submit -N1 --constraint=v1 --wrap true)
  wait_done "$job" 60
  assert_equal "node of the job" var-1 "$(job_nodes "$job")"
  assert_equal "the other one" "$before" "$(pod_uid var-0)"
}

test_a_node_that_is_kept_up_changes_for_a_job() {
  needs_slurm 23.02
  local job node
  trap remove_variants EXIT
  put_variants '"scalingMode":"Always"'
  wait_for 60 "both nodes up" are_up var-0 var-1
  job=$(submit -N1 --constraint=v1 --wrap "$(runs_until one)")
  wait_job "$job" RUNNING 60
  node=$(job_nodes "$job")
  assert_equal variant v1 "$(variant_of "$node")"
  end_run "$node" one
  wait_done "$job" 30
  wait_for "both nodes up" are_up var-0 var-1
}

test_what_no_node_can_be_is_refused() {
  needs_slurm 23.02
  trap remove_variants EXIT
  put_variants
  refused 'a node has one variant at a time, and not v1 and v2' --constraint='v1&v2'
  refused "cannot be used with a count" -N2 --constraint='v1*1'
  refused 'no NodeSet has it; there are compute; var with the variants v1, v2 and v3' --constraint=v7
  refused 'no NodeSet has it' --constraint='compute&v1'
  assert_equal pods 0 "$(pod_count)"
}

# As a user without rights, from a node: slurmctld's container has none but Slurm's own.
sbatch_as_nobody() {
  kubectl exec var-0 -- setpriv --reuid=65534 --regid=65534 --clear-groups sbatch --chdir=/ --output=/dev/null "$@"
}
refused_to_nobody() { # EXPECTED OPTION…
  local expected=$1 output
  shift
  if output=$(sbatch_as_nobody "$@" --wrap true 2>&1); then fail "taken: $*"; return 1; fi
  [[ $output == *$expected* ]] || fail "$*: $output"
}

test_a_variant_is_for_those_whom_the_nodeset_names() {
  needs_slurm 23.02
  local job
  trap remove_variants EXIT
  put_variants
  slurm scontrol update nodename=var-0 state=power_up
  wait_for 60 "var-0 up" are_up var-0
  refused_to_nobody "variant v3 is not for your jobs without an --account: it is for physics" --constraint=v3
  refused_to_nobody "variant v3 is not for account biology" --constraint=v3 --account=biology
  job=$(sbatch_as_nobody --parsable --constraint=v3 --account=physics --hold --wrap true)
  assert_equal "constraint of the job" v3 "$(job_field "$job" Features)"
  slurm scancel "$job"
  job=$(submit --constraint=v3 --wrap true)  # SlurmUser's
  wait_done "$job" 60
}

test_a_variant_comes_and_goes() {
  needs_slurm 23.02
  local job
  trap remove_variants EXIT
  put_variants
  job=$(submit -N1 -w var-0 --constraint=v2 --wrap 'sleep 300')
  wait_job "$job" RUNNING 60
  kubectl patch nodesets.slurm-k8s.io var --type=json -p \
    '[{"op":"add","path":"/spec/variants/-","value":{"name":"v4"}}]' >/dev/null
  wait_for "v4 among the features" has_features var-0 AvailableFeatures var,v1,v2,v3,v4
  assert_equal "active meanwhile" var,v2 "$(features var-0 ActiveFeatures)"
  kubectl patch nodesets.slurm-k8s.io var --type=json -p '[{"op":"remove","path":"/spec/variants/1"}]' >/dev/null
  wait_for "v2 not among the features" has_features var-0 AvailableFeatures var,v1,v3,v4
  wait_for "var-0 is drained, since its pod's variant is gone" node_has_state var-0 DRAIN
  slurm scancel "$job"
  wait_for 60 "a cluster at zero" is_zero
}

test_variants_outlive_slurmctld() {
  needs_slurm 23.02
  local job
  trap remove_variants EXIT
  put_variants
  job=$(submit -N1 -w var-0 --constraint=v1 --wrap 'sleep 300')
  wait_job "$job" RUNNING 60
  submit -N2 --constraint=v2 --wrap true >/dev/null  # waits for var-0
  kubectl exec slurm-controller-0 -c slurmctld -- cat /var/spool/slurmctld/slurm-k8s-variants.json |
    grep -c '"v2"' >/dev/null
  wait_saved
  kubectl delete pod slurm-controller-0 >/dev/null
  wait_for 60 "slurmctld" controller_ready
  wait_for "the job runs" is_job_in "$job" RUNNING
  assert_equal active var,v1 "$(features var-0 ActiveFeatures)"
  assert_equal available var,v1,v2,v3 "$(features var-0 AvailableFeatures)"
  slurm scancel "$job"
  wait_for 60 "the other job has run" has_no_job
}

test_pods_tell_of_their_job() {
  needs_slurm 23.02
  local job
  trap remove_variants EXIT
  put_variants '"template":{"metadata":{"labels":{"who":"$(JOB_ACCOUNT)-$(JOB_NAME)"},"annotations":{
    "what":"$(JOB_CPUS) CPUs of $(JOB_PARTITION): $(JOB_EXTRA)"}}}'
  job=$(submit -N1 -w var-0 -J 'a b' --account=physics --extra='team=x;"y"' --wrap "$(runs_until told)")
  wait_job "$job" RUNNING 60
  assert_equal label physics-a_b "$(kubectl get pod var-0 -o jsonpath='{.metadata.labels.who}')"
  assert_equal annotation '1 CPUs of main: team=x;"y"' "$(kubectl get pod var-0 \
    -o jsonpath='{.metadata.annotations.what}')"
  end_run var-0 told
  wait_done "$job" 30
}

has_ready_reason() {
  [[ $(kubectl get nodesets.slurm-k8s.io "$1" -o jsonpath='{.status.conditions[?(@.type=="Ready")].reason}') == "$2" ]]
}

test_slurm_before_23_02_has_none() {
  needs_slurm_before 23.02
  trap remove_variants EXIT
  apply_variants
  wait_for "Ready=False of the NodeSet" has_ready_reason var VariantsUnknown
  assert_equal available var "$(features var-0 AvailableFeatures)"
  refused 'Invalid feature' --constraint=v1
}
