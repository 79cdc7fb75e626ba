# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What a job finds in its pod.

test_environment_of_the_pod() {
  local out
  out=$(slurm srun -N1 -w compute-4 bash -c \
    'echo $SLURM_K8S_POD $SLURM_K8S_NAMESPACE $SLURM_K8S_NODE $SLURM_K8S_NODESET')
  assert_equal "environment" "compute-4 $NAMESPACE node1 compute" "$out"
}

test_no_service_account_token() {
  slurm srun -N1 test ! -e /var/run/secrets/kubernetes.io/serviceaccount/token
}

test_users_can_not_read_the_key() {
  local out
  # Jobs here run as the user slurm, who is nobody special in a node's pod.
  out=$(slurm srun -N1 bash -c 'id -u
    for file in /etc/slurm/slurm.key /run/slurm-k8s/key/slurm.key /run/munge/munge.key; do
    if test -r $file; then echo $file; fi; done' | paste -sd' ' -)
  assert_equal "user, and keys that it could read" "401" "$out"
}

# seccomp RuntimeDefault, no raw sockets and device files, and no root by a set-uid program.
test_what_a_job_may_do_in_its_pod() {
  local status bits
  status=$(slurm srun -N1 cat /proc/self/status)
  assert_equal "seccomp, no_new_privs" "2 1" \
    "$(awk '/^Seccomp:/ {s = $2} /^NoNewPrivs:/ {n = $2} END {print s, n}' <<<"$status")"
  bits=$((16#$(awk '/^CapBnd:/ {print $2}' <<<"$status")))
  assert_equal "groups that may ping" "0 2147483647" "$(slurm srun -N1 cat /proc/sys/net/ipv4/ping_group_range | xargs)"
  # CAP_NET_RAW is 13, CAP_SYS_ADMIN 21, CAP_MKNOD 27; CAP_SETUID, 7, is what slurmd starts jobs with.
  assert_equal "capabilities 13, 21, 27, 7" "0 0 0 1" \
    "$((bits >> 13 & 1)) $((bits >> 21 & 1)) $((bits >> 27 & 1)) $((bits >> 7 & 1))"
}

# What the pods' specs on standard input have that an unprivileged pod has not.
privileges() {
  python3 -c 'import json, sys
for pod in json.load(sys.stdin)["items"]:
    spec = pod["spec"]
    found = [name for name in ("hostNetwork", "hostPID", "hostIPC") if spec.get(name)]
    found += [volume["name"] for volume in spec.get("volumes", []) if "hostPath" in volume]
    for container in spec["containers"] + spec.get("initContainers", []):
        security = container.get("securityContext", {})
        found += ["privileged"] * bool(security.get("privileged"))
        found += ["allowPrivilegeEscalation"] * bool(security.get("allowPrivilegeEscalation", True))
        found += security.get("capabilities", {}).get("add", [])
        found += [str(port) for port in container.get("ports", []) if port.get("hostPort")]
    print(pod["metadata"]["name"], *found)'
}

test_pods_are_unprivileged() {
  local job
  job=$(submit -N1 -w compute-4 --wrap "$(runs_until seen)")
  wait_job "$job" RUNNING 60
  assert_equal "pods, and what they may" compute-4 "$(kubectl get pods -l slurm-k8s.io/node -o json | privileges)"
  end_run compute-4 seen
  wait_done "$job" 60
}
