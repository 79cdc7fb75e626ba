# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Accounting: slurm.conf, slurmdbd, its database, their password, NetworkPolicies.

on=(--set accounting.enabled=true)
own=(--set "accounting.storageConfig.host=db.example.org,accounting.storageConfig.passwordKeyRef.name=db-login")
outside=(--set "accounting.external=true,accounting.externalConfig.host=dbd.example.org")

check "no accounting by default" lacks 'Accounting|slurmdbd|mariadb|JobAcctGather'
check "AccountingStorageType" has slurm.conf "AccountingStorageType=accounting_storage/slurmdbd" "${on[@]}"
check "AccountingStorageHost" has slurm.conf "AccountingStorageHost=slurm-accounting" "${on[@]}"
check "usage of jobs is gathered without control groups" has slurm.conf "JobAcctGatherType=jobacct_gather/linux" \
  "${on[@]}"
check "limits are not enforced by default" lacks 'AccountingStorageEnforce' "${on[@]}"
check "enforced limits" has slurm.conf "AccountingStorageEnforce=limits,qos" "${on[@]}" \
  --set 'accounting.enforce={limits,qos}'
check "invalid enforce" refused "/accounting/enforce/0" --set 'accounting.enforce={all}'
check "not with a slurmctld outside" refused "accounting.enabled: Forbidden" "${on[@]}" --set controller.external=true

check "slurmdbd outside: its host" has slurm.conf "AccountingStorageHost=dbd.example.org" "${on[@]}" "${outside[@]}"
check "slurmdbd outside: its port" has slurm.conf "AccountingStoragePort=7031" "${on[@]}" "${outside[@]}" \
  --set accounting.externalConfig.port=7031
check "slurmdbd outside: host required" refused "accounting.externalConfig.host: Required value" "${on[@]}" \
  --set accounting.external=true
check "slurmdbd outside: no pods" lacks '^  name: slurm-(accounting|mariadb)$' "${on[@]}" "${outside[@]}"

dbd_conf() { # LINE [OPTION...]: slurmdbd.conf has it
  shows accounting/slurmdbd_config "^    $1\$" "${on[@]}" "${@:2}"
}
check "slurmdbd.conf: its host is the pod" dbd_conf 'DbdHost=slurm-accounting-0'
check "slurmdbd.conf: Slurm's authentication" dbd_conf 'AuthType=auth/slurm'
check "slurmdbd.conf: munge before 23.11" dbd_conf 'AuthType=auth/munge' --set slurmVersion=22.05
check "slurmdbd.conf: the chart's database" dbd_conf 'StorageHost=slurm-mariadb'
check "slurmdbd.conf: another database" dbd_conf 'StorageHost=db.example.org' "${own[@]}"
check "slurmdbd.conf: extraConfMap: a large number" dbd_conf 'MaxQueryTimeRange=2000000' \
  --set-json accounting.extraConfMap.MaxQueryTimeRange=2000000
check "slurmdbd.conf: extraConfMap" dbd_conf 'PurgeJobAfter=12months' \
  --set accounting.extraConfMap.PurgeJobAfter=12months
check "slurmdbd.conf: extraConf" dbd_conf 'ArchiveJobs=yes' --set accounting.extraConf=ArchiveJobs=yes
check "no password in slurmdbd.conf" lacks 'StoragePass' \
  "${on[@]}" --show-only templates/accounting/slurmdbd_config.yaml

password_is_in_the_secret_alone() {
  local text password
  text=$(render "${on[@]}")
  password=$(sed -n 's/^  password: "\(.*\)"$/\1/p' <<<"$text")
  (($(base64 --decode <<<"$password" | wc -c) == 32)) || { echo "password: '$password'"; return 1; }
  (($(grep -cF -e "$password" -e "$(base64 --decode <<<"$password")" <<<"$text") == 1))
}
check "a password of 32 characters, in the Secret alone" password_is_in_the_secret_alone
check "slurmdbd that is not ready does not hold up a rollback" shows accounting/slurmdbd \
  '^  podManagementPolicy: Parallel$' "${on[@]}"
check "MariaDB that is not ready does not hold up a rollback" shows accounting/mariadb \
  '^  podManagementPolicy: Parallel$' "${on[@]}"
check "the password is kept at uninstall" shows accounting/password 'helm.sh/resource-policy: keep' "${on[@]}"
check "another key in the chart's Secret" shows accounting/password '^  pass: ' "${on[@]}" \
  --set accounting.storageConfig.passwordKeyRef.key=pass
check "an own Secret: none is made" lacks '^  password:' "${on[@]}" \
  --set accounting.storageConfig.passwordKeyRef.name=db-login
check "an own Secret: slurmdbd" shows accounting/slurmdbd 'secretName: db-login$' "${on[@]}" "${own[@]}"
check "an own Secret: its key" shows accounting/slurmdbd 'items: \[\{key: pass, path: password, mode: 0400\}\]' \
  "${on[@]}" \
  "${own[@]}" --set accounting.storageConfig.passwordKeyRef.key=pass
check "an own Secret: MariaDB" shows accounting/mariadb 'secretName: db-login$' "${on[@]}" \
  --set accounting.storageConfig.passwordKeyRef.name=db-login
check "another database: Secret required" refused "passwordKeyRef.name: Required value" "${on[@]}" \
  --set accounting.storageConfig.host=db.example.org
check "another database: no MariaDB" lacks 'mariadb' "${on[@]}" "${own[@]}"
check "invalid name of a database" refused "/accounting/storageConfig/database" \
  --set 'accounting.storageConfig.database=a;b'

check "MariaDB: half of its memory is the buffer pool" shows accounting/mariadb 'innodb-buffer-pool-size=1024M$' \
  "${on[@]}" \
  --set accounting.mariadb.resources.limits.memory=2Gi
check "MariaDB: no limit, no buffer pool" lacks 'innodb-buffer' "${on[@]}" \
  --set accounting.mariadb.resources.limits.memory=null
check "MariaDB: volume" shows accounting/mariadb '^            storage: 3Gi$' "${on[@]}" \
  --set accounting.mariadb.persistence.resources.requests.storage=3Gi
check "MariaDB: own claim" shows accounting/mariadb 'claimName: mine' "${on[@]}" \
  --set accounting.mariadb.persistence.existingClaim=mine
check "MariaDB: podSpec" shows accounting/mariadb '^      terminationGracePeriodSeconds: 5$' "${on[@]}" \
  --set accounting.mariadb.podSpec.terminationGracePeriodSeconds=5
check "slurmdbd: a volume for archives" shows accounting/slurmdbd '^            - mountPath: /archive$' "${on[@]}" \
  --set-json 'accounting.slurmdbd.volumeMounts=[{"name":"archive","mountPath":"/archive"}]'
check "slurmdbd: podSpec" shows accounting/slurmdbd '^      priorityClassName: high$' "${on[@]}" \
  --set accounting.podSpec.priorityClassName=high

# Pod Security level `restricted`, and a root file system that cannot be written.
is_restricted() { # TEMPLATE
  local line
  for line in 'runAsNonRoot: true' 'allowPrivilegeEscalation: false' 'readOnlyRootFilesystem: true' 'drop: \[ALL\]' \
    'automountServiceAccountToken: false' 'type: RuntimeDefault'; do
    shows "$1" "$line" "${on[@]}" || return 1
  done
}
check "slurmdbd: restricted" is_restricted accounting/slurmdbd
check "MariaDB: restricted" is_restricted accounting/mariadb

from_slurmdbd_alone() {
  local text
  text=$(object NetworkPolicy slurm-mariadb "${on[@]}")
  (($(grep -c 'app.kubernetes.io/name:' <<<"$text") == 2)) && grep -q 'app.kubernetes.io/name: slurmdbd' <<<"$text"
}
check "MariaDB: connections of slurmdbd alone" from_slurmdbd_alone
check "MariaDB: it connects to nothing" part '^  policyTypes: \[Ingress, Egress\]$' NetworkPolicy slurm-mariadb \
  "${on[@]}"
check "slurmdbd: connections of Slurm's pods" part '^        - \{port: 6819\}$' NetworkPolicy slurm-accounting \
  "${on[@]}"
check "slurmdbd connects to slurmctld" part 'app.kubernetes.io/name: slurmdbd$' NetworkPolicy slurm-controller \
  "${on[@]}"
check "accounting without network policies" lacks 'NetworkPolicy' "${on[@]}" --set networkPolicy.enabled=false

dbd_hash() { render --show-only templates/accounting/slurmdbd.yaml "${on[@]}" "$@" | grep config-hash; }
slurmdbd_is_restarted() {
  [[ $(dbd_hash) == "$(dbd_hash --set slurm.suspendTime=7)" ]] &&
    [[ $(dbd_hash) != "$(dbd_hash --set accounting.extraConf=DebugLevel=debug)" ]]
}
check "a change of slurmdbd.conf restarts slurmdbd, nothing else does" slurmdbd_is_restarted
check "slurmdbd: variables" shows accounting/slurmdbd '^            - name: A$' "${on[@]}" \
  --set-json 'accounting.slurmdbd.env=[{"name":"A","value":"b"}]'
check "slurmdbd's Service" shows accounting/slurmdbd '^  type: LoadBalancer$' "${on[@]}" \
  --set accounting.service.spec.type=LoadBalancer
