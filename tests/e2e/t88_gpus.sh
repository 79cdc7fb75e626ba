# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# GPUs in the limits of a NodeSet's container: Gres of its nodes, jobs with different GPUs. The devices are the bed's,
# without hardware (`bed device start`).

# shellcheck source=tests/e2e/gpus.sh
source "$E2E_FOLDER/gpus.sh"
# shellcheck source=tests/e2e/config.sh
source "$E2E_FOLDER/config.sh"

all_of() { tr , '\n' <<<"$1" | sort | paste -sd,; }
# What a step on one CPU prints, with these options of srun.
visible() { slurm srun -n1 --mem=50 "$@" bash -c 'echo "$CUDA_VISIBLE_DEVICES"'; }

# What two tasks with two GPUs print, in the order of their ranks.
of_tasks() {
  slurm srun -w gpu-0 -n2 --label --mem=50 --gpus=2 "$@" bash -c 'echo $CUDA_VISIBLE_DEVICES' | sort | sed 's/^[01]: //'
}

# A job on a pod says what it has, and stays until another one is there.
# shellcheck disable=SC2016 # for the job's shell
MEETING='echo $SLURM_K8S_VARIANT $CUDA_VISIBLE_DEVICES; touch /tmp/meeting-$SLURM_JOB_ID
for try in {1..300}; do (($(ls /tmp/meeting-* | wc -l) < 2)) || break; sleep 0.2; done'
meet() { # JOBS SRUN-OPTION…: so many jobs at once; prints what they say
  slurm bash -c 'for ((job = 0; job < $1; job++)); do srun "${@:3}" -n1 --mem=50 bash -c "$2" 2>/dev/null & done
    wait' meet "$1" "$MEETING" "${@:2}"
}

# What panels of the dashboard show.
metric_is() { # SERIES VALUE
  kubectl get --raw "/api/v1/namespaces/$NAMESPACE/pods/$CONTROLLER:9100/proxy/metrics/jobs-users-accts" |
    grep -Fx "$1 $2"
}

test_jobs_get_gpus_of_their_own() {
  local ids out files first job
  "$BED" device start >/dev/null
  trap 'remove gpu' EXIT
  # Always: another pod would have other GPUs.
  nodeset gpu 1 '"nvidia.com/gpu": 2' '"gresType": "a100", "scalingMode": "Always",'
  wait_for "Gres of the node" has_gres gpu-0 gpu:a100:2
  wait_for 60 "a node that is up" node_is_up gpu-0
  # Two at once, which differ; a third one has to wait.
  out=$(meet 3 -w gpu-0 --gres=gpu:1)
  ids=$(kubectl exec gpu-0 -c slurmd -- printenv NVIDIA_VISIBLE_DEVICES)
  [[ $ids == GPU-????????,GPU-???????? ]] || fail "the kubelet gave $ids"
  assert_equal "GPUs of the first two jobs" "$(all_of "$ids")" "$(head -2 <<<"$out" | sort | paste -sd,)"
  assert_equal "jobs" 3 "$(grep -c GPU- <<<"$out")"
  # Slurm's GPU 0 is one of the files that the kubelet gave, whatever its number.
  files=$(kubectl exec gpu-0 -c slurmd -- bash -c 'readlink /run/slurm-k8s/gpu[01]' | paste -sd' ')
  assert_equal "files" "$(kubectl exec gpu-0 -c slurmd -- bash -c 'ls -v /dev/nvidia[0-9]*' | paste -sd' ')" "$files"
  # In all ways of asking.
  assert_equal "--gres=gpu:a100:2" "$ids" "$(visible -w gpu-0 --gres=gpu:a100:2)"
  assert_equal "--gpus=2" "$ids" "$(visible -w gpu-0 --gpus=2)"
  assert_equal "--gpus-per-task=1" "$(all_of "$ids")" \
    "$(slurm srun -w gpu-0 -n2 --mem=50 --gpus-per-task=1 bash -c 'echo $CUDA_VISIBLE_DEVICES' | sort | paste -sd,)"
  assert_equal "--gpus-per-node=2" "$ids" "$(visible -w gpu-0 --gpus-per-node=2)"
  assert_equal "--gpu-bind=single:1" "$(all_of "$ids")" "$(of_tasks --gpu-bind=single:1 | sort | paste -sd,)"
  assert_equal "--gpu-bind=map_gpu:1,0" "${ids#*,},${ids%,*}" "$(of_tasks --gpu-bind=map_gpu:1,0 | paste -sd,)"
  assert_equal "--gpu-bind=none" "$ids,$ids" "$(of_tasks --gpu-bind=none | paste -sd,)"
  # What starters of containers read.
  out=$(slurm srun -w gpu-0 -n2 --mem=50 --gpus-per-task=1 \
    bash -c 'echo "$CUDA_VISIBLE_DEVICES=$NVIDIA_VISIBLE_DEVICES"')
  assert_equal "both variables of a task" "$(tr , '\n' <<<"$ids" | sed 's/.*/&=&/' | sort)" "$(sort <<<"$out")"
  assert_equal "none" "" "$(visible -w gpu-0)"
  # Such a step does not keep the ids of its batch script.
  assert_equal "none, for starters of containers" void "$(slurm bash -c 'NVIDIA_VISIBLE_DEVICES=GPU-x \
    srun -w gpu-0 -n1 --mem=50 bash -c "echo \$NVIDIA_VISIBLE_DEVICES"')"
  out=$(visible --gres=gpu:h100:1 2>&1) && fail "a job for a GPU that nobody has: $out"
  # The nodes' gres.conf is there when slurmctld starts: otherwise it would drain them.
  job=$(submit --account=physics -w gpu-0 -n1 --mem=50 --gres=gpu:1 --wrap 'sleep 300')
  wait_job "$job" RUNNING 30
  wait_for "GPUs of the user" metric_is 'slurm_user_jobs_gpus_alloc{username="slurm"}' 1
  wait_for "GPUs of the account" metric_is 'slurm_account_jobs_gpus_alloc{account="physics"}' 1
  wait_saved
  kill_container slurmctld
  wait_for "slurmctld up" controller_ready
  first=$(visible -w gpu-0 --gres=gpu:1)
  [[ ,$ids, == *,"$first",* ]] || fail "after the restart: $first"
  node_is_undrained gpu-0 || fail "gpu-0 is $(node_state gpu-0): $(node_reason gpu-0)"
  assert_equal "job" RUNNING "$(job_state "$job")"
}

test_other_kinds_of_gpus() {
  local ids out
  "$BED" device start >/dev/null
  trap 'remove mig amd' EXIT
  nodeset mig 1 '"nvidia.com/mig-1g.10gb": 2, "rdma/hca": 1' ''
  nodeset amd 1 '"amd.com/gpu": 1' '"extraConf": "Weight=5",'
  wait_for "Gres of MIG devices" has_gres mig-0 gpu:1g.10gb:2
  wait_for "Gres of an AMD GPU" has_gres amd-0 gpu:1
  # A GPU more is another Gres: the record is made again.
  nodeset amd 1 '"amd.com/gpu": 2' '"gresType": "mi300", "extraConf": "Weight=5",'
  wait_for "the changed Gres" has_gres amd-0 gpu:mi300:2
  assert_equal "AMD" 0,1 "$(slurm srun -C amd -n1 --mem=50 --gpus=mi300:2 bash -c 'echo $ROCR_VISIBLE_DEVICES')"
  # shellcheck disable=SC2016 # for the job's shell
  assert_equal "AMD, one for each task" "0 1" "$(slurm srun -C amd -n2 --mem=50 --gpus-per-task=1 \
    bash -c 'echo $ROCR_VISIBLE_DEVICES' | sort | paste -sd' ')"
  ids=$(visible -C mig --gres=gpu:1g.10gb:2)
  [[ $ids == MIG-????????,MIG-???????? ]] || fail "MIG: $ids"
  out=$(meet 2 -C mig --gres=gpu:1g.10gb:1)
  assert_equal "MIG devices of two jobs" "$(all_of "$ids")" "$(sort <<<"$out" | paste -sd,)"
  assert_equal "adapters" 1 "$(kubectl exec mig-0 -c slurmd -- bash -c 'ls /dev/infiniband | wc -l')"
}

# The ids are numbers of the Kubernetes node (DEVICE_ID_STRATEGY=index): programs count the GPUs of their container.
test_numbers_of_the_kubernetes_node() {
  local out
  "$BED" device start >/dev/null
  trap 'remove index' EXIT
  nodeset index 1 '"example.com/gpu": 2' '"gpuResource": "example.com/gpu", "scalingMode": "Always",'
  wait_for "Gres of the node" has_gres index-0 gpu:2
  wait_for 60 "a node that is up" node_is_up index-0
  assert_equal "the pod's ids" 2,5 "$(all_of "$(kubectl exec index-0 -c slurmd -- printenv NVIDIA_VISIBLE_DEVICES)")"
  assert_equal "its device files" "/dev/nvidia2 /dev/nvidia5" \
    "$(kubectl exec index-0 -c slurmd -- bash -c 'readlink /run/slurm-k8s/gpu[01]' | paste -sd' ')"
  assert_equal "two GPUs" 0,1 "$(visible -w index-0 --gres=gpu:2)"
  out=$(meet 2 -w index-0 --gres=gpu:1 | sort | paste -sd' ')
  assert_equal "GPUs of two jobs" "0 1" "$out"
  # shellcheck disable=SC2016 # for the job's shell
  assert_equal "for starters of containers" unset \
    "$(slurm srun -w index-0 -n1 --mem=50 --gres=gpu:1 bash -c 'echo "${NVIDIA_VISIBLE_DEVICES-unset}"')"
}

test_a_variant_has_the_gpus_of_its_nodeset() {
  needs_slurm 23.02
  local out
  "$BED" device start >/dev/null
  trap 'remove gpu' EXIT
  nodeset gpu 1 '"nvidia.com/gpu": 2' '"gresType": "a100", "variants": [{"name": "cuda12", "patch": {
    "slurmd": {"env": [{"name": "FLAVOR", "value": "12"}]}}}],'
  wait_for "Gres of the node" has_gres gpu-0 gpu:a100:2
  out=$(meet 2 -C 'gpu&cuda12' --gres=gpu:a100:1 | sort -u)
  assert_equal "the pod's variant" 12 "$(kubectl exec gpu-0 -c slurmd -- printenv FLAVOR)"
  assert_equal "GPUs of two jobs" "$(kubectl exec gpu-0 -c slurmd -- printenv NVIDIA_VISIBLE_DEVICES | tr , '\n' |
    sed 's/^/cuda12 /' | sort)" "$out"
}

test_gpus_in_the_values_of_the_chart() {
  local ids
  "$BED" device start >/dev/null
  trap 'slurm scancel --me; install_release' EXIT # a node with a job stays
  upgrade --set nodesets.gpu.replicas=1,nodesets.gpu.gresType=a100,nodesets.gpu.slurmd.resources.requests.cpu=10m \
    --set 'nodesets.gpu.slurmd.resources.limits.nvidia\.com/gpu=2' >/dev/null || fail "helm upgrade"
  wait_for "Gres of the node" has_gres gpu-0 gpu:a100:2
  ids=$(visible -w gpu-0 --gres=gpu:a100:2)
  [[ $ids == GPU-????????,GPU-???????? ]] || fail "the job has $ids"
}

# extraConf overrides the limits. The pod has all GPUs of its Kubernetes node, so that their names are known: AMD's, of
# which no other file's tests have any.
test_a_gres_conf_of_your_own() {
  local job left
  "$BED" device start >/dev/null
  trap 'remove own; upgrade >/dev/null' EXIT
  upgrade --set-string \
    'configFiles.gres\.conf=NodeName=own-0 Name=gpu Type=own File=/dev/dri/renderD[128-129\,131-132]' >/dev/null ||
    fail "helm upgrade"
  nodeset own 1 '"amd.com/gpu": 4' '"gresType": "mi300", "extraConf": "Gres=gpu:own:4", "scalingMode": "Always",'
  wait_for "Gres of the node" has_gres own-0 gpu:own:4
  wait_for 120 "a node that is up" node_is_up own-0
  assert_equal "lines of the pod's own" "" \
    "$(kubectl exec own-0 -c slurmd -- sed '/^#/d' /run/slurm-k8s/gres.conf)"
  assert_equal "the sidecar's lines of the node" "" "$(ctld sed -n /own/p /run/slurm-k8s/gres.conf)"
  job=$(submit -w own-0 -n1 --mem=50 --gres=gpu:own:3 --wrap 'sleep 300')
  wait_job "$job" RUNNING 30
  # shellcheck disable=SC2016 # for the job's shell
  left=$(slurm srun -w own-0 -n1 --mem=50 --gres=gpu:own:1 bash -c 'echo $ROCR_VISIBLE_DEVICES')
  assert_equal "the GPU that is left" 3 "$left"
  assert_equal "its device files" "0 666" \
    "$(kubectl exec own-0 -c slurmd -- bash -c 'stat -c "%u %a" /dev/dri/renderD*' | sort -u)"
}

# It is unknown which file belongs to which of Slurm's GPUs: all are of the user whose jobs have any.
test_other_users_jobs_cannot_open_an_amd_gpu() {
  local job
  needs_slurm 23.11
  "$BED" device start >/dev/null
  trap 'remove amd' EXIT
  nodeset amd 1 '"amd.com/gpu": 2' '"scalingMode": "Always",'
  wait_for 60 "a node that is up" node_is_up amd-0
  files() { kubectl exec amd-0 -c slurmd -- bash -c 'stat -c "%u %a" /dev/dri/renderD*' | sort -u | paste -sd,; }
  has() { [[ $(files) == "$1" ]]; }
  # Files that a step of user nobody can open.
  # shellcheck disable=SC2016 # for the job's shell
  opened() {
    kubectl exec amd-0 -c slurmd -- setpriv --reuid=65534 --regid=65534 --clear-groups srun --chdir=/ -w amd-0 -n1 \
      --mem=50 "$@" \
      bash -c 'for file in /dev/dri/renderD*; do (exec 3<>"$file") 2>/dev/null && echo "$file"; done; true'
  }
  job=$(submit -w amd-0 -n1 --mem=50 --gres=gpu:1 --wrap 'sleep 300')
  wait_job "$job" RUNNING 30
  wait_for "files of a job with one GPU" has "401 600"
  assert_equal "what another user opens" "" "$(opened)"
  assert_equal "with a GPU of their own" 2 "$(opened --gres=gpu:1 | wc -l)"
  slurm scancel "$job"
  wait_for "the files are root's again" has "0 600"
}

# A folder like /proc/driver/nvidia, with all GPUs of the bed's device plugin.
driver_files() {
  local number literals=()
  for number in 0 1 3 4 6 7 9 12; do
    literals+=("--from-literal=gpu$number=$(printf 'GPU UUID: \t GPU-%08x\nDevice Minor: \t %d' "$number" "$number")")
  done
  kubectl delete configmap nvidia-driver --ignore-not-found >/dev/null
  kubectl create configmap nvidia-driver "${literals[@]}" >/dev/null
}
driver_items() {
  local number
  for number in 0 1 3 4 6 7 9 12; do
    echo "{\"key\": \"gpu$number\", \"path\": \"gpus/$number/information\"}"
  done | paste -sd,
}
as_nobody() { kubectl exec gpu-0 -c slurmd -- setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
# The GPUs of a job by its variable, and those that it can open. A step on one CPU of node gpu-0.
# shellcheck disable=SC2016 # for the job's shell
OPENS='has() { for id in ${CUDA_VISIBLE_DEVICES//,/ }; do echo "/dev/nvidia$((16#${id#GPU-}))"; done; }
  opens() { for file in /dev/nvidia[0-9]*; do (exec 3<>"$file") 2>/dev/null && echo "$file"; done; }
  for what in has opens; do echo "$what: $("$what" | sort | paste -sd" ")"; done'
step() { "$1" srun --chdir=/ -w gpu-0 -n1 --mem=50 "${@:2}" bash -c "$OPENS"; } # USER OPTION…
files_of_the_pod() { kubectl exec gpu-0 -c slurmd -- bash -c 'stat -c "%u %a" /dev/nvidia[0-9]*' | sort | paste -sd,; }
has_files() { [[ $(files_of_the_pod) == "$1" ]]; }
has_only() { [[ $1 == "has: $2"$'\n'"opens: $2" ]]; } # OUTPUT FILES

test_other_users_jobs_cannot_open_a_gpu() {
  local job out of_job all
  needs_slurm 23.11  # an earlier slurmctld needs the user in its own image
  "$BED" device start >/dev/null
  trap 'remove gpu' EXIT
  driver_files
  nodeset gpu 1 '"nvidia.com/gpu": 2' \
    '"gresType": "a100", "scalingMode": "Always", "template": {"spec": {"volumes": [
       {"name": "driver", "configMap": {"name": "nvidia-driver", "items": ['"$(driver_items)"']}}]}},' \
    '"env": [{"name": "SLURMD_NVIDIA_DRIVER", "value": "/etc/nvidia-driver"}],
     "volumeMounts": [{"name": "driver", "mountPath": "/etc/nvidia-driver"}],'
  wait_for "Gres of the node" has_gres gpu-0 gpu:a100:2
  wait_for 60 "a node that is up" node_is_up gpu-0
  all=$(kubectl exec gpu-0 -c slurmd -- bash -c 'ls /dev/nvidia[0-9]*' | sort | paste -sd' ')
  # SlurmUser has one, nobody asks for the other one.
  job=$(submit -w gpu-0 -n1 --mem=50 --gres=gpu:1 --wrap 'sleep 300')
  wait_job "$job" RUNNING 30
  wait_for "files of a job with one GPU" has_files "0 600,401 600"
  of_job=$(slurm srun --jobid="$job" --overlap --mem=10 bash -c "$OPENS")
  out=$(step as_nobody --gres=gpu:1)
  has_only "$out" "$(sed -n 's/^has: //p' <<<"$out")" || fail "nobody's: $out; SlurmUser's: $of_job; all: $all"
  has_only "$of_job" "$(sed -n 's/^has: //p' <<<"$of_job")" || fail "SlurmUser's: $of_job"
  assert_equal "files of both" "$all" \
    "$(sed -n 's/^has: //p' <<<"$out"$'\n'"$of_job" | sort | paste -sd' ')"
  # A job without GPUs, and one of the user who has one.
  assert_equal "without GPUs" "has: "$'\n'"opens: " "$(step as_nobody)"
  assert_equal "the same user" "$(sed -n 's/^has: //p' <<<"$of_job")" "$(step slurm | sed -n 's/^opens: //p')"
  slurm scancel "$job"
  wait_for "device files without an owner" has_files "0 600,0 600"
  out=$(step as_nobody --gres=gpu:2)
  has_only "$out" "$all" || fail "all: $out"
  # The Kubernetes node's files are not the pod's.
  assert_equal "files of the Kubernetes node that are somebody's" "" \
    "$(find "${SLURM_K8S_STATE:-/var/lib/slurm-k8s-bed}/devices" -type c ! -user root)"
}
