# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What the hostile tests share: users who aren't administrators of Slurm, and checks of what an attack must not have
# harmed.
#
# Jobs of the e2e tests belong to SlurmUser. Here the pod of LOGIN, a node, is where users log in: its slurmd signs for
# each of its users, as a login node's sackd or munged does. Each test asserts a claim of SECURITY.md.

LOGIN=compute-7
TARGET=compute-0
# Users whom every image has.
MALLORY=nobody
ALICE=daemon

# as USER COMMAND…: on the login node, as that user. Standard input goes to it.
as() {
  # shellcheck disable=SC2016
  kubectl exec -i "$LOGIN" -c slurmd -- bash -c 'cd /tmp && export HOME=/tmp USER=$0 &&
    exec setpriv --reuid="$0" --regid="$(id -g "$0")" --clear-groups --inh-caps=-all "$@"' "$@"
}
# user_job USER SBATCH-OPTION…, the script on standard input or in --wrap: prints the job's id.
user_job() {
  if [[ " $* " == *" --wrap "* ]]; then exec </dev/null; fi # in the subshell whose output is the id
  as "$1" sbatch --parsable --output=/dev/null --chdir=/tmp "${@:2}"
}
# attack SCRIPT: as Mallory, inside a job on TARGET; prints what it says.
attack() {
  as "$MALLORY" srun --quiet --chdir=/tmp -w "$TARGET" -n1 --mem=100 bash -c "$1" </dev/null
}
# The login node is up for a job of its own. survives() sees whether that, or the node under it, has gone.
log_in() {
  local job
  trap 'slurm scancel --user="$MALLORY"; slurm scancel --user="$ALICE"; slurm scancel --me' EXIT
  job=$(submit -w "$LOGIN" -n1 --mem=64 --job-name=login --wrap 'sleep 600')
  wait_job "$job" RUNNING 60
  RESTARTS=$(restarts)
}
restarts() { echo "$(container_field slurmctld restartCount) $(container_field sidecar restartCount)"; }
# survives: what the claims say of every attack.
survives() {
  wait_for "slurmctld answers" controller_ready
  assert_equal "restarts of slurmctld and sidecar" "$RESTARTS" "$(restarts)"
  assert_equal "the login node's job" RUNNING "$(slurm squeue -h -n login -o %T)"
}
# Each line of an attack's output is "NAME yes" when it got what it must not get.
nothing_works() { # TEXT OUTPUT COUNT of lines
  local got
  got=$(awk '$2 != "no" {print $1}' <<<"$2" | paste -sd' ')
  assert_equal "$1: what worked" "" "$got"
  assert_equal "$1: attempts" "$3" "$(grep -c ' no$' <<<"$2" || true)"
}
# What an attack looks for is there: root in the pod of TARGET finds it.
is_there() { # COMMAND…
  kubectl exec "$TARGET" -c slurmd -- "$@" >/dev/null || fail "$TARGET: nothing to be found by $*"
}
# In attacks: try NAME COMMAND… prints "NAME yes" or "NAME no".
# shellcheck disable=SC2034,SC2016
TRY='try() { local name=$1; shift
  if timeout 10 "$@" >/dev/null 2>&1 </dev/null; then echo "$name yes"; else echo "$name no"; fi; }
'
