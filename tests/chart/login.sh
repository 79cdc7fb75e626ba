# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Login pods.

on=(--set login.enabled=true)

check "no login pods by default" lacks 'slurm-login|use_client_ids'
check "client ids" has slurm.conf "AuthInfo=cred_expire=30,use_client_ids" "${on[@]}"
check "not before Slurm 24.05" refused "login.enabled: Forbidden: before 24.05" "${on[@]}" --set slurmVersion=22.05
check "not with a slurmctld outside" refused "login.enabled: Forbidden: with controller.external" "${on[@]}" \
  --set controller.external=true

check "sackd: one controller" shows login/statefulset '^            - --conf-server=slurm-controller$' "${on[@]}"
check "sackd: two controllers" shows login/statefulset \
  '^            - --conf-server=slurm-controller-0,slurm-controller-1$' \
  "${on[@]}" --set controller.replicas=2,controller.persistence.existingClaim=state
check "two login pods" shows login/statefulset '^  replicas: 2$' "${on[@]}" --set login.replicas=2
check "their label for NetworkPolicies" shows login/statefulset 'slurm-k8s.io/client: "true"' "${on[@]}"
check "image" shows login/statefulset 'image: "r/login:7"' "${on[@]}" --set images.registry=r,login.image.tag=7
check "no fsGroup: homes keep their groups" lacks_in login/statefulset fsGroup "${on[@]}"

check "host keys are kept" shows login/host_keys 'helm.sh/resource-policy: keep' "${on[@]}"
check "host keys: an own Secret" shows login/statefulset 'secretName: keys, ' \
  "${on[@]}" --set login.hostKeys.existingSecret=keys
check "host keys: none of the chart then" lacks 'slurm-login-host-keys' \
  "${on[@]}" --set login.hostKeys.existingSecret=keys

check "slurmctld knows the users" part 'mountPath: /var/lib/extrausers, readOnly' StatefulSet slurm-controller \
  "${on[@]}"
check "slurmctld: an own Secret is for REST alone" lacks_in controller/statefulset extrausers "${on[@]}" \
  --set login.users.existingSecret=mine
mount="controller.slurmctld.volumeMounts[0]"
check "slurmctld: the site's own users" part 'name: mine, mountPath|mountPath: /var/lib/extrausers' StatefulSet \
  slurm-controller "${on[@]}" \
  --set "$mount.name=mine,$mount.mountPath=/var/lib/extrausers"
check "slurmctld: none of the chart then" lacks_in controller/statefulset 'name: users' "${on[@]}" \
  --set "$mount.name=mine,$mount.mountPath=/var/lib/extrausers"
check "users: passwd" shows login/users '^  passwd: "ada:x:2001:2001::/home/ada:/bin/bash\\n"$' "${on[@]}" \
  --set login.users.passwd=ada:x:2001:2001::/home/ada:/bin/bash
check "users: one newline at the end" shows login/users '^  group: "ada:x:2001:\\nb:x:2:\\n"$' "${on[@]}" \
  --set-json 'login.users.group="ada:x:2001:\nb:x:2:\n"'
check "users: an empty file" shows login/users '^  passwd: ""$' "${on[@]}"
check "users: keys" shows login/users '^  authorized_keys.ada: "ssh-ed25519 AAAA"$' "${on[@]}" \
  --set 'login.users.authorizedKeys.ada=ssh-ed25519 AAAA'
check "users: a name that is a path" refused "'../x' does not match" \
  "${on[@]}" --set-json 'login.users.authorizedKeys={"../x":"k"}'
check "users: an own Secret" shows login/statefulset 'secretName: people, ' \
  "${on[@]}" --set login.users.existingSecret=people
check "users: none of the chart then" lacks 'slurm-login-users' "${on[@]}" --set login.users.existingSecret=people

check "no nslcd by default" lacks_in login/statefulset nslcd-entrypoint "${on[@]}"
check "nslcd" shows login/statefulset 'nslcd-entrypoint' "${on[@]}" --set-string 'login.nslcd.conf=uri ldap://ldap/'
check "nslcd.conf" shows login/nslcd_config '^  nslcd.conf: "uri ldap://ldap/"$' "${on[@]}" \
  --set-string 'login.nslcd.conf=uri ldap://ldap/'
check "nslcd: an own Secret" shows login/statefulset 'secretName: ldap$' \
  "${on[@]}" --set login.nslcd.existingSecret=ldap
# secret_is_whole KIND NAME: all keys are files, also a certificate.
secret_is_whole() {
  object "$1" "$2" "${on[@]}" --set login.nslcd.existingSecret=ldap | grep -A3 'secretName: ldap$' |
    awk '/defaultMode: 0444/ { found = 1 } /items:/ { selected = 1 } END { exit !found || selected }'
}
check "nslcd: all keys of it in login pods" secret_is_whole StatefulSet slurm-login
check "nslcd: all keys of it beside slurmctld" secret_is_whole StatefulSet slurm-controller

directory=("${on[@]}" --set-string "login.nslcd.conf=uri ldap://ldap/")
check "a directory's users are copied for slurmctld" part 'args: \[users-entrypoint, --interval, "60", ldap,' \
  StatefulSet slurm-controller "${directory[@]}"
check "copies: they begin before slurmctld" part '^          restartPolicy: Always$' StatefulSet slurm-controller \
  "${directory[@]}"
check "copies: also beside an own Secret" part 'mountPath: /var/lib/extrausers, readOnly' StatefulSet slurm-controller \
  "${directory[@]}" --set login.users.existingSecret=mine
check "copies: none without a directory" lacks users-entrypoint "${on[@]}" --set rest.enabled=true
check "copies: switched off" lacks users-entrypoint "${directory[@]}" --set rest.enabled=true,login.nslcd.copyInterval=0
check "copies: not over the site's own users" lacks_in controller/statefulset users-entrypoint "${directory[@]}" \
  --set "$mount.name=mine,$mount.mountPath=/var/lib/extrausers"
rest=(--set rest.enabled=true --set accounting.enabled=true)
check "copies: for slurmdbd, which reads tokens" part users-entrypoint StatefulSet slurm-accounting \
  "${directory[@]}" "${rest[@]}"
check "copies: nslcd.conf without login pods" shows login/nslcd_config '^  nslcd.conf: "uri ldap://ldap/"$' \
  "${rest[@]}" --set-string 'login.nslcd.conf=uri ldap://ldap/'
check "nslcd.conf: not without login pods and REST" lacks 'ldap://ldap/' \
  --set-string 'login.nslcd.conf=uri ldap://ldap/'
check "copies: for slurmrestd" part users-entrypoint Deployment slurm-rest "${directory[@]}" "${rest[@]}"
check "copies: slurmrestd may connect to the directory" shows rest/network_policy 'port: 636' "${directory[@]}" \
  "${rest[@]}"
check "copies: init containers of values stay" part 'name: mine' StatefulSet slurm-accounting "${directory[@]}" \
  "${rest[@]}" --set-json 'accounting.podSpec.initContainers=[{"name":"mine","image":"i"}]'

check "homes: of the pod" shows login/statefulset 'name: own-home, mountPath: /home' "${on[@]}"
check "homes: sharedHome" shows login/statefulset 'claimName: homes' "${on[@]}" --set sharedHome.existingClaim=homes
check "homes: sharedHome alone" lacks_in login/statefulset '(own-home|SSHD_OWN_HOME)' "${on[@]}" \
  --set sharedHome.existingClaim=homes
check "homes: those of the pod are told apart" shows login/statefulset \
  '^            - \{name: SSHD_OWN_HOME, value: "true"\}$' "${on[@]}"
check "homes: a volume of the site alone" lacks_in login/statefulset own-home "${on[@]}" \
  --set-json 'login.sshd.volumeMounts=[{"name":"nfs","mountPath":"/home"}]'
check "sshd_config" shows login/sshd_config '^  extra.conf: "AllowGroups physics"$' "${on[@]}" \
  --set 'login.extraSshdConfig=AllowGroups physics'
check "podSpec" shows login/statefulset '^      priorityClassName: high$' \
  "${on[@]}" --set login.podSpec.priorityClassName=high
check "podSpec: containers" refused "/login/podSpec" "${on[@]}" --set-json 'login.podSpec.containers=[]'

check "Service: inside the cluster" shows login/service '^  type: ClusterIP$' "${on[@]}"
check "Service: a load balancer" shows login/service '^  type: LoadBalancer$' \
  "${on[@]}" --set login.service.spec.type=LoadBalancer
check "Service: port" shows login/service '^      port: 2022$' \
  "${on[@]}" --set login.service.port=2022
ssh_has_no_peers() {
  ! render --show-only templates/login/network_policy.yaml "${on[@]}" | sed -n '/# ssh/,/# srun/p' | grep 'from:'
}
check "NetworkPolicy: ssh from all" ssh_has_no_peers
check "NetworkPolicy: no metadata service" shows login/network_policy '^            except: \["169.254.169.254/32"\]$' \
  "${on[@]}"
check "NetworkPolicy: ssh from some" shows login/network_policy 'cidr: 10.0.0.0/8' "${on[@]}" \
  --set-json 'networkPolicy.loginFrom=[{"ipBlock":{"cidr":"10.0.0.0/8"}}]'

check "several pods: a drain evicts one at a time" part '^ +app.kubernetes.io/name: login$' \
  PodDisruptionBudget slurm-login "${on[@]}" --set login.replicas=2
