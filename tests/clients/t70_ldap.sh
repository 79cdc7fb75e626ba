# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Users of an LDAP directory (images/slapd) log in by ssh, and run jobs in pods without a directory.
#
# Release: ldap

# shellcheck source=tests/e2e/login.sh
source "$E2E_FOLDER/login.sh"

start_slapd() {
  sed "s/@TAG@/$IMAGE_TAG/" <<'END' | kubectl apply -f - >/dev/null
apiVersion: v1
kind: Pod
metadata: {name: ldap, labels: {app: ldap}}
spec:
  automountServiceAccountToken: false
  terminationGracePeriodSeconds: 0
  containers:
    - name: slapd
      image: localhost/slurm-k8s/slapd:@TAG@
      imagePullPolicy: Never
      readinessProbe: {tcpSocket: {port: 3389}, periodSeconds: 2}
---
apiVersion: v1
kind: Service
metadata: {name: ldap}
spec:
  selector: {app: ldap}
  ports: [{port: 389, targetPort: 3389}]
END
}
ldap_values() { # PUBLIC-KEY
  cat <<END
sharedHome: {existingClaim: home}
login:
  enabled: true
  users:
    authorizedKeys: {grace: "$1", slurmadmin: "$1"}
  nslcd:
    conf: |
      uri ldap://ldap/
      base dc=example,dc=org
END
}

test_a_user_of_a_directory_runs_a_job() {
  local output
  trap 'kubectl delete pod,service ldap --ignore-not-found >/dev/null' EXIT
  start_slapd
  install_login ldap_values grace
  output=$(ssh_as grace 'sbatch --quiet --wait -N1 -o out --wrap "id; whoami; echo ~; srun whoami" && cat out')
  assert_equal "in the job" "uid=5001(grace) gid=5001(grace) groups=5001(grace),5100(navy)
grace
/home/grace
grace" "$output"
  # The directory says that this one has the id of user slurm.
  if can_log_in slurmadmin; then fail "a user of the directory is Slurm's administrator"; fi
}
