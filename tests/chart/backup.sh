# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Backups: CronJobs, their volumes, what they may reach.

on=(--set "backup.enabled=true,accounting.enabled=true")
bare=(--set backup.enabled=true)

lacks_in_backup() { # PATTERN [OPTION...]
  ! object CronJob slurm-backup "${@:2}" | grep -E -- "$1"
}
check "no backups by default" lacks 'backup|CronJob'
check "not with a slurmctld outside" refused "backup.enabled: Forbidden: with controller.external" \
  "${bare[@]}" --set controller.external=true
check "not without a volume of slurmctld" refused "backup.enabled: Forbidden: without controller.persistence.enabled" \
  "${bare[@]}" --set controller.persistence.enabled=false
check "invalid schedule" refused "/backup/schedule" "${bare[@]}" --set backup.schedule=daily
check "containers in podSpec" refused "/backup/podSpec" "${bare[@]}" --set backup.podSpec.initContainers=

check "schedule" shows backup/backup 'schedule: "0 1 \* \* \*"' "${on[@]}" --set 'backup.schedule=0 1 * * *'
check "time zone" shows backup/backup 'timeZone: "Europe/Berlin"' "${on[@]}" --set backup.timeZone=Europe/Berlin
check "one at a time" shows backup/backup 'concurrencyPolicy: Forbid' "${on[@]}"
check "on request only" shows backup/backup 'suspend: true' "${on[@]}" --set backup.suspend=true
check "number of archives" shows backup/backup 'name: KEEP, value: "3"' "${on[@]}" --set backup.keep=3
check "a deadline" shows backup/backup '^      activeDeadlineSeconds: 60$' "${on[@]}" \
  --set backup.activeDeadlineSeconds=60
check "templates never run by themselves" shows backup/restore '^  suspend: true$' "${on[@]}"
check "nor that of files" shows backup/files '^  suspend: true$' "${on[@]}"

steps() { # TEMPLATE STEPS [OPTION...]: its containers, in this order
  local found
  found=$(render --show-only "templates/backup/$1.yaml" "${@:3}" | sed -nE 's/.*slurm-k8s-archive, ([a-z-]+)\]/\1/p' |
    paste -sd ' ')
  [[ $found == "$2" ]] || { echo "$found"; return 1; }
}
check "the state is copied before the database" steps backup "save-state save-database pack" "${on[@]}"
check "without accounting: no database" steps backup "save-state pack" "${bare[@]}"
check "slurmdbd outside: no database" steps backup "save-state pack" "${on[@]}" \
  --set accounting.external=true,accounting.externalConfig.host=dbd
check "a restore" steps restore "begin load-database load-state" "${on[@]}"
check "a restore without accounting" steps restore "begin load-state" "${bare[@]}"

check "the volume of slurmctld's state" shows backup/backup 'claimName: state-slurm-controller-0' "${on[@]}"
check "an own one" shows backup/restore 'claimName: mine' "${on[@]}" --set controller.persistence.existingClaim=mine
check "a backup does not write to it" shows backup/backup 'mountPath: /var/spool/slurmctld, readOnly: true' "${on[@]}"
check "beside slurmctld" shows backup/backup 'podAffinity' "${on[@]}"
check "not where the volume can be anywhere" lacks_in backup/backup 'podAffinity' "${on[@]}" \
  --set 'controller.persistence.accessModes={ReadWriteMany}'
check "a restore is where the volume is" lacks_in backup/restore 'podAffinity' "${on[@]}"

check "the archives outlive the release" shows backup/claim 'helm.sh/resource-policy: keep' "${on[@]}"
check "their size" shows backup/claim 'storage: 5Ti' "${on[@]}" --set backup.persistence.resources.requests.storage=5Ti
check "an own claim: used" shows backup/backup 'claimName: nfs\}$' "${on[@]}" --set backup.persistence.existingClaim=nfs
check "an own claim: none is made" lacks '^kind: PersistentVolumeClaim' "${on[@]}" \
  --set backup.persistence.existingClaim=nfs

check "the claim is bound at once" shows backup/claim_use 'claimName: slurm-backup' "${on[@]}"
check "an own claim: not mounted before a backup" lacks 'name: slurm-backup-volume-' "${on[@]}" \
  --set backup.persistence.existingClaim=nfs
job_name() { render --show-only templates/backup/claim_use.yaml "${on[@]}" "$@" | sed -n 's/^  name: //p'; }
another_name() { [[ $(job_name) != "$(job_name "$@")" ]] || job_name; }
check "a Job with another image has another name" another_name --set images.tag=other

own=(--set "accounting.storageConfig.host=db.example.org,accounting.storageConfig.passwordKeyRef.name=db-login")
check "another database: host" shows backup/backup 'name: DATABASE_HOST, value: "db.example.org"' "${on[@]}" "${own[@]}"
check "another database: Secret" shows backup/restore 'secretName: db-login' "${on[@]}" "${own[@]}"
check "another database: the client" shows backup/client_conf '^    ssl-ca=/x$' "${on[@]}" "${own[@]}" \
  --set backup.clientConf=ssl-ca=/x
tls=(--set 'backup.volumeMounts[0].name=tls,backup.volumeMounts[0].mountPath=/tls'
  --set 'backup.podSpec.volumes[0].name=tls,backup.podSpec.volumes[0].secret.secretName=db-tls')
mounted_by() { # TEMPLATE STEP: that volume, by this container alone
  local found
  found=$(render --show-only "templates/backup/$1.yaml" "${on[@]}" "${tls[@]}" |
    awk '/command:/ { step = $NF } /mountPath: \/tls$/ { print step }') || return 1
  [[ $found == "$2" ]] || { echo "mounted by: $found"; return 1; }
}
check "another database: a volume for a backup" mounted_by backup "save-database]"
check "another database: a volume for a restore" mounted_by restore "load-database]"
check "another database: the volume" shows backup/restore 'secretName: db-tls' "${on[@]}" "${tls[@]}"
check "the pod of files does not mount it" mounted_by files ""

# Of the containers, those of the database alone; in no variable.
password_is_where_needed() {
  local template text
  for template in backup restore; do
    text=$(render --show-only "templates/backup/$template.yaml" "${on[@]}")
    (($(grep -c 'mountPath: /run/slurm-k8s/database, readOnly: true' <<<"$text") == 1)) || return 1
    if grep -iE 'name: \w*password|secretKeyRef' <<<"$text"; then return 1; fi
  done
}
check "the password is a file of one container" password_is_where_needed
check "archives' pods have no password" lacks_in backup/files 'secret' "${on[@]}"

# Pod Security level `restricted`, and a root file system that cannot be written.
is_restricted() { # TEMPLATE
  local line
  for line in 'runAsNonRoot: true' 'allowPrivilegeEscalation: false' 'readOnlyRootFilesystem: true' \
    'automountServiceAccountToken: false' 'type: RuntimeDefault' 'runAsUser: 401'; do
    shows "backup/$1" "$line" "${on[@]}" || return 1
  done
}
for template in backup restore files; do check "restricted: $template" is_restricted "$template"; done
check "pull secrets" shows backup/files 'name: pull$' "${on[@]}" --set 'imagePullSecrets[0].name=pull'
check "podSpec" shows backup/backup 'priorityClassName: low' "${on[@]}" --set backup.podSpec.priorityClassName=low
check "labels" shows backup/restore 'team: a' "${on[@]}" --set backup.metadata.labels.team=a

check "MariaDB lets them in" part 'app.kubernetes.io/name: slurm-backup$' NetworkPolicy slurm-mariadb "${on[@]}"
check "no connections to them" shows backup/network_policy '^  policyTypes: \[Ingress\]$' "${on[@]}"
check "a restore may ask whether slurmctld runs" shows backup/restore 'slurm-k8s.io/client: "true"' "${on[@]}"
check "a backup may not" lacks_in backup/backup 'slurm-k8s.io/client' "${on[@]}"
check "what a restore stops" shows backup/restore 'slurm-k8s.io/controller-replicas: "2"' "${on[@]}" \
  --set controller.replicas=2,controller.persistence.existingClaim=rwx
check "no right in Kubernetes" lacks_in controller/rbac 'statefulsets|cronjobs|jobs' "${on[@]}"
check "tolerations of slurmctld's pod" part '^ *- key: infra$' CronJob slurm-backup "${bare[@]}" \
  --set-json 'controller.podSpec={"tolerations": [{"key": "infra", "operator": "Exists"}]}'
own_selector=(--set-json 'controller.podSpec={"nodeSelector": {"role": "infra"}}'
  --set-json 'backup.podSpec={"nodeSelector": {"zone": "a"}}')
check "a node selector of its own" part '^ *zone: a$' CronJob slurm-backup "${bare[@]}" "${own_selector[@]}"
check "takes the place of slurmctld's" lacks_in_backup '^ *role: infra$' "${bare[@]}" "${own_selector[@]}"
check "not with a volume for one pod" refused "backup.enabled: Forbidden: with ReadWriteOncePod" "${bare[@]}" \
  --set 'controller.persistence.accessModes={ReadWriteOncePod}'
