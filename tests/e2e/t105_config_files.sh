# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Each kind of file that can be changed while a job runs: it takes effect, and the job and its pod stay. What cannot be
# changed so is said.
#
# Release: config-files

# shellcheck source=tests/e2e/config.sh
source "$E2E_FOLDER/config.sh"

# What is a value of the chart, and what is an object beside the release: the ConfigMap and the Secret of
# configFilesFrom, and a ConfigMap that the nodes' pods mount. Each has a 1, and a 2 after its change.
BY_HELM=(setting_of_map setting_of_text cgroup gres topology plugstack job_submit)
BY_OBJECT=(prolog epilog task_prolog task_epilog)
declare -A V
declare -A BROKEN # a line more, by file

values() {
  cat <<END
controller:
  extraConfMap:
    MaxJobCount: 1000${V[setting_of_map]}
    GresTypes: [gpu]
    TopologyPlugin: topology/tree
  extraConf: |
    MaxArraySize=100${V[setting_of_text]}
    Prolog=prolog.sh
    Epilog=epilog.sh
    TaskProlog=/etc/site/task_prolog.sh
    TaskEpilog=/etc/site/task_epilog.sh
    ${BROKEN[slurm.conf]:-}
configFiles:
  cgroup.conf: |
    CgroupPlugin=disabled
    AllowedSwapSpace=1${V[cgroup]}
    ${BROKEN[cgroup.conf]:-}
  gres.conf: |
    NodeName=compute-[0-7] Name=gpu File=/dev/null Flags=$(gpu_flag)
    ${BROKEN[gres.conf]:-}
  topology.conf: |
    SwitchName=rack${V[topology]} Nodes=compute-[0-7]
    ${BROKEN[topology.conf]:-}
  job_submit.lua: |
    function slurm_job_submit(job, parts, uid)
      job.comment = "${V[job_submit]}"
      return slurm.SUCCESS
    end
    function slurm_job_modify(job, record, parts, uid)
      return slurm.SUCCESS
    end
    ${BROKEN[job_submit.lua]:-}
  check.sh: |
    #!/bin/bash
    true
    ${BROKEN[check.sh]:-}
configFilesFrom:
  - configMap: site-prolog
  - secret: site-epilog
slurm:
  jobSubmitPlugins: [lua]
  spank: {threads: ${V[plugstack]}, extraConf: "${BROKEN[plugstack.conf]:-}"}
nodesets:
  compute:
    extraConf: Gres=gpu:1
    podSpec:
      volumes:
        - name: site
          configMap: {name: site-tasks, defaultMode: 0755}
    slurmd:
      volumeMounts:
        - {name: site, mountPath: /etc/site}
END
}
gpu_flag() { if [[ ${V[gres]} == 1 ]]; then echo nvidia_gpu_env; else echo amd_gpu_env; fi; }

upgrade_to_values() { # FILE
  local text
  values >"$1"
  text=$(upgrade -f "$1") || fail "helm upgrade: $text"
}
put_object() { # KIND NAME KEY=TEXT…
  # shellcheck disable=SC2086 # "secret generic" are two words
  kubectl create $1 "$2" "${@:3}" --dry-run=client -o yaml | kubectl apply -f - >/dev/null
}
put_objects() {
  put_object configmap site-prolog --from-literal="prolog.sh=$(script "echo ${V[prolog]} >/tmp/prolog")"
  put_object "secret generic" site-epilog --from-literal="epilog.sh=$(script "echo ${V[epilog]} >/tmp/epilog")"
  put_object configmap site-tasks --from-literal="task_prolog.sh=$(script "echo export SITE=${V[task_prolog]}")" \
    --from-literal="task_epilog.sh=$(script "echo ${V[task_epilog]} >/tmp/task_epilog")"
}
script() { printf '#!/bin/sh\n%s\n' "$1"; }

# Which version is in effect. Jobs use the second CPU of the node.
on_node() { slurm srun -w compute-0 --ntasks=1 --mem=16 "$@"; }
effect_of_setting_of_map() { setting MaxJobCount | sed 's/^1000//'; }
effect_of_setting_of_text() { setting MaxArraySize | sed 's/^100//'; }
# Pods of nodes without privileges have no control groups: slurmd has the file, and no use for it.
effect_of_cgroup() {
  kubectl exec compute-0 -c slurmd -- sed -n 's/^AllowedSwapSpace=1//p' /run/slurm/conf/cgroup.conf
}
effect_of_gres() {
  on_node --gres=gpu:1 env | sed -n 's/^CUDA_VISIBLE_DEVICES=.*/1/p; s/^ROCR_VISIBLE_DEVICES=.*/2/p'
}
effect_of_topology() { slurm scontrol show topology | sed -nE 's/.*SwitchName=rack([0-9]) .*/\1/p'; }
effect_of_plugstack() { on_node printenv OMP_NUM_THREADS; }
effect_of_job_submit() {
  local job
  job=$(submit --hold --wrap true)
  job_field "$job" Comment
  slurm scancel "$job"
}
effect_of_prolog() { on_node cat /tmp/prolog; }
effect_of_task_prolog() { on_node printenv SITE; }
effect_of_epilog() { of_former_job epilog; }
effect_of_task_epilog() { of_former_job task_epilog; }
of_former_job() { # FILE
  on_node true
  on_node cat "/tmp/$1"
}
has_effect() { [[ $("effect_of_$1") == "$2" ]]; } # KIND VERSION

# The job, its pod and the controller's, and how often they were started.
unharmed() { # JOB
  echo "$(job_state "$1") $(job_field "$1" Restarts) $(pod_uid compute-0) $(controller_starts)"
}

test_each_file_changes_while_a_job_runs() {
  needs_slurm 23.11
  local job kind before file
  file=$(mktemp)
  # shellcheck disable=SC2064 # its name of now
  trap "rm -f '$file'" EXIT
  for kind in "${BY_HELM[@]}" "${BY_OBJECT[@]}"; do V[$kind]=1; done
  put_objects
  upgrade_to_values "$file"
  wait_for 60 "the first configuration" config_is Applied ""
  job=$(submit -w compute-0 --ntasks=1 --mem=16 --wrap 'srun --mem=16 sleep 900')
  wait_job "$job" RUNNING 90
  before=$(unharmed "$job")
  for kind in "${BY_HELM[@]}" "${BY_OBJECT[@]}"; do
    wait_for "$kind before the change" has_effect "$kind" 1
    V[$kind]=2
    if [[ " ${BY_HELM[*]} " == *" $kind "* ]]; then upgrade_to_values "$file"; else put_objects; fi
    # The kubelet takes a minute until a pod's volume has a changed ConfigMap.
    wait_for 150 "$kind in effect" has_effect "$kind" 2
    assert_equal "the job after $kind" "$before" "$(unharmed "$job")"
  done
  slurm scancel "$job"
}

# Without Helm nothing recreates the controller's pod. The line, and what is said of it.
needs_a_restart() {
  cat <<'END'
ClusterName=other|slurm.conf: ClusterName
SlurmctldHost=other|slurm.conf: SlurmctldHost
SlurmctldPort=7000|slurm.conf: SlurmctldPort
SlurmdPort=7001|slurm.conf: SlurmdPort
StateSaveLocation=/tmp/other|slurm.conf: StateSaveLocation
AccountingStorageType=accounting_storage/slurmdbd|slurm.conf: AccountingStorageType
AccountingStorageHost=db|slurm.conf: AccountingStorageHost
AccountingStoragePort=7002|slurm.conf: AccountingStoragePort
END
}
file_of_map() { kubectl get configmap slurm-config -o jsonpath="{.data.${1//./\\.}}"; } # NAME: without its last newline
put_file() { # NAME TEXT: into the chart's ConfigMap, with a newline
  local patch='import json, sys; print(json.dumps({"data": {sys.argv[1]: sys.argv[2] + "\n"}}))'
  kubectl patch configmap slurm-config --type=merge --patch "$(python3 -c "$patch" "$1" "$2")" >/dev/null
}

test_what_needs_a_restart_is_said() {
  needs_slurm 23.11
  local text line words starts
  upgrade >/dev/null || fail "helm upgrade"
  wait_for 60 "the first configuration" config_is Applied ""
  starts=$(controller_starts)
  text=$(file_of_map slurm.conf)
  while IFS='|' read -r line words; do
    put_file slurm.conf "$text"$'\n'"$line"
    wait_for 60 "$line" config_is RestartRequired "$words: changed: delete the controller's pod to apply it"
    wait_for "the event about $line" config_event_has ConfigNeedsRestart "$words"
    slurm grep -xF "$line" /etc/slurm/slurm.conf && fail "$line is in /etc/slurm"
  done < <(needs_a_restart)
  put_file slurm.conf "$text"
  wait_for 60 "the former file" config_is Applied ""
  text=$(file_of_map slurm-k8s.conf)
  put_file slurm-k8s.conf "$text"$'\n# changed'
  wait_for 60 "slurm-k8s.conf" config_is RestartRequired "slurm-k8s.conf: changed"
  put_file slurm-k8s.conf "$text"
  wait_for 60 "the former file" config_is Applied ""
  assert_equal "the controller's pod and its restarts" "$starts" "$(controller_starts)"
}

slurmctld_has_ended_since() { [[ $(container_field slurmctld restartCount) -gt $1 ]]; } # RESTARTS
last_log_has() { kubectl logs "$CONTROLLER" -c slurmctld --previous | grep -F "$1"; }  # WORDS

# Without trials the kubelet writes a broken file at once, and slurmctld reads it in a scale-out.
test_a_broken_file_and_a_scale_out() {
  needs_slurm 23.11
  needs_slurm_before 26.05.3
  local text restarts
  trap 'scale 8; upgrade >/dev/null; wait_for 60 "8 node records" has_node_count 8' EXIT
  upgrade --set controller.configPush.enabled=false >/dev/null || fail "helm upgrade without trials"
  wait_for 60 "slurmctld up" controller_ready
  text=$(file_of_map slurm.conf)
  put_file slurm.conf "$text"$'\n'MaxJobCont=7
  wait_for 120 "the kubelet writes the file" ctld grep -qx MaxJobCont=7 /etc/slurm/slurm.conf
  restarts=$(container_field slurmctld restartCount)
  stays 5 ctld true
  assert_equal "restarts of slurmctld before the scale-out" "$restarts" "$(container_field slurmctld restartCount)"
  scale 9
  wait_for 120 "slurmctld ends" slurmctld_has_ended_since "$restarts"
  wait_for "its words" last_log_has "Parsing error at unrecognized key: MaxJobCont"
  put_file slurm.conf "$text"
  wait_for 240 "slurmctld runs with the corrected file" controller_ready
  slurm srun -w compute-0 true || fail "no job runs"
}

# FILE|a line more at its end|what is said: a pattern.
broken_lines() {
  cat <<'END'
slurm.conf|MaxJobCont=7|slurm.conf line [0-9]+: "MaxJobCont=7": .*unrecognized key: MaxJobCont
cgroup.conf|AllowedRAM=5|cgroup.conf line 3: "AllowedRAM=5": .*unrecognized key: AllowedRAM
gres.conf|Nme=gpu|gres.conf line 3: "Nme=gpu": .*unrecognized key: Nme
gres.conf|AutoDetect=nvml|gres.conf line 3: "AutoDetect=nvml": slurmctld would create no node of a NodeSet
topology.conf|SwitchNam=rack9|topology.conf line 2: "SwitchNam=rack9": .*unrecognized key: SwitchNam
plugstack.conf|needed spank_k8s.so|Invalid option "needed".*plugstack.conf:2: Invalid line
job_submit.lua|end end|job_submit.lua line 8: .*expected near 'end'
check.sh|if true|check.sh: line 4: syntax error: unexpected end of file
END
}
# Of another Gres than a GPU slurmctld reads gres.conf only with a node that has it.
test_a_broken_gres_conf_of_another_gres() {
  needs_slurm 23.11
  local text starts gres=(--set 'controller.extraConfMap.GresTypes={foo}')
  text=$(upgrade "${gres[@]}") || fail "helm upgrade: $text"
  starts=$(controller_starts)
  text=$(upgrade "${gres[@]}" --set-string 'configFiles.gres\.conf=Nme=foo') && fail "helm accepts it: $text"
  [[ $text =~ gres.conf\ line\ 2:\ \"Nme=foo\":\ .*unrecognized\ key:\ Nme ]] || fail "helm's answer: $text"
  assert_equal "the controller's pod and its restarts" "$starts" "$(controller_starts)"
}

test_a_broken_file_is_refused_with_its_line() {
  needs_slurm 23.11
  local kind file name line words text
  file=$(mktemp)
  # shellcheck disable=SC2064 # its name of now
  trap "rm -f '$file'" EXIT
  for kind in "${BY_HELM[@]}" "${BY_OBJECT[@]}"; do V[$kind]=1; done
  put_objects
  upgrade_to_values "$file"
  while IFS='|' read -r name line words; do
    BROKEN=([$name]=$line)
    values >"$file"
    text=$(upgrade -f "$file") && fail "helm accepts $line in $name: $text"
    [[ $text =~ $words ]] || fail "helm's answer to $line in $name: $text"
    assert_equal "condition" Refused "$(config_condition reason)"
    [[ $(config_condition message) =~ $words ]] || fail "the condition: $(config_condition message)"
    wait_for "the event about $line" has_refusal "$words"
    slurm grep -F "$line" "/etc/slurm/$name" && fail "$line is in /etc/slurm/$name"
  done < <(broken_lines)
  BROKEN=()
  upgrade_to_values "$file"
  config_is Applied "" || fail "not applied: $(config_condition message)"
}
