# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Pods and Slurm's jobs on the same nodes, and how many of them run at a time. After bridge.sh.

# Processes that use a CPU which Slurm has given away: of pods, and of jobs.
count_users() { pgrep -cf "^(pod|job)-of-$NAMESPACE" || true; }

# Pods take 2 s to end. A pod waits by "read": "sleep" would be a process of its own, which counts until it has its own
# name. Slurm counts the memory that the annotation names, the kubelet only the request.
put_mixed_pods() { # MODE COUNT MEMORY
  local scheduler=$SCHEDULER labels='{}' gates='[]'
  if [[ $1 == gate ]]; then
    scheduler=default-scheduler
    labels="{slurm-k8s.io/bridge: $SCHEDULER}"
    gates='[{name: slurm-k8s.io/bridge}]'
  fi
  kubectl apply -f - >/dev/null <<END
apiVersion: batch/v1
kind: Job
metadata: {name: mixed}
spec:
  parallelism: $2
  completions: $2
  backoffLimit: 100
  template:
    metadata:
      labels: $labels
      annotations: {job.slurm-k8s.io/mem-per-node: ${3}Mi}
    spec:
      schedulerName: $scheduler
      schedulingGates: $gates
      tolerations: [{operator: Exists, effect: NoSchedule}]
      restartPolicy: Never
      containers:
        - name: main
          image: localhost/slurm-k8s/slurmd:$IMAGE_TAG
          resources: {requests: {cpu: 10m, memory: 16Mi}}
          command:
            - bash
            - -c
            - |
              mkfifo /tmp/never && exec 3<>/tmp/never
              exec -a pod-of-$NAMESPACE bash -c 'trap "read -t 2 -u 3; exit 0" TERM; read -t 4 -u 3; exit 0'
END
}

# COUNT pods and COUNT jobs of one CPU and MEMORY MiB each, cancelled at random. Prints how many ran at a time at most.
# MODE: direct, the bridge binds the pods; gate, kube-scheduler does when the bridge has removed their gate.
run_mixed_load() { # MODE COUNT MEMORY [SECONDS]
  local most=0 users end running
  put_mixed_pods "$1" "$2" "$3"
  slurm bash -c "for ((i = 0; i < $2; i++)); do
    sbatch -J mixed --mem=$3 --output=/dev/null --wrap \"bash -c 'exec -a job-of-$NAMESPACE sleep 3'\"; done" >/dev/null
  end=$((SECONDS + ${4:-120}))
  while ((SECONDS < end)); do
    users=$(count_users)
    ((users <= most)) || most=$users
    running=$(slurm squeue -h -o '%A %t' | shuf)
    [[ $running ]] || break
    if ((RANDOM % 3 == 0)); then slurm scancel "$(awk '$2 == "R" {print $1; exit}' <<<"$running")" || true; fi
    sleep 0.1 # between two samples
  done
  kubectl delete job.batch mixed >/dev/null
  slurm scancel --name=mixed
  echo "$most"
}
