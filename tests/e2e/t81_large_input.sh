# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What a user sends doesn't delay the others, however large it is.
#
# Without a limit before the text is parsed, slurmctld's locks were held for 8.6 s by 128 KB of --constraint, and for
# about half an hour by 1 MB.

# shellcheck source=tests/e2e/answers.sh
source "$E2E_FOLDER/answers.sh"

KB128=131072
MB1=1048576

# In a pod, as a user without rights: slurmctld's container has none but Slurm's own.
as_nobody() { kubectl exec -i compute-0 -- setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }

# Functions for the scripts in the pod. `text KIND BYTES`: features with an operator between them, or one long word.
# shellcheck disable=SC2016 # expanded there
HELPERS='
text() {
  case $1 in
    and) seq -f "f%06.0f" -s "&" 1 $(($2 / 8)) ;;
    or) seq -f "f%06.0f" -s "|" 1 $(($2 / 8)) ;;
    comma) seq -f "f%06.0f" -s "," 1 $(($2 / 8)) ;;
    short) head -c "$2" /dev/zero | sed "s/\x00\x00/a,/g" ;;
    open) head -c "$2" /dev/zero | tr "\0" "(" ;;
    word) head -c "$2" /dev/zero | tr "\0" x ;;
  esac
}
script() { printf "#!/bin/sh\n#SBATCH --output=/dev/null --chdir=/tmp --hold\n"; }
submit() { sbatch 2>&1; }
'

# The same texts made in the pod, and nothing submitted.
make_texts() {
  local bytes
  for bytes in $KB128 $MB1 $KB128 $MB1; do
    as_nobody bash -c "$HELPERS"'{ script; text and "$1"; } >/dev/null' bash "$bytes"
  done
}
# A pod to submit from: a job keeps it.
with_node() {
  local job
  job=$(submit -N1 -w compute-0 --wrap 'sleep 600')
  wait_job "$job" RUNNING 60
  take_baseline compute-7 make_texts
}
without_node() {
  slurm scancel --me >/dev/null 2>&1 || true
  slurm scancel --user=65534 >/dev/null 2>&1 || true
}

beside_others() { # COMMAND…: fails when another client has to wait meanwhile
  slowest_answer compute-7 "$@"
  assert_equal "calls of another client that failed" 0 "$FAILED_CALLS"
  assert_answers "$1"
}

refused() { # OPTION KIND BYTES [TEXT]: sbatch fails, naming TEXT
  local output
  output=$(as_nobody timeout 60 bash -c "$HELPERS"'
    { script; printf "#SBATCH --%s=" "$1"; text "$2" "$3"; printf "\ntrue\n"; } | submit' bash "$1" "$2" "$3" || true)
  [[ ${output,,} == *error* ]] || { fail "--$1 of $3 bytes ($2): $output"; return 1; }
  [[ $output == *"${4:-}"* ]] || fail "--$1 of $3 bytes ($2): $output"
}
submitted() { # OPTION KIND BYTES: whatever becomes of it
  as_nobody timeout 60 bash -c "$HELPERS"'
    { script; printf "#SBATCH --%s=" "$1"; text "$2" "$3"; printf "\ntrue\n"; } | submit' bash "$1" "$2" "$3" \
    >/dev/null || true
}

large_submissions() {
  local bytes
  for bytes in $KB128 $MB1; do
    refused constraint and "$bytes" "constraint: longer than 1024 bytes" || return 1
    refused constraint or "$bytes" "constraint: longer than 1024 bytes" || return 1
    refused constraint short "$bytes" "constraint: longer than 1024 bytes" || return 1
    refused constraint open "$bytes" || return 1
    refused prefer comma "$bytes" "prefer: longer than 1024 bytes" || return 1
    refused batch and "$bytes" "batch: longer than 1024 bytes" || return 1
    refused comment word "$bytes" || return 1
    refused account word "$bytes" || return 1
    submitted job-name word "$bytes"
    submitted export word "$bytes"
  done
}
test_others_are_served_beside_large_submissions() {
  needs_slurm 23.02 # before it the chart doesn't load the plugins that read constraints
  trap without_node EXIT
  with_node
  beside_others large_submissions
}

# An argument of a command may have 128 KB.
large_updates() { # JOB
  local field output
  for field in features prefer; do # scontrol does not change the features of a batch script
    output=$(as_nobody timeout 60 bash -c "$HELPERS"'scontrol update jobid="$1" "$2=$(text and 120000)" 2>&1' \
      bash "$1" "$field" || true)
    [[ $output == *"too long"* || $output == *"longer than"* ]] || { fail "$field=: $output"; return 1; }
  done
  for field in comment jobname account; do
    as_nobody timeout 60 bash -c "$HELPERS"'scontrol update jobid="$1" "$2=$(text word 120000)"' bash "$1" "$field" \
      >/dev/null 2>&1 || true
  done
}
test_others_are_served_beside_large_updates() {
  needs_slurm 23.02 # before it the chart doesn't load the plugins that read constraints
  local job
  trap without_node EXIT
  with_node
  job=$(as_nobody sbatch --parsable --hold --chdir=/ --output=/dev/null --constraint=compute --wrap true)
  beside_others large_updates "$job"
  assert_equal "constraint of the job" compute "$(job_field "$job" Features)"
}

large_het_jobs() {
  local output
  output=$(as_nobody timeout 60 bash -c "$HELPERS"'
    { script; for i in {1..8}; do
        printf "#SBATCH --constraint="; text and 131072; printf "\n#SBATCH hetjob\n"
      done; printf "#SBATCH -n1\ntrue\n"; } | submit' || true)
  [[ $output == *"longer than 1024 bytes"* ]] || { fail "het job: $output"; return 1; }
  # As long as Slurm permits. It permits 128 components, but takes a second by itself for so many.
  output=$(as_nobody timeout 60 bash -c "$HELPERS"'
    { script; for i in {1..31}; do
        printf "#SBATCH --constraint="; yes compute | head -127 | paste -sd "|"; printf "#SBATCH hetjob\n"
      done; printf "#SBATCH -n1\ntrue\n"; } | submit' || true)
  echo "# a job of 32 components: $output" >&2
}
test_others_are_served_beside_large_heterogeneous_jobs() {
  needs_slurm 23.02 # before it the chart doesn't load the plugins that read constraints
  trap without_node EXIT
  with_node
  beside_others large_het_jobs
}

# Slurm multiplies such a constraint out, into 2^80 alternatives, as soon as one of its features can be changed.
multiplied() {
  local output
  # shellcheck disable=SC2016
  output=$(as_nobody timeout 60 bash -c "$HELPERS"'
    { script; printf "#SBATCH --constraint=(v1|compute)"; for i in {1..79}; do printf "&(a%d|b%d)" "$i" "$i"; done
      printf "\ntrue\n"; } | submit' || true)
  [[ $output == *"more than 256 alternatives"* ]] || fail "$output"
}
test_alternatives_are_not_multiplied_without_a_limit() {
  needs_slurm 23.02
  trap 'without_node; kubectl delete nodesets.slurm-k8s.io large --ignore-not-found >/dev/null
        wait_for 60 "8 node records" has_node_count 8' EXIT
  with_node
  kubectl apply --filename=- >/dev/null <<'JSON'
{"apiVersion":"slurm-k8s.io/v1alpha1","kind":"NodeSet","metadata":{"name":"large"},"spec":{"replicas":1,
 "slurmd":{"image":"x","resources":{"limits":{"cpu":"1","memory":"256Mi"}}},"variants":[{"name":"v1","patch":{}}]}}
JSON
  wait_for "9 node records" has_node_count 9
  wait_for "the variant" refused constraint word 10 "with the variants v1"
  beside_others multiplied
}
