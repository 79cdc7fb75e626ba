# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Pods go when their nodes have been idle for SuspendTime, and their names serve again.

test_pods_go_after_suspend_time() {
  local job
  job=$(submit -N2 --wrap true)
  wait_done "$job" 60
  assert_equal "pods kept while idle" 2 "$(pod_count)"
  wait_for 60 "no pod after SuspendTime" has_pod_count 0
  wait_for "all nodes powered down" all_idle_and_down
}

test_a_suspended_node_serves_again() {
  local job first second
  job=$(submit -N1 -w compute-0 --wrap 'sleep 1')
  wait_done "$job" 60
  first=$(pod_uid compute-0)
  wait_for 60 "no pod after SuspendTime" has_pod_count 0
  job=$(submit -N1 -w compute-0 --wrap "$(runs_until again)")
  wait_job "$job" RUNNING 60
  second=$(pod_uid compute-0)
  [[ $first != "$second" ]] || fail "the same pod"
  end_run compute-0 again
  wait_done "$job" 60
}

test_power_up_and_down_by_hand() {
  slurm scontrol update nodename=compute-7 state=power_up
  wait_for "compute-7 up" node_is_up compute-7
  assert_equal "pods" compute-7 "$(pods)"
  slurm scontrol update nodename=compute-7 state=power_down
  wait_for "compute-7's pod gone" has_pod_count 0
}
