# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Users log in to a login pod, and run jobs in pods whose image does not know them. Homes are on a shared volume.
# There is slurmrestd, and no accounting.
#
# Release: login

# shellcheck source=tests/e2e/login.sh
source "$E2E_FOLDER/login.sh"
# shellcheck source=tests/e2e/rest.sh
source "$E2E_FOLDER/rest.sh"

PASSWD='ada:x:2001:2001:Ada Lovelace:/home/ada:/bin/bash
bob:x:2002:2002:Bob:/home/bob:/bin/bash
'
GROUP='ada:x:2001:
bob:x:2002:
physics:x:3000:ada
'
login_values() { # PUBLIC-KEY
  cat <<END
sharedHome: {existingClaim: home}
login:
  enabled: true
  users:
    passwd: "${PASSWD//$'\n'/\\n}"
    group: "${GROUP//$'\n'/\\n}"
    authorizedKeys: {ada: "$1", bob: "$1"}
rest:
  enabled: true
  tokens: [{user: bob, secretName: bob-token}]
END
}
host_keys() { kubectl get secret slurm-login-host-keys -o jsonpath='{.data}'; }

# Once.
enable_login() {
  needs_slurm 24.05 # login pods need client ids
  has_login >/dev/null 2>&1 || install_login login_values ada
}

test_a_user_logs_in_and_runs_a_job() {
  local job output
  enable_login
  assert_equal "who" "uid=2001(ada) gid=2001(ada) groups=2001(ada),3000(physics)" "$(ssh_as ada id)"
  # What the user's environment says of the user must not matter.
  job=$(ssh_as ada 'USER=root LOGNAME=root SLURM_JOB_USER=root sbatch --parsable -N1 -w compute-0 --wrap "
    id; whoami; echo ~; pwd; python3 -c \"import os; print(os.path.expanduser(\\\"~ada\\\"))\"
    getent passwd ada bob root | cut -d: -f1,3; srun whoami
    env -i python3 -c \"import getpass; print(getpass.getuser())\"
    sbatch --quiet -o inner.out --wait --wrap whoami; cat inner.out"')
  wait_for "ada's name" test -n "$job"
  assert_equal "in squeue" ada "$(ssh_as bob "squeue -h -j $job -o %u")"
  wait_done "$job" 90
  output=$(ssh_as ada "cat slurm-$job.out")
  assert_equal "in the job" "uid=2001(ada) gid=2001(ada) groups=2001(ada),3000(physics)
ada
/home/ada
/home/ada
/home/ada
ada:2001
root:0
ada
ada
ada" "$output"
  assert_equal "owner" "ada ada 700" "$(ssh_as ada 'stat -c "%U %G %a" .')"
  if ssh_as bob "cat /home/ada/slurm-$job.out"; then fail "bob can read ada's file"; fi
  wait_for "no name without a job" has_no_user compute-0
}

# The kubelet makes the pod's own volumes for all to write.
test_users_keep_their_files_in_the_login_pod() {
  local out
  enable_login
  ssh_as ada 'echo mine >/tmp/ada'
  out=$(ssh_as bob 'mv /tmp/ada /tmp/bob 2>&1') && fail "bob has ada's file"
  [[ $out == *"Operation not permitted"* ]] || fail "$out"
  assert_equal "ada's file" mine "$(ssh_as ada 'cat /tmp/ada; rm /tmp/ada')"
}

has_no_user() { ! kubectl exec "$1" -- grep -q . /var/lib/extrausers/passwd; }

test_two_users_on_one_pod() {
  local first second
  enable_login
  first=$(ssh_as ada 'sbatch --parsable -n1 --mem=64 -w compute-0 --wrap "sleep 600"')
  wait_job "$first" RUNNING 60
  second=$(ssh_as bob 'sbatch --parsable -n1 --mem=64 -w compute-0 --wrap "
    whoami; getent passwd ada | cut -d: -f1; cat /home/ada/*"')
  wait_job "$second" "COMPLETED FAILED" 60
  assert_equal "bob's job" "bob
ada
cat: '/home/ada/*': Permission denied" "$(ssh_as bob "cat slurm-$second.out")"
  assert_equal "users of the pod" ada "$(kubectl exec compute-0 -- cut -d: -f1 /var/lib/extrausers/passwd)"
  ssh_as ada "scancel $first"
}

test_a_missing_folder_is_said() {
  local job
  enable_login
  job=$(ssh_as ada 'sbatch --parsable -N1 --chdir=/nowhere --wrap true')
  wait_job "$job" FAILED 60
  slurm scontrol show job "$job" -o | grep -q 'AdminComment=compute-[0-9]*: /nowhere: no such folder in the pod' ||
    fail "AdminComment: $(job_field "$job" AdminComment)"
  # An administrator's is kept.
  job=$(slurm sbatch --parsable --hold -N1 -w compute-0 --chdir=/nowhere --wrap true)
  slurm scontrol update "jobid=$job" AdminComment=mine
  slurm scontrol release "$job"
  wait_job "$job" FAILED 60
  assert_equal "an administrator's" mine "$(job_field "$job" AdminComment)"
  # The engine's, of a pod that took its time, is not.
  job=$(slurm sbatch --parsable --hold -N1 -w compute-0 --chdir=/nowhere --wrap true)
  slurm scontrol update "jobid=$job" AdminComment='slurm-k8s: waiting: compute-0: pulling'
  slurm scontrol release "$job"
  wait_job "$job" FAILED 60
  slurm scontrol show job "$job" -o | grep -q 'AdminComment=compute-0: /nowhere: no such folder in the pod' ||
    fail "AdminComment: $(job_field "$job" AdminComment)"
}

# Homes in the login pod alone: what a newcomer without a volume gets.
test_without_a_shared_home_it_is_said() {
  local said job notes
  enable_login
  private=$(slurm cat "$SSH_KEY") # not local: the trap comes after the function
  trap '"$BED" helm rollback slurm -n "$NAMESPACE" --wait --timeout 180s >/dev/null
    wait_for 60 "slurmctld up" controller_ready; put_key "$private"; wait_for 60 "ssh" can_log_in ada' EXIT
  "$BED" helm upgrade slurm "$E2E_FOLDER/../../helm/slurm" -n "$NAMESPACE" --reuse-values \
    --set sharedHome.existingClaim= --wait --timeout 180s >/dev/null
  notes=$("$BED" helm get notes slurm -n "$NAMESPACE")
  [[ $notes == *"a batch job that is submitted from one fails"* ]] || fail "Helm's notes: $notes"
  wait_for 60 "slurmctld up" controller_ready
  put_key "$private"
  wait_for 60 "ssh" can_log_in ada
  said=$(ssh_as ada 'sbatch --wrap true 2>&1')
  [[ $said == *"output file: /home/ada is below no shared path"* ]] || fail "sbatch said: $said"
  job=$(grep -o '[0-9]*$' <<<"$said")
  wait_job "$job" FAILED 90
  slurm scontrol show job "$job" -o | grep -q 'AdminComment=compute-[0-9]*: /home/ada: no such folder in the pod' ||
    fail "AdminComment: $(slurm scontrol show job "$job" -o)"
}

copies_files() {
  slurm scp -q -i "$SSH_KEY" -o BatchMode=yes -o UserKnownHostsFile=/tmp/login-test-hosts "$@" </dev/null
}
test_files_are_copied() {
  enable_login
  slurm sh -c 'echo of scp >/tmp/scp-test'
  copies_files /tmp/scp-test ada@slurm-login:copied
  assert_equal "by scp, in a job" "of scp" "$(ssh_as ada 'srun cat copied')"
  copies_files ada@slurm-login:copied /tmp/scp-test-back
  assert_equal "back" "of scp" "$(slurm cat /tmp/scp-test-back)"
  [[ $(ssh_as ada 'rsync --version; rm copied') == rsync* ]] || fail "no rsync in the login pod"
}

is_refused_login() { ! ssh_as "$1" true; }
test_who_cannot_log_in() {
  enable_login
  is_refused_login root || fail "root"
  is_refused_login slurm || fail "slurm"
  is_refused_login nobody || fail "nobody"
  # Neither Slurm's key nor another user.
  assert_equal "Slurm's key" 0 "$(ssh_as ada 'find / -name slurm.key -readable 2>/dev/null | wc -l')"
  ssh_as ada 'su bob -c id </dev/null' && fail "su"
  if ssh_as ada 'rm -f /run/slurm/sack.socket' || ! ssh_as ada 'test -S /run/slurm/sack.socket'; then
    fail "a user can remove sackd's socket"
  fi
}

# Not by ssh: a restart of slurmctld's container takes the test's key along.
bob_runs() { kubectl exec slurm-login-0 -c sshd -- setpriv --reuid=2002 --regid=2002 --clear-groups "$@"; }
cancel_is_refused() { [[ $(bob_runs timeout 20 scancel --ctld "$1" 2>&1) == *[Dd]enied* ]]; }
slurmctld_answers() { [[ $(slurm timeout 30 squeue --noheader --jobs="$1" --format=%u) == ada ]]; }
# slurmctld without accounting would deadlock, and answer no request any more (docs/admin/rest.md).
test_another_users_job_cannot_be_cancelled() {
  local job before private
  needs_slurm 24.05
  enable_login
  private=$(slurm cat "$SSH_KEY")
  job=$(ssh_as ada 'sbatch --parsable --hold --wrap true')
  cancel_is_refused "$job" || fail "bob's scancel is not refused"
  slurmctld_answers "$job" || fail "slurmctld does not answer after a refused scancel"
  # slurmctld drops its lists when it starts. It has the job from its state. Bob asks from before its start on.
  before=$(container_field slurmctld restartCount)
  # shellcheck disable=SC2016 # of the shell in the pod
  bob_runs timeout 30 sh -c 'while :; do timeout 5 scancel --ctld "$0"; done' "$job" >/dev/null 2>&1 &
  slurm kill -TERM 1 || true
  wait_for 60 "slurmctld restarted" container_is_back slurmctld "$before"
  wait "$!" || true
  cancel_is_refused "$job" || fail "after the restart bob's scancel is not refused"
  slurmctld_answers "$job" || fail "slurmctld does not answer after its restart"
  put_key "$private"
  ssh_as ada "scancel --ctld $job"
  wait_job "$job" CANCELLED 10
}

test_another_users_job_cannot_be_deleted_by_rest() {
  local job token path
  needs_slurm 24.05
  enable_login
  wait_for 60 "bob's token" has_token bob-token
  token=$(secret_token bob-token)
  path=/slurm/$(api_version "$token")
  job=$(ssh_as ada 'sbatch --parsable --hold --wrap true')
  api "$token" DELETE "$path/job/$job" | grep -qi 'denied' || fail "bob's DELETE is not refused"
  slurmctld_answers "$job" || fail "slurmctld does not answer after a refused DELETE"
  assert_equal "a path of slurmdbd" 404 "$(api_status "$token" GET "${path/slurm/slurmdb}/jobs/")"
  ssh_as ada "scancel $job"
}

test_slurms_commands_use_a_token() {
  local job token
  needs_slurm 24.05
  enable_login
  token=$(ssh_as bob 'scontrol token lifespan=300')
  [[ $token == SLURM_JWT=?* ]] || fail "scontrol token: $token"
  job=$(ssh_as bob 'sbatch --parsable --hold --wrap true')
  ssh_as ada "env $token scancel $job"
  wait_job "$job" CANCELLED 10
  [[ $(ssh_as bob "env $token scontrol token lifespan=300") == SLURM_JWT=?* ]] || fail "the token is not renewed"
  job=$(ssh_as bob "sbatch --parsable -N1 -o token.out --wrap 'env $token squeue -h -j \$SLURM_JOB_ID -o %u'")
  wait_done "$job" 90
  assert_equal "in a job" bob "$(ssh_as bob 'cat token.out')"
}

login_has_config() { kubectl exec slurm-login-0 -c sshd -- grep -qx "$1" /run/slurm/conf/slurm.conf; }
sackd_restarts() {
  kubectl get pod slurm-login-0 -o jsonpath='{.status.containerStatuses[?(@.name=="sackd")].restartCount}'
}
test_an_upgrade_keeps_host_keys_and_login_pods() {
  local before restarts private
  enable_login
  before=$(host_keys)
  restarts=$(sackd_restarts)
  private=$(slurm cat "$SSH_KEY")
  "$BED" helm upgrade slurm "$E2E_FOLDER/../../helm/slurm" -n "$NAMESPACE" --reuse-values \
    --set 'controller.extraConfMap.MaxArraySize=77' --wait --timeout 180s >/dev/null
  assert_equal "host keys" "$before" "$(host_keys)"
  wait_for 60 "slurmctld up" controller_ready
  slurm scontrol reconfigure
  wait_for 60 "the configuration in the login pod" login_has_config MaxArraySize=77
  put_key "$private"
  wait_for 60 "ssh" can_log_in ada
  assert_equal "jobs" "" "$(ssh_as ada 'squeue -h')"
  assert_equal "sackd restarts" "$restarts" "$(sackd_restarts)"
}
