# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# slurmrestd: jobs by the REST API with tokens, tokens that are kept in Secrets, and their keys.
#
# Release: rest

# shellcheck source=tests/e2e/rest.sh
source "$E2E_FOLDER/rest.sh"

KEYS=${WORK:-/tmp}/rest-keys-$NAMESPACE
rest_values() {
  cat <<'END'
accounting:
  enabled: true
  mariadb: {resources: {requests: {memory: 64Mi}}}
login:
  users:
    passwd: "ada:x:2001:2001:Ada Lovelace:/tmp:/bin/bash\nbob:x:2002:2002:Bob:/tmp:/bin/bash\n"
    group: "ada:x:2001:\nbob:x:2002:\n"
rest:
  enabled: true
  jwks: {existingConfigMap: jwks}
  tokens:
    - {user: ada, secretName: ada-token}
    - {user: bob, secretName: bob-token, lifespan: 60}
END
}
put_public_keys() { # FILE…
  public_keys "$@" >"$KEYS/jwks.json"
  kubectl create configmap jwks --from-file="$KEYS/jwks.json" --dry-run=client -o yaml | kubectl apply -f - >/dev/null
}

# Once.
enable_rest() {
  local values
  needs_slurm 24.05
  mkdir -p "$KEYS"
  [[ -e $KEYS/new.pem ]] || { make_key "$KEYS/old"; make_key "$KEYS/new"; }
  if kubectl get deployment slurm-rest >/dev/null 2>&1; then return; fi
  put_public_keys "$KEYS/old"
  values=$(mktemp)
  rest_values >"$values"
  "$BED" helm upgrade slurm "$E2E_FOLDER/../../helm/slurm" -n "$NAMESPACE" "${VALUES[@]}" -f "$values" \
    --wait --timeout 240s >/dev/null
  rm "$values"
  wait_for 60 "slurmctld up" controller_ready
  wait_for 60 "ada's token" has_token ada-token
  wait_for 60 "bob's token" has_token bob-token
}
# Sets TOKEN, ada's, and API, the path of the newest version.
begin() {
  enable_rest
  TOKEN=$(secret_token ada-token)
  API=/slurm/$(api_version "$TOKEN")
}
job_json() { # COMMAND VARIABLE…
  python3 -c 'import json, sys; print(json.dumps({"script": "#!/bin/bash\n" + sys.argv[1], "job": {
    "current_working_directory": "/tmp", "environment": ["PATH=/usr/bin:/bin", *sys.argv[2:]],
    "standard_output": "/dev/null", "standard_error": "/dev/null"}}))' "$@"
}
submit_by_api() { api_field job_id "$TOKEN" POST "$API/job/submit" "$(job_json "$@")"; } # COMMAND VARIABLE…
api_state() { api_field jobs.0.job_state "$TOKEN" GET "$API/job/$1"; }
has_api_state() { [[ $(api_state "$1") == "$2" ]]; }

test_a_job_by_the_api_from_zero() {
  local job
  begin
  assert_equal "pods" 0 "$(pod_count)"
  # shellcheck disable=SC2016 # the job's own words
  job=$(submit_by_api '[[ $(id -un) == ada ]]')
  wait_for 120 "job $job is COMPLETED" has_api_state "$job" COMPLETED
  assert_equal "whose" "ada" "$(api_field jobs.0.user_name "$TOKEN" GET "$API/job/$job")"
  [[ $(api_field jobs.0.nodes "$TOKEN" GET "$API/job/$job") == compute-* ]] || fail "on no pod"
  in_slurmdbd() { [[ $(api_field jobs.0.state.current "$TOKEN" GET "${API/slurm/slurmdb}/job/$job") == COMPLETED ]]; }
  wait_for 60 "slurmdbd has its end" in_slurmdbd
}

test_only_tokens_are_taken() {
  local pod
  begin
  assert_equal "no token" 401 "$(slurm curl -sS -o /dev/null -w '%{http_code}' "$REST$API/jobs/")"
  assert_equal "a user's name" 401 \
    "$(slurm curl -sS -o /dev/null -w '%{http_code}' -H 'X-SLURM-USER-NAME: ada' "$REST$API/jobs/")"
  if has_status 200 "${TOKEN}x" GET "$API/jobs/"; then fail "a token with another signature is taken"; fi
  pod=$(kubectl get pods -l app.kubernetes.io/name=slurmrestd -o name)
  assert_equal "slurmrestd is" "404" "$(kubectl exec "$pod" -- id -u)"
  assert_equal "keys with slurmrestd" "" "$(kubectl exec "$pod" -- find /etc /run /tmp /var -name '*.key' 2>/dev/null)"
  assert_equal "keys with the sidecar" "" \
    "$(kubectl exec slurm-controller-0 -c sidecar -- find /etc /run /tmp /var -name '*.key' 2>/dev/null)"
}

# slurmctld itself would accept the job, and never start it.
# slurmctld would save it.
test_a_job_does_not_get_its_users_token() {
  local job
  begin
  job=$(submit_by_api '[[ ! -v SLURM_JWT && $KEPT == this ]]' KEPT=this "SLURM_JWT=$TOKEN")
  wait_for 120 "job $job is COMPLETED" has_api_state "$job" COMPLETED
}

test_a_job_of_an_unknown_user_is_refused() {
  local ghost said
  begin
  ghost=$(slurm scontrol token username=ghost lifespan=60)
  said=$(api "${ghost#SLURM_JWT=}" POST "$API/job/submit" "$(job_json true)")
  [[ $said == *"Invalid user id"* ]] || fail "the answer: $said"
  assert_equal "jobs" "" "$(slurm squeue --noheader)"
}

test_a_foreign_job_cannot_be_cancelled() {
  local job bob
  begin
  job=$(submit_by_api 'sleep 300')
  wait_job "$job" RUNNING 60
  bob=$(secret_token bob-token)
  api "$bob" DELETE "$API/job/$job" | grep -qi 'permission denied' || fail "bob's DELETE is not refused"
  assert_equal "slurmctld still answers" "$job" "$(slurm timeout 30 squeue --noheader --format=%i)"
  assert_equal "the job" RUNNING "$(job_state "$job")"
  api "$TOKEN" DELETE "$API/job/$job" >/dev/null
  wait_job "$job" CANCELLED 30
}

# R7: rotation of tokens.
test_tokens_are_renewed() {
  local before expires told
  begin
  before=$(secret_token bob-token)
  wait_for 50 "another token" has_another_token bob-token "$before"
  expires=$(token_expires "$(secret_token bob-token)")
  ((expires > $(token_expires "$before"))) || fail "it expires at $expires"
  told=$(kubectl get secret bob-token -o jsonpath='{.metadata.annotations.slurm-k8s\.io/token-expires}')
  ((expires - $(date -d "$told" +%s) <= 5)) || fail "the annotation says $told, the token $expires"
  assert_equal "it is taken" 200 "$(api_status "$(secret_token bob-token)" GET "$API/jobs/")"
  if [[ $(kubectl logs slurm-controller-0 -c sidecar) == *"${before##*.}"* ]]; then fail "a token is in the log"; fi
  wait_for 70 "the former has expired" is_refused_token "$before"
}
is_refused_token() { ! has_status 200 "$1" GET "$API/jobs/"; }

test_a_secret_that_was_made_again_is_filled() {
  local before
  begin
  before=$(secret_token ada-token)
  kubectl delete secret ada-token >/dev/null
  kubectl create secret generic ada-token >/dev/null
  wait_for 90 "the token" has_token ada-token
  assert_equal "token" "$before" "$(secret_token ada-token)"
}

test_scontrol_token_of_an_administrator() {
  local token
  begin
  token=$(slurm scontrol token username=bob lifespan=600)
  assert_equal "a token of bob" 200 "$(api_status "${token#SLURM_JWT=}" GET "$API/jobs/")"
}

slurmctld_has_file() { [[ $(slurm sha256sum "/etc/slurm-jwt/$1" | cut -d ' ' -f 1) == "$2" ]]; } # NAME SHA256
# As docs/admin/rest.md has it.
change_public_keys() { # FILE…
  put_public_keys "$@"
  wait_for 120 "slurmctld's container has jwks.json" \
    slurmctld_has_file jwks.json "$(sha256sum "$KEYS/jwks.json" | cut -d ' ' -f 1)"
  slurm scontrol reconfigure
  wait_for "slurmctld up" controller_ready
}
test_two_public_keys() {
  local job old new
  begin
  job=$(submit_by_api 'sleep 600')
  wait_job "$job" RUNNING 60
  old=$(sign_token "$KEYS/old" ada)
  new=$(sign_token "$KEYS/new" ada)
  has_status 200 "$old" GET "$API/jobs/" || change_public_keys "$KEYS/old" # after an earlier run
  assert_equal "the old key" 200 "$(api_status "$old" GET "$API/jobs/")"
  if has_status 200 "$new" GET "$API/jobs/"; then fail "a key that slurmctld does not have"; fi
  change_public_keys "$KEYS/old" "$KEYS/new"
  assert_equal "both: the old key" 200 "$(api_status "$old" GET "$API/jobs/")"
  assert_equal "both: the new key" 200 "$(api_status "$new" GET "$API/jobs/")"
  change_public_keys "$KEYS/new"
  if has_status 200 "$old" GET "$API/jobs/"; then fail "a removed key"; fi
  assert_equal "the new key" 200 "$(api_status "$new" GET "$API/jobs/")"
  assert_equal "the job" RUNNING "$(job_state "$job")"
  slurm scancel "$job"
}

test_another_key_of_slurmctld() {
  local job before other
  begin
  job=$(submit_by_api 'sleep 600')
  wait_job "$job" RUNNING 60
  before=$(secret_token ada-token)
  other=$(mktemp)
  head -c 32 /dev/urandom >"$other"
  kubectl patch secret slurm-jwt-key -p "{\"data\": {\"jwt_hs256.key\": \"$(base64 -w 0 "$other")\"}}" >/dev/null
  wait_for 120 "slurmctld's container has the key" \
    slurmctld_has_file jwt_hs256.key "$(sha256sum "$other" | cut -d ' ' -f 1)"
  rm "$other"
  assert_equal "the former key works until then" 200 "$(api_status "$before" GET "$API/jobs/")"
  slurm scontrol reconfigure
  wait_for "another token" has_another_token ada-token "$before"
  TOKEN=$(secret_token ada-token)
  assert_equal "the new token" 200 "$(api_status "$TOKEN" GET "$API/jobs/")"
  is_refused_token "$before" || fail "a token of the former key"
  assert_equal "the job" RUNNING "$(api_state "$job")"
  slurm scancel "$job"
}
