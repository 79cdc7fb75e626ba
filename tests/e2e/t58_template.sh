# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What a NodeSet's template and extraConf bring to its pods and to Slurm's nodes.

put_tmpl() { # MEMBERS of the spec, in JSON
  local image
  image=$(kubectl get nodesets.slurm-k8s.io compute -o jsonpath='{.spec.slurmd.image}')
  kubectl apply --filename=- >/dev/null <<JSON
{"apiVersion":"slurm-k8s.io/v1alpha1","kind":"NodeSet","metadata":{"name":"tmpl"},"spec":{"replicas":1,"slurmd":{
 "image":"$image","resources":{"requests":{"cpu":"50m","memory":"64Mi"},"limits":{"cpu":"2","memory":"256Mi"}}},$1}}
JSON
  wait_for "9 node records" has_node_count 9
}
remove_tmpl() {
  slurm scancel --me >/dev/null 2>&1 || true
  kubectl delete nodesets.slurm-k8s.io tmpl --ignore-not-found >/dev/null
  wait_for 60 "8 node records" has_node_count 8
}

test_gres_features_and_weight_of_extra_conf() {
  local job
  trap 'remove_tmpl; install_release' EXIT
  # Devices without files: Slurm counts them, and binds nothing. Not so GPUs: those it refuses without a File in
  # gres.conf.
  install_release --set controller.extraConfMap.GresTypes=fpga
  put_tmpl '"extraConf":"Gres=fpga:2 Features=a100 Weight=10"'
  assert_equal Gres fpga:2 "$(slurm scontrol show node tmpl-0 -o | grep -oE '\bGres=[^ ]*' | cut -d= -f2)"
  job=$(submit --gres=fpga:2 --constraint=a100 --wrap 'srun --gres=fpga:2 hostname')
  wait_done "$job" 90
  assert_equal "nodes of the job" tmpl-0 "$(job_nodes "$job")"
  if slurm sbatch --gres=fpga:3 --wrap true >/dev/null 2>&1; then fail "a job for three devices was taken"; fi
}

node_reason_has() { [[ $(node_reason "$1") =~ $2 ]]; } # NODE REGEX

# The pod goes, and its log with it.
test_the_words_of_a_slurmd_that_ends() {
  trap remove_tmpl EXIT
  put_tmpl '"template":{"spec":{"containers":[{"name":"slurmd","command":["slurmd","-D","-f","/etc/hostname"]}]}}'
  submit -w tmpl-0 --wrap true >/dev/null
  wait_for 60 "slurmd's words in the Reason" node_reason_has tmpl-0 'slurmd ended with exit code 1: (fatal|error): '
}

test_network_of_the_kube_node() {
  local job
  trap 'remove_tmpl; forbid_privileged' EXIT
  allow_privileged
  put_tmpl '"template":{"spec":{"hostNetwork":true,"dnsPolicy":"ClusterFirstWithHostNet"}}'
  job=$(submit -w tmpl-0 --wrap 'srun hostname')
  wait_done "$job" 90
  assert_equal "address of the pod" "$(kubectl get pod tmpl-0 -o jsonpath='{.status.hostIP}')" \
    "$(kubectl get pod tmpl-0 -o jsonpath='{.status.podIP}')"
}

test_priority_and_tolerations() {
  local job
  trap 'remove_tmpl; kubectl delete priorityclass "$NAMESPACE-tmpl" --ignore-not-found >/dev/null' EXIT
  kubectl create priorityclass "$NAMESPACE-tmpl" --value=1234 >/dev/null
  put_tmpl '"template":{"spec":{"priorityClassName":"'"$NAMESPACE"'-tmpl",
    "tolerations":[{"key":"gpu","operator":"Exists"}]}}'
  job=$(submit -w tmpl-0 --wrap "$(runs_until seen)")
  wait_job "$job" RUNNING 60
  assert_equal priority 1234 "$(kubectl get pod tmpl-0 -o jsonpath='{.spec.priority}')"
  assert_equal toleration gpu "$(kubectl get pod tmpl-0 -o jsonpath='{.spec.tolerations[0].key}')"
  end_run tmpl-0 seen
  wait_done "$job" 60
}
