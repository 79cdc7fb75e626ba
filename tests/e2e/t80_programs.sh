# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The programs with the engine and without it, and the engine's socket.

# With settings that lead to no API server: only the engine, which has its own, can make the pod. How long the programs
# take is measured by tests/bench/mass.
test_programs_hand_over_to_the_engine() {
  local config=/tmp/no-kubeconfig.conf out program
  slurm bash -c "grep -vi '^ *Kubeconfig' /etc/slurm/slurm-k8s.conf >$config; echo Kubeconfig=/tmp/none >>$config"
  ! out=$(slurm /usr/libexec/slurm-k8s/slurm-k8s-resume --direct --config "$config" compute-7 2>&1) ||
    fail "--direct made a pod without an API server"
  [[ $out == *"/tmp/none"* ]] || fail "slurm-k8s-resume --direct doesn't say why: $out"
  for program in suspend resume-fail; do
    slurm /usr/libexec/slurm-k8s/slurm-k8s-resume --config "$config" compute-7
    wait_for "the engine's pod" has_pod_count 1
    assert_equal "pods" compute-7 "$(pods)"
    slurm "/usr/libexec/slurm-k8s/slurm-k8s-$program" --config "$config" compute-7
    wait_for "no pod after slurm-k8s-$program" has_pod_count 0
  done
}

test_programs_do_the_work_when_they_are_told_to() {
  # As slurmctld runs them: without the environment of its pod.
  local program
  for program in suspend resume-fail; do
    slurm env -i /usr/libexec/slurm-k8s/slurm-k8s-resume --direct compute-6
    assert_equal "pods" compute-6 "$(pods)"
    slurm env -i "/usr/libexec/slurm-k8s/slurm-k8s-$program" --direct compute-6
    wait_for "no pod after slurm-k8s-$program" has_pod_count 0
  done
}

# Where slurmctld has no engine nobody listens on its socket.
test_programs_do_the_work_without_an_engine() {
  local out program
  slurm bash -c 'grep -vi "^ *EngineSocket" /etc/slurm/slurm-k8s.conf >/tmp/no-engine.conf
    echo "EngineSocket=/tmp/no-engine.sock" >>/tmp/no-engine.conf'
  for program in resume suspend resume resume-fail; do
    out=$(slurm env -i "/usr/libexec/slurm-k8s/slurm-k8s-$program" --config /tmp/no-engine.conf compute-6 2>&1) ||
      fail "slurm-k8s-$program: $out"
    [[ $out == *"/tmp/no-engine.sock"* ]] || fail "slurm-k8s-$program doesn't say why: $out"
    if [[ $program == resume ]]; then
      assert_equal "pods" compute-6 "$(pods)"
    else
      wait_for "no pod after slurm-k8s-$program" has_pod_count 0
    fi
  done
}

test_the_socket_is_slurm_users_alone() {
  assert_equal "mode and owner" "600 slurm" "$(slurm stat -c '%a %U' /run/slurm-k8s/engine.sock)"
}

test_sidecar_answers() {
  local out
  out=$(slurm bash -c 'for path in healthz readyz metrics; do exec 3<>/dev/tcp/127.0.0.1/9100
    printf "GET /$path HTTP/1.0\r\n\r\n" >&3; head -1 <&3 | tr -d "\r"; exec 3>&-; done' | sort -u)
  [[ $out == "HTTP/1."?" 200 OK" ]] || fail "$out"
}
