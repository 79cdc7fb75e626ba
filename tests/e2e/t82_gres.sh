# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Gres of NodeSets: what would end slurmctld doesn't reach it, or reaches it once. slurmctld gets GresTypes, and a
# gres.conf with cores that nodes of 2 CPUs don't have.

upgrade() { # OPTION…
  "$BED" helm upgrade slurm "$E2E_FOLDER/../../helm/slurm" -n "$NAMESPACE" "${VALUES[@]}" "$@" --wait --timeout 180s \
    >/dev/null
  wait_for 60 "slurmctld up" controller_ready
}
with_gres() {
  trap without_gres EXIT
  upgrade --set controller.extraConfMap.GresTypes=foo \
    --set-string 'configFiles.gres\.conf=NodeName=cores-[0-9] Name=foo File=/dev/null Cores=0-7'
}
without_gres() {
  slurm scancel --me >/dev/null 2>&1 || true
  kubectl delete nodesets.slurm-k8s.io cores mixed plain --ignore-not-found >/dev/null
  wait_for 60 "only the chart's nodes" has_nodes 'compute-[0-7]'
  upgrade
}

nodeset() { # NAME CPUS EXTRACONF: makes it, with two nodes, or changes it
  local image
  image=$(kubectl get nodesets.slurm-k8s.io compute -o jsonpath='{.spec.slurmd.image}')
  kubectl apply -f - >/dev/null <<END
{"apiVersion": "slurm-k8s.io/v1alpha1", "kind": "NodeSet", "metadata": {"name": "$1", "namespace": "$NAMESPACE"},
 "spec": {"replicas": 2, "extraConf": "$3", "updateStrategy": {"type": "OnDelete"},
          "slurmd": {"image": "$image",
                     "resources": {"requests": {"cpu": "10m"}, "limits": {"cpu": "$2", "memory": "1Gi"}}}}}
END
}
is_ready() { [[ "$(nodeset_condition "$1" status) $(nodeset_condition "$1" reason)" == "$2" ]]; }
ended() { container_field slurmctld restartCount; }
has_ended() { [[ $(ended) == "$1" ]]; }
have_gres() { # NAME VALUE
  [[ $(slurm scontrol show node "$1-[0-1]" -o | grep -cE "\\bGres=$2(\\(|\\s)") == 2 ]]
}

test_gres_that_end_slurmctld() {
  local count job sidecars
  with_gres
  count=$(ended)
  nodeset mixed 2 'Gres=foo:a:1,foo:1'
  wait_for "the condition" is_ready mixed "False InvalidSpec"
  [[ $(nodeset_condition mixed message) == *'spec.extraConf: Invalid value: "Gres=foo:a:1,foo:1": foo: '* ]] ||
    fail "message: $(nodeset_condition mixed message)"
  kubectl delete nodesets.slurm-k8s.io mixed >/dev/null

  # Only gres.conf, which the sidecar does not see, is against the next one.
  job=$(submit -N1 --wrap 'sleep 600')
  wait_job "$job" RUNNING 60
  wait_saved # a slurmctld that ends like this saves nothing
  nodeset cores 2 ''
  wait_for 60 "slurmctld has ended and is back" container_is_back slurmctld "$count"
  wait_for 60 "slurmctld up" controller_ready
  wait_for "the condition" is_ready cores "False CreateFailed"
  [[ $(nodeset_condition cores message) == *"slurmctld exited while creating these nodes"*gres.conf* ]] ||
    fail "message: $(nodeset_condition cores message)"
  stays 15 has_ended $((count + 1))
  # A sidecar that is restarted knows.
  sidecars=$(container_field sidecar restartCount)
  kubectl exec "$CONTROLLER" -c sidecar -- sh -c 'kill 1'
  wait_for 60 "the sidecar" container_is_back sidecar "$sidecars"
  stays 15 has_ended $((count + 1))
  is_ready cores "False CreateFailed" || fail "condition: $(nodeset_condition cores reason)"
  assert_equal "job" RUNNING "$(job_state "$job")"
  # With the CPUs that gres.conf speaks of.
  nodeset cores 8 ''
  wait_for "the condition" is_ready cores "True NodesMatch"
  assert_equal "ends of slurmctld" $((count + 1)) "$(ended)"
}

test_a_changed_gres_is_not_ready() {
  local job
  with_gres
  nodeset plain 2 'Gres=foo:1'
  wait_for "Gres=foo:1" have_gres plain foo:1
  wait_for "the condition" is_ready plain "True NodesMatch"
  job=$(submit -N1 -w plain-0 --wrap "$(runs_until resizing)")
  wait_job "$job" RUNNING 60
  nodeset plain 2 'Gres=foo:2'
  wait_for "the condition" is_ready plain "False Resizing"
  # As long as the job keeps a record that lacks it.
  is_not_ready_without_it() { ! is_ready plain "True NodesMatch" || have_gres plain foo:2; }
  stays 10 is_not_ready_without_it
  end_run plain-0 resizing
  wait_done "$job" 60
  # docs/admin/troubleshooting.md: A node stays allocated after its job
  if is_slurm_before 23.11; then
    assert_equal "the node without a job" ALLOCATED+CLOUD+DYNAMIC_NORM "$(node_state plain-0)"
    slurm scontrol show node plain-0 -o | grep -q CPUAlloc=0 || fail "a job has CPUs of it"
    restart_slurmctld
    wait_for 60 "slurmctld up" controller_ready
  fi
  wait_for 60 "Gres=foo:2" have_gres plain foo:2
  wait_for "the condition" is_ready plain "True NodesMatch"
}
