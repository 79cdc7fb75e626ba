# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Secret slurm-keys with several keys, as slurm.jwks has them.

# shellcheck disable=SC2034 # of those that source this
OLD_KEY=old NEW_KEY=new
# Prints keys as slurm.jwks has them. The first is what Slurm signs with.
keys_json() { # NAME=BASE64…
  python3 -c '
import json, sys
keys = []
for argument in sys.argv[1:]:
    name, key = argument.split("=", 1)
    keys.append({"kty": "oct", "alg": "HS256", "kid": name, "k": key.translate({43: "-", 47: "_", 61: None})})
keys[0]["use"] = "default"
print(json.dumps({"keys": keys}))' "$@"
}
put_keys() { # NAME=BASE64…
  keys_json "$@" >"$KEYS_FILE"
  kubectl create secret generic slurm-keys --from-file=slurm.key="$KEYS_FILE" --dry-run=client -o yaml |
    kubectl apply -f - >/dev/null
}
controller_has_keys() { cmp -s "$KEYS_FILE" <(slurm cat /etc/slurm-key/slurm.key); }
node_has_keys() { cmp -s "$KEYS_FILE" <(kubectl exec "$1" -- cat /run/slurm-k8s/key/slurm.key); }
