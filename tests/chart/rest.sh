# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# REST: slurmrestd, the key of tokens, tokens in Secrets, NetworkPolicies.

on=(--set "rest.enabled=true,accounting.enabled=true")
token=(--set-json 'rest.tokens=[{"user":"ada","secretName":"ada-token"}]')

check "no REST by default" lacks 'slurm-rest|slurmrestd|jwt|AuthAlt|extrausers|--token'
# slurmrestd does not start with the paths of a slurmdbd that slurm.conf lacks.
check "without accounting: slurmctld alone" part '^ +- openapi/slurmctld$' Deployment slurm-rest --set rest.enabled=true
check "with accounting: slurmdbd, too" part '^ +- openapi/slurmctld,openapi/slurmdbd$' Deployment slurm-rest "${on[@]}"
check "without accounting: tokens" has slurm.conf "AuthAltTypes=auth/jwt" --set rest.enabled=true
check "not before Slurm 24.05" refused "rest.enabled: Forbidden: before 24.05" "${on[@]}" --set slurmVersion=22.05
check "not with a slurmctld outside" refused "rest.enabled: Forbidden: with controller.external" \
  --set rest.enabled=true,controller.external=true

check "slurm.conf: tokens" has slurm.conf "AuthAltTypes=auth/jwt" "${on[@]}"
check "slurm.conf: the key" has slurm.conf "AuthAltParameters=jwt_key=/etc/slurm-jwt/jwt_hs256.key" "${on[@]}"
check "slurm.conf: other keys and parameters" has slurm.conf \
  "AuthAltParameters=jwt_key=/etc/slurm-jwt/jwt_hs256.key,jwks=/etc/slurm-jwt/jwks.json,max_token_lifespan=60" \
  "${on[@]}" --set 'rest.jwks.existingConfigMap=keys,rest.authAltParameters={max_token_lifespan=60}'
check "slurm.conf: client ids" has slurm.conf "AuthInfo=cred_expire=30,use_client_ids" "${on[@]}"
check "slurmdbd.conf: tokens" shows accounting/slurmdbd_config '^    AuthAltTypes=auth/jwt$' "${on[@]}"
check "slurmdbd.conf: the key" shows accounting/slurmdbd_config \
  '^    AuthAltParameters=jwt_key=/etc/slurm-jwt/jwt_hs256.key$' "${on[@]}"

key_is_in_the_secret_alone() {
  local text key
  text=$(render "${on[@]}")
  key=$(sed -n 's/^  jwt_hs256.key: "\(.*\)"$/\1/p' <<<"$text")
  (($(base64 --decode <<<"$key" | wc -c) == 32)) || { echo "key: '$key'"; return 1; }
  (($(grep -cF -- "$key" <<<"$text") == 1))
}
check "a key of 32 bytes, in the Secret alone" key_is_in_the_secret_alone
check "the key is kept" shows rest/jwt_key 'helm.sh/resource-policy: keep' "${on[@]}"
check "an own key: none is made" lacks '^  jwt_hs256.key:' "${on[@]}" --set rest.jwtKey.existingSecret=mine
check "an own key: slurmctld" part '^ +name: mine$' StatefulSet slurm-controller \
  "${on[@]}" --set rest.jwtKey.existingSecret=mine

# Neither slurmrestd nor the sidecar has it.
key_is_where_needed() {
  local text
  text=$(render "${on[@]}" --set bridge.enabled=true,login.enabled=true,controller.configPush.enabled=true)
  (($(grep -c 'mountPath: /etc/slurm-jwt' <<<"$text") == 2)) || return 1
  [[ $(awk '/- name: / { name = $3 } /mountPath: \/etc\/slurm-jwt/ { print name }' <<<"$text" | paste -sd ' ') == \
    "slurmdbd slurmctld" ]]
}
check "the key is mounted in slurmctld and slurmdbd alone" key_is_where_needed
check "jwks.json is mounted" part 'configMap: \{name: keys, items: \[\{key: jwks.json' StatefulSet slurm-controller \
  "${on[@]}" --set rest.jwks.existingConfigMap=keys
check "slurmctld knows the users" part 'mountPath: /var/lib/extrausers, readOnly' StatefulSet \
  slurm-controller "${on[@]}"
check "slurmrestd knows the users" shows rest/deployment 'mountPath: /var/lib/extrausers, readOnly' "${on[@]}"
check "users without login pods" shows login/users '^  passwd: "ada:x' "${on[@]}" \
  --set login.users.passwd=ada:x:2001:2001::/home/ada:/bin/bash
check "slurmctld starts without users" part 'optional: true' StatefulSet slurm-controller "${on[@]}"

check "slurmrestd: tokens only" shows rest/deployment '^            - rest_auth/jwt$' "${on[@]}"
check "slurmrestd: additional arguments" shows rest/deployment '^            - -vv$' "${on[@]}" --set 'rest.args={-vv}'
check "slurmrestd: image" shows rest/deployment 'image: "r/slurmrestd:7"' "${on[@]}" \
  --set images.registry=r,rest.image.tag=7
check "slurmrestd: pods" shows rest/deployment '^  replicas: 3$' "${on[@]}" --set rest.replicas=3
check "slurmrestd: its own user" shows rest/deployment '^ +runAsUser: 404$' "${on[@]}"
check "slurmrestd: podSpec" shows rest/deployment '^      priorityClassName: high$' "${on[@]}" \
  --set rest.podSpec.priorityClassName=high
check "slurmrestd: Service" shows rest/service '^      port: 80$' "${on[@]}" --set rest.service.port=80
check "slurmrestd: neither Slurm's key nor a service account's token" lacks_in rest/deployment \
  'slurm.key|jwt-key|slurm-jwt|serviceAccountToken' "${on[@]}"
rest_is_restricted() {
  local line
  for line in 'runAsNonRoot: true' 'allowPrivilegeEscalation: false' 'readOnlyRootFilesystem: true' 'drop: \[ALL\]' \
    'automountServiceAccountToken: false' 'type: RuntimeDefault'; do
    shows rest/deployment "$line" "${on[@]}" || return 1
  done
}
check "slurmrestd: restricted" rest_is_restricted

rest_hash() { render --show-only templates/rest/deployment.yaml "${on[@]}" "$@" | grep config-hash; }
rest_is_restarted() { [[ $(rest_hash) != "$(rest_hash --set slurm.suspendTime=7)" ]]; }
check "a change of slurm.conf restarts slurmrestd" rest_is_restarted

check "tokens: the sidecar's argument" shows controller/statefulset '^            - ada=slurm/ada-token:3600$' \
  "${on[@]}" "${token[@]}"
check "tokens: an empty Secret" part '^type: Opaque$' Secret ada-token "${on[@]}" "${token[@]}"
check "tokens: another namespace, another time" shows controller/statefulset \
  '^            - ada=team/t:60$' "${on[@]}" \
  --set-json 'rest.tokens=[{"user":"ada","secretName":"t","namespace":"team","lifespan":60}]'
right_to_patch_alone() {
  local text tokens='{"user":"a","secretName":"x"},{"user":"b","secretName":"y"}'
  text=$(render "${on[@]}" --show-only templates/rest/token_rbac.yaml \
    --set-json "rest.tokens=[$tokens,{\"user\":\"c\",\"secretName\":\"z\",\"namespace\":\"team\"}]")
  [[ $(grep -c '^kind: Role$' <<<"$text") == 2 && $(grep -c 'verbs: \[patch\]' <<<"$text") == 2 ]] || return 1
  (($(grep -c 'verbs:' <<<"$text") == 2)) || return 1
  grep -qx '    resourceNames: \[x, y\]' <<<"$text" && grep -qx '    resourceNames: \[z\]' <<<"$text"
}
check "tokens: right to patch these Secrets alone" right_to_patch_alone
check "tokens: none, no right" lacks 'resources: \[secrets\]' "${on[@]}"
check "tokens: two in a Secret" refused "two tokens in Secret slurm/x" "${on[@]}" \
  --set-json 'rest.tokens=[{"user":"a","secretName":"x"},{"user":"b","secretName":"x","namespace":"slurm"}]'
check "tokens: an invalid user" refused "/rest/tokens/0/user" "${on[@]}" \
  --set-json 'rest.tokens=[{"user":"a=b","secretName":"x"}]'
check "tokens: too short" refused "/rest/tokens/0/lifespan" "${on[@]}" \
  --set-json 'rest.tokens=[{"user":"a","secretName":"x","lifespan":59}]'

check "NetworkPolicy: pods of the namespace" part '^        - podSelector: \{\}$' NetworkPolicy slurm-rest "${on[@]}"
check "NetworkPolicy: others" part 'cidr: 10.0.0.0/8' NetworkPolicy slurm-rest \
  "${on[@]}" --set-json 'networkPolicy.restFrom=[{"ipBlock":{"cidr":"10.0.0.0/8"}}]'
check "NetworkPolicy: slurmrestd's own connections" part '^  policyTypes: \[Ingress, Egress\]$' NetworkPolicy \
  slurm-rest "${on[@]}"
check "NetworkPolicy: to slurmctld" part 'app.kubernetes.io/name: slurmrestd$' NetworkPolicy slurm-controller "${on[@]}"
check "NetworkPolicy: to slurmdbd" part 'app.kubernetes.io/name: slurmrestd$' NetworkPolicy slurm-accounting "${on[@]}"
check "NetworkPolicy: a slurmdbd of the site" part '^        - \{port: 7031\}$' NetworkPolicy slurm-rest "${on[@]}" \
  --set accounting.external=true,accounting.externalConfig.host=dbd,accounting.externalConfig.port=7031
no_way_to_slurmdbd() {
  local policy
  policy=$(render --set rest.enabled=true --show-only templates/rest/network_policy.yaml)
  [[ $policy == *'{port: 6817}'* && $policy != *6819* ]]
}
check "NetworkPolicy: to no slurmdbd without accounting" no_way_to_slurmdbd
check "NetworkPolicy: DNS servers of OpenShift, too" part '^        - \{port: 5353, protocol: UDP\}$' \
  NetworkPolicy slurm-rest "${on[@]}"
dns_port_alone() {
  local policy
  policy=$(render "${on[@]}" --show-only templates/rest/network_policy.yaml --set-json networkPolicy.dnsPorts=[1053])
  [[ $policy == *'{port: 1053, protocol: UDP}'*'{port: 1053, protocol: TCP}'* && $policy != *'port: 53'* ]]
}
check "NetworkPolicy: another port of DNS servers" dns_port_alone
check "REST without network policies" lacks 'NetworkPolicy' "${on[@]}" --set networkPolicy.enabled=false

check "one pod: always evicted" lacks 'PodDisruptionBudget' "${on[@]}"
check "several: one at a time" part '^ +maxUnavailable: 1$' PodDisruptionBudget slurm-rest \
  "${on[@]}" --set rest.replicas=3
