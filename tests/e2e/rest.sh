# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A release with slurmrestd, and requests to it from the controller's pod, which has curl.

REST=http://slurm-rest:6820

# Prints the body, then the HTTP status on a line of its own.
api() { # TOKEN METHOD PATH [JSON]
  slurm curl -sS --max-time 30 -w '\n%{http_code}\n' -X "$2" -H "X-SLURM-USER-TOKEN: $1" \
    ${4:+-H 'Content-Type: application/json' -d "$4"} "$REST$3"
}
api_status() { api "$@" | tail -1; }
has_status() { [[ $(api_status "${@:2}") == "$1" ]]; } # STATUS TOKEN METHOD PATH
# The body's value at a path of keys and indexes.
api_field() { # PATH TOKEN METHOD PATH [JSON]
  api "${@:2}" | sed '$d' | python3 -c '
import json, sys
value = json.load(sys.stdin)
for key in sys.argv[1].split("."):
    value = value[int(key) if key.isdigit() else key]
print(" ".join(value) if isinstance(value, list) and all(isinstance(one, str) for one in value) else value)' "$1"
}
# The newest version of the API that this slurmrestd has.
api_version() { # TOKEN
  api "$1" GET /openapi.json | sed '$d' | python3 -c '
import json, sys
paths = json.load(sys.stdin)["paths"]
print(max(path.split("/")[2] for path in paths if path.startswith("/slurm/")))'
}

secret_token() { kubectl get secret "$1" -o jsonpath='{.data.SLURM_JWT}' | base64 --decode; } # SECRET
has_token() { [[ $(secret_token "$1") == *.*.* ]]; }
has_another_token() { has_token "$1" && [[ $(secret_token "$1") != "$2" ]]; } # SECRET TOKEN
# The time when a token expires, as its own words have it.
token_expires() { # TOKEN
  python3 -c '
import base64, json, sys
part = sys.argv[1].split(".")[1]
print(json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))["exp"])' "$1"
}

# What an identity provider does: keys, and tokens that they sign.

make_key() { openssl genrsa -out "$1.pem" 2048 2>/dev/null; } # FILE
# jwks.json with these public keys.
public_keys() { # FILE…
  local file
  for file; do printf '%s %s\n' "${file##*/}" "$(openssl rsa -in "$file.pem" -noout -modulus | cut -d= -f2)"; done |
    python3 -c '
import base64, json, sys
def encode(number): return base64.urlsafe_b64encode(bytes.fromhex(number)).decode().rstrip("=")
print(json.dumps({"keys": [{"kty": "RSA", "alg": "RS256", "kid": kid, "n": encode(modulus), "e": "AQAB"}
                           for kid, modulus in (line.split() for line in sys.stdin)]}))'
}
encode_part() { openssl base64 -A | tr '+/' '-_' | tr -d '='; }
sign_token() { # FILE USER
  local now text
  now=$(date +%s)
  text=$(printf '{"alg":"RS256","typ":"JWT","kid":"%s"}' "${1##*/}" | encode_part).$(
    printf '{"sun":"%s","iat":%d,"exp":%d}' "$2" "$now" "$((now + 900))" | encode_part)
  printf '%s.%s\n' "$text" "$(printf '%s' "$text" | openssl dgst -sha256 -sign "$1.pem" | encode_part)"
}
