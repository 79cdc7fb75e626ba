# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A job's tasks find the other nodes of the job by name as soon as they run; DNS learns of a new pod after a second.

# In a task: "NODE: NAME ADDRESS" for each node of the job, or "NODE: NAME" for one that has no address.
# shellcheck disable=SC2016
LOOK_UP='for name in $(scontrol show hostnames); do
  echo "$SLURMD_NODENAME: $name $(getent ahostsv4 "$name" | awk "NR == 1 { print \$1 }")"
done'
job_lines() { "$BED" fault exec "$1/slurmd" grep -c slurm-k8s /etc/hosts </dev/null || true; } # NODE
has_job_lines() { [[ $(job_lines "$1") == "$2" ]]; }

test_names_resolve_in_the_first_second() {
  local out name job
  # The name server remembers for seconds that there is no such name.
  slurm bash -c 'for name in compute-{0..3}; do getent hosts "$name.slurm-nodes"; done' || true
  out=$(slurm srun --quiet -N4 -w 'compute-[0-3]' bash -c "$LOOK_UP" | sort)
  # What a pod says of itself, kubelet has written. The others must say the same.
  for name in compute-{0..3}; do
    [[ $out =~ $name:\ $name\ ([0-9.]+) ]] || fail "$name does not know itself: $out"
    assert_equal "$name's address on all nodes" "4 ${BASH_REMATCH[1]}" \
      "$(awk -v name="$name" '$2 == name { print $3 }' <<<"$out" | uniq -c | xargs)"
  done
  # Lines go with their job: those of another one stay.
  job=$(submit -N2 -w 'compute-[0-1]' --wrap 'srun sleep 600')
  wait_job "$job" RUNNING 30
  wait_for "only names of the second job in compute-0" has_job_lines compute-0 1
  slurm scancel "$job"
  wait_for "no names in compute-0" has_job_lines compute-0 0
}
