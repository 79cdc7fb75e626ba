# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Accounting with a database server that is not the chart's: a MariaDB beside the release, with MariaDB's default
# settings.
#
# Release: external-database

# shellcheck source=tests/e2e/accounting.sh
source "$E2E_FOLDER/accounting.sh"

make_server() { # MARIADB-OPTION…
  local image options
  image=$("$BED" helm template slurm "$E2E_FOLDER/../../helm/slurm" -n "$NAMESPACE" "${VALUES[@]}" \
    --set accounting.enabled=true --show-only templates/accounting/mariadb.yaml | awk '$1 == "image:" { print $2 }')
  options=$(printf '"%s", ' "$@")
  kubectl create secret generic site-db --from-literal=password='of the site' >/dev/null
  kubectl apply --filename=- >/dev/null <<END
apiVersion: v1
kind: Service
metadata: {name: site-db}
spec:
  selector: {app: site-db}
  ports: [{port: 3306}]
---
apiVersion: v1
kind: Pod
metadata: {name: site-db, labels: {app: site-db}}
spec:
  containers:
    - name: mariadb
      image: $image
      args: [${options%, }]
      env:
        - {name: MARIADB_DATABASE, value: jobs_of_the_site}
        - {name: MARIADB_USER, value: slurm_of_the_site}
        - {name: MARIADB_PASSWORD_FILE, value: /run/password/password}
      readinessProbe:
        exec: {command: [mariadb-admin, --defaults-file=/etc/mysql/slurm-k8s.cnf, ping]}
      volumeMounts:
        - {name: data, mountPath: /var/lib/mysql}
        - {name: password, mountPath: /run/password}
  securityContext: {runAsUser: 402, runAsGroup: 402, fsGroup: 402}
  volumes:
    - {name: data, emptyDir: {}}
    - {name: password, secret: {secretName: site-db}}
END
  wait_for 90 "the site's database" is_server_up
}
is_server_up() { [[ $(kubectl get pod site-db -o jsonpath='{.status.containerStatuses[0].ready}') == true ]]; }
sql() { kubectl exec site-db -- mariadb --defaults-file=/etc/mysql/slurm-k8s.cnf --skip-column-names --batch -e "$1"; }
delete_server() {
  kubectl delete pod site-db --ignore-not-found --grace-period=1 >/dev/null
  kubectl delete service,secret site-db --ignore-not-found >/dev/null
}

# As docs/admin/accounting.md has it. Ends when slurmctld runs with slurmdbd.
use_server() {
  "$BED" helm upgrade slurm "$E2E_FOLDER/../../helm/slurm" -n "$NAMESPACE" "${VALUES[@]}" -f - >/dev/null <<'END'
accounting:
  enabled: true
  storageConfig:
    host: site-db
    database: jobs_of_the_site
    username: slurm_of_the_site
    passwordKeyRef: {name: site-db, key: password}
END
}
slurmdbd_says() { grep -F -- "$1" <<<"$(slurmdbd_log)" >/dev/null; }

test_settings_of_the_server_are_checked() {
  local job statement upgrade
  delete_server
  trap delete_server EXIT
  make_server --innodb-snapshot-isolation=ON --innodb-lock-wait-timeout=50
  use_server &
  upgrade=$!
  wait_for 90 "the setting and the statement" slurmdbd_says \
    "site-db:3306: innodb_snapshot_isolation=ON: slurmdbd would lose records (error 1020)"
  slurmdbd_says "slurmdbd version" && fail "slurmdbd has started"
  statement=$(slurmdbd_log | sed -n 's/.*Run there: \(SET GLOBAL innodb_snapshot_isolation=[A-Z]*;\).*/\1/p' | head -1)
  [[ $statement ]] || fail "no statement: $(slurmdbd_log)"
  sql "$statement"
  wait_for 90 "slurmdbd" has_slurmdbd
  slurmdbd_says "innodb_lock_wait_timeout=50 is less than 900. Run there: SET GLOBAL innodb_lock_wait_timeout=900;" ||
    fail "nothing about innodb_lock_wait_timeout: $(slurmdbd_log)"
  wait_for 120 "slurmctld up" controller_ready
  wait "$upgrade" || fail "helm upgrade has failed"
  assert_equal "a MariaDB of the chart" "" "$(kubectl get statefulset slurm-mariadb --ignore-not-found -o name)"
  job=$(submit --wrap true)
  wait_for 90 "job $job in sacct" is_in_sacct "$job" "COMPLETED|0:0"
  assert_equal "the job in the site's database" 3 \
    "$(sql "SELECT state FROM jobs_of_the_site.slurm_job_table WHERE id_job = $job")" # JOB_COMPLETE
}
