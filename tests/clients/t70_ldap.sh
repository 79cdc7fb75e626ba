# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Users of an LDAP directory (images/slapd) log in by ssh, and run jobs in pods without a directory.
#
# Release: ldap

# shellcheck source=tests/e2e/login.sh
source "$E2E_FOLDER/login.sh"
# shellcheck source=tests/e2e/rest.sh
source "$E2E_FOLDER/rest.sh"

start_slapd() { # [CONTAINER-FIELD]
  kubectl apply -f - >/dev/null <<END
apiVersion: v1
kind: Pod
metadata: {name: ldap, labels: {app: ldap}}
spec:
  automountServiceAccountToken: false
  terminationGracePeriodSeconds: 0
  containers:
    - name: slapd
      image: localhost/slurm-k8s/slapd:$IMAGE_TAG
      imagePullPolicy: Never
      ${1:-}
      readinessProbe: {tcpSocket: {port: 3389}, periodSeconds: 2}
      volumeMounts: [{name: tls, mountPath: /etc/ldap/tls, readOnly: true}]
  volumes: [{name: tls, secret: {secretName: ldap-server, optional: true}}]
---
apiVersion: v1
kind: Service
metadata: {name: ldap}
spec:
  selector: {app: ldap}
  ports: [{name: ldap, port: 389, targetPort: 3389}, {name: ldaps, port: 636, targetPort: 3636}]
END
  kubectl wait --for=condition=Ready pod/ldap --timeout=60s >/dev/null
}
ldap_values() { # PUBLIC-KEY
  cat <<END
sharedHome: {existingClaim: home}
login:
  enabled: true
  users:
    authorizedKeys: {alan: "$1", grace: "$1", gone: "$1", slurmadmin: "$1"}
  nslcd: {existingSecret: directory}
  extraSshdConfig: PasswordAuthentication yes
END
}
ldap_values_with_accounting() {
  ldap_values "$1"
  cat <<'END'
accounting:
  enabled: true
  enforce: [associations, limits]
  mariadb: {resources: {requests: {memory: 64Mi}}}
END
}
ldap_values_with_rest() {
  ldap_values_with_accounting "$1"
  cat <<'END'
rest:
  enabled: true
  tokens: [{user: grace, secretName: grace-token}]
partitions:
  navy: {nodesets: [ALL], config: AllowGroups=navy}
END
}
# install_ldap FUNCTION
install_ldap() {
  start_slapd
  kubectl create secret generic directory --dry-run=client -o yaml --from-literal=nslcd.conf='uri ldap://ldap/
base dc=example,dc=org
binddn cn=reader,dc=example,dc=org
bindpw directory-reader-4c1' | kubectl apply -f - >/dev/null
  install_login "$1" grace
}
remove_ldap() {
  kubectl delete pod/ldap service/ldap secret/directory secret/directory-tls secret/ldap-server --ignore-not-found \
    >/dev/null
}
with_password() { # USER PASSWORD COMMAND
  # shellcheck disable=SC2016 # of the pod's shell
  slurm sh -c 'umask 077; printf "#!/bin/sh\necho %s\n" "$1" >/tmp/ask && chmod 700 /tmp/ask' - "$2"
  slurm env DISPLAY=none SSH_ASKPASS=/tmp/ask SSH_ASKPASS_REQUIRE=force setsid ssh -o PubkeyAuthentication=no \
    -o NumberOfPasswordPrompts=1 -o StrictHostKeyChecking=accept-new -o UserKnownHostsFile=/tmp/login-test-hosts \
    "$1@slurm-login" "$3" </dev/null
}

test_a_user_of_a_directory_runs_a_job() {
  local output
  trap remove_ldap EXIT
  install_ldap ldap_values
  output=$(ssh_as grace 'sbatch --quiet --wait -N1 -o out --wrap "id; whoami; echo ~; srun whoami" && cat out')
  assert_equal "in the job" "uid=5001(grace) gid=5001(grace) groups=5001(grace),5100(navy)
grace
/home/grace
grace" "$output"
  # The directory says that this one has the id of user slurm.
  if can_log_in slurmadmin; then fail "a user of the directory is Slurm's administrator"; fi
  if can_log_in gone; then fail "an account that has expired can log in"; fi
  assert_equal "with the directory's password" grace "$(with_password grace directory-grace-9e2 whoami)"
  if with_password grace another whoami; then fail "another password is taken"; fi
}

# nslcd.conf that `convert` makes of Slinky's sssd.conf; `login` is the last key of its result.
sssd_values() { # PUBLIC-KEY
  local convert=(kubectl exec -i slurm-controller-0 -c sidecar -- slurm-k8s-sidecar convert --values -)
  echo 'sharedHome: {existingClaim: home}'
  # It says that passwords need TLS.
  "${convert[@]}" 2>/dev/null <<'END' || (($? == 1))
loginsets: {slinky: {}}
sssd:
  conf: |
    [sssd]
    services = nss,pam
    domains = DEFAULT
    [nss]
    override_shell = /bin/sh
    [domain/DEFAULT]
    id_provider = ldap
    ldap_uri = ldap://ldap
    ldap_search_base = dc=example,dc=org
    ldap_user_name = uid
    ldap_user_object_class = account
    ldap_default_bind_dn = cn=reader,dc=example,dc=org
    ldap_default_authtok = directory-reader-4c1
    override_homedir = /home/%u
END
  echo "  users: {authorizedKeys: {grace: \"$1\"}}"
}
test_sssd_conf_of_slinky_finds_the_users() {
  trap remove_ldap EXIT
  start_slapd
  install_login sssd_values grace
  assert_equal "who logs in" "uid=5001(grace) gid=5001(grace) groups=5001(grace),5100(navy)" "$(ssh_as grace id)"
  assert_equal "home and shell" /home/grace:/bin/sh "$(ssh_as grace 'getent passwd grace | cut -d: -f6-')"
}

# An authority's certificate and key, NAME.crt and NAME.key.
make_authority() { # NAME
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout "$1.key" -out "$1.crt" \
    -subj "/CN=${1##*/}" -days 1 2>/dev/null
}
# tls.crt and tls.key of server `ldap`, signed by the authority.
make_server_certificate() { # FOLDER AUTHORITY
  openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout "$1/tls.key" -subj /CN=ldap 2>/dev/null |
    openssl x509 -req -CA "$2.crt" -CAkey "$2.key" -CAcreateserial -days 1 -out "$1/tls.crt" \
      -extfile <(echo subjectAltName=DNS:ldap) 2>/dev/null
}
# The directory, which takes encrypted connections alone. FOLDER has its certificate.
start_slapd_with_tls() { # FOLDER
  kubectl create secret generic ldap-server --dry-run=client -o yaml --from-file="$1/tls.crt" --from-file="$1/tls.key" \
    --from-literal=slapd.conf='TLSCertificateFile /etc/ldap/tls/tls.crt
TLSCertificateKeyFile /etc/ldap/tls/tls.key
security tls=128
include /etc/ldap/slapd.conf' | kubectl apply -f - >/dev/null
  start_slapd 'command: [/usr/sbin/slapd, -d, none, -f, /etc/ldap/tls/slapd.conf, -h, "ldap://:3389 ldaps://:3636"]'
}
# Secret directory-tls, with the authority's certificate; LINES of nslcd.conf say how to connect.
use_tls() { # AUTHORITY LINES
  kubectl create secret generic directory-tls --dry-run=client -o yaml --from-file=ca.crt="$1.crt" \
    --from-literal=nslcd.conf="$2
tls_reqcert demand
tls_cacertfile /run/slurm-k8s/ldap/ca.crt
base dc=example,dc=org
binddn cn=reader,dc=example,dc=org
bindpw directory-reader-4c1" | kubectl apply -f - >/dev/null
}
ldap_values_with_tls() { # PUBLIC-KEY
  local values
  values=$(ldap_values "$1")
  echo "${values/existingSecret: directory/existingSecret: directory-tls}"
}
restart_login() {
  kubectl rollout restart statefulset/slurm-login >/dev/null
  kubectl rollout status statefulset/slurm-login --timeout=120s >/dev/null
}
slurmctld_knows() { slurm id --user "$1"; }

test_a_directory_with_tls_and_an_authority_of_its_own() {
  trap 'remove_ldap; rm -rf "$folder"' EXIT
  folder=$(mktemp -d) # not local: the trap comes after the function
  make_authority "$folder/own"
  make_authority "$folder/other"
  make_server_certificate "$folder" "$folder/own"
  start_slapd_with_tls "$folder"
  use_tls "$folder/own" "uri ldaps://ldap/"
  install_login ldap_values_with_tls grace
  assert_equal "who logs in" "uid=5001(grace) gid=5001(grace) groups=5001(grace),5100(navy)" "$(ssh_as grace id)"
  assert_equal "with the directory's password" grace "$(with_password grace directory-grace-9e2 whoami)"
  wait_for 60 "slurmctld's copy of the directory" slurmctld_knows grace

  use_tls "$folder/own" $'uri ldap://ldap/\nssl start_tls'
  restart_login
  wait_for 60 "ssh, with StartTLS" can_log_in grace

  use_tls "$folder/other" "uri ldaps://ldap/"
  restart_login
  if kubectl exec slurm-login-0 -c sshd -- getent passwd grace; then
    fail "a server's certificate of another authority is taken"
  fi
  kubectl logs slurm-login-0 -c nslcd | grep "failed to bind.*Can't contact LDAP server" >/dev/null ||
    fail "nslcd: $(kubectl logs slurm-login-0 -c nslcd)"
}

test_accounts_of_a_user_of_a_directory() {
  local job said
  trap remove_ldap EXIT
  install_ldap ldap_values_with_accounting
  if said=$(ssh_as grace 'sbatch --wrap true 2>&1'); then fail "a user without an account: $said"; fi
  [[ $said == *"Invalid account or account/partition combination"* ]] || fail "what it said: $said"
  slurm sacctmgr --immediate add account first,second >/dev/null
  slurm sacctmgr --immediate add user grace account=first >/dev/null
  job=$(ssh_as grace 'sbatch --parsable --wait --output=/dev/null --wrap true')
  assert_equal "its account" "first grace(5001)" "$(job_field "$job" Account) $(job_field "$job" UserId)"
  slurm sacctmgr --immediate add user grace account=second >/dev/null
  job=$(ssh_as grace 'sbatch --parsable --wait --output=/dev/null --account=second --wrap true')
  assert_equal "its account" second "$(job_field "$job" Account)"
}

is_not_in_group() { [[ $(job_field "$1" Reason) == uid_5003_not_in_group_permitted* ]]; }
slurmctld_has_account() { slurm scontrol show assoc_mgr flags=assoc users="$1" | grep -q "UserName=$1("; } # USER
has_no_directory() { kubectl logs slurm-controller-0 -c users | grep "What is known of it stays"; }

# Names that slurmctld itself looks up, and those of tokens.
test_daemons_know_the_users_of_a_directory() {
  local job token
  trap remove_ldap EXIT
  install_ldap ldap_values_with_rest
  # They fail where they are there.
  slurm sacctmgr --immediate add account first >/dev/null || true
  slurm sacctmgr --immediate add user alan,grace account=first >/dev/null || true
  wait_for 60 "slurmctld, which may have started before slurmdbd, knows of it" slurmctld_has_account alan
  job=$(ssh_as alan 'sbatch --parsable --partition=navy --wrap true')
  wait_for 60 "who is not in the group waits" is_not_in_group "$job"
  slurm scancel "$job"
  job=$(ssh_as grace 'sbatch --parsable --wait --output=/dev/null --partition=navy --wrap true')
  assert_equal "AllowGroups" COMPLETED "$(job_field "$job" JobState)"
  slurm scontrol create reservation ReservationName=hers Users=grace StartTime=now Duration=5 NodeCnt=1 >/dev/null
  slurm scontrol delete ReservationName=hers
  wait_for 60 "grace's token" has_token grace-token
  token=$(secret_token grace-token)
  job=$(api_field job_id "$token" POST "/slurm/$(api_version "$token")/job/submit" '{"script": "#!/bin/sh\ntrue",
    "job": {"account": "first", "current_working_directory": "/tmp", "environment": ["PATH=/usr/bin:/bin"],
            "standard_output": "/dev/null", "standard_error": "/dev/null"}}')
  assert_equal "whose job it is" "grace(5001)" "$(job_field "$job" UserId)"
  assert_equal "in slurmrestd's answer" grace \
    "$(api_field jobs.0.user_name "$token" GET "/slurm/$(api_version "$token")/job/$job")"
  wait_job "$job" COMPLETED 90
  wait_for 60 "slurmdbd takes the token" has_status 200 "$token" GET "/slurmdb/$(api_version "$token")/jobs/"

  # Without the directory they stay, also for a slurmctld that starts.
  kubectl delete pod/ldap --wait=false >/dev/null
  wait_for 120 "no answer of the directory" has_no_directory
  kill_container slurmctld
  wait_for 60 "slurmctld up" controller_ready
  assert_equal "who grace is" 5001 "$(slurm id --user grace)"
}
