#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs a program against the fake API server: makes a CA and certificates, starts the server, writes a kubeconfig.
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: with_fake.sh PROGRAM [ARGUMENT...]
The program gets SLURM_K8S_CONTRACT_KUBECONFIG (the fake's administrator) and SLURM_K8S_CONTRACT_FOLDER, which holds
config, ca.crt, other-ca.crt (which signed nothing), client.crt, client.key and port; and in trusted what a machine that
trusts ca.crt has in /etc/ssl/certs.
TEXT
}

case ${1:-} in
  --help) usage; exit 0 ;;
  '' | -*) usage >&2; exit 2 ;;
esac

python=${PYTHON3:-python3}
openssl=${OPENSSL:-openssl}
for program in "$python" "$openssl"; do
  if [[ $program == false ]] || ! command -v "$program" >/dev/null; then
    echo "1..0 # SKIP the fake API server needs python3 and openssl"  # configure found none
    exit 0
  fi
done
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d "${TMPDIR:-/tmp}/slurm-k8s-contract-XXXXXX")
server_pid=
stop() {
  if [[ -n $server_pid ]]; then kill "$server_pid" 2>/dev/null || true; fi
  rm -rf "$folder"
}
trap stop EXIT
trap 'exit 143' INT TERM

# certificate NAME SUBJECT [EXTENSION]: NAME.crt and NAME.key; signed by ca, or by itself when NAME ends in ca.
certificate() {
  local name=$1 subject=$2 extension=${3:-}
  "$openssl" ecparam -name prime256v1 -genkey -noout -out "$folder/$name.key"
  if [[ $name == *ca ]]; then
    "$openssl" req -x509 -new -key "$folder/$name.key" -subj "$subject" -days 2 -out "$folder/$name.crt" \
      -addext keyUsage=critical,keyCertSign,cRLSign
  else
    "$openssl" req -new -key "$folder/$name.key" -subj "$subject" -out "$folder/$name.csr"
    "$openssl" x509 -req -in "$folder/$name.csr" -CA "$folder/ca.crt" -CAkey "$folder/ca.key" \
      -set_serial "0x$RANDOM$RANDOM" \
      -days 2 -out "$folder/$name.crt" -extfile <(printf '%s\n' "$extension") 2>/dev/null
  fi
}

certificate ca /CN=contract-ca
certificate other-ca /CN=other-ca
certificate server /CN=fake-apiserver 'subjectAltName=IP:127.0.0.1,DNS:localhost,DNS:kubernetes.default.svc'
certificate client /CN=admin extendedKeyUsage=clientAuth
mkdir "$folder/trusted"
cp "$folder/ca.crt" "$folder/trusted/ca-certificates.crt"
cp "$folder/ca.crt" "$folder/trusted/$("$openssl" x509 -in "$folder/ca.crt" -noout -hash).0"

PYTHONDONTWRITEBYTECODE=1 "$python" "$here/fake_apiserver/server.py" "$folder" &
server_pid=$!
for ((tries = 0; ; tries++)); do
  if [[ -s $folder/port ]]; then break; fi
  if ((tries > 300)) || ! kill -0 "$server_pid" 2>/dev/null; then
    echo "with_fake.sh: the fake API server did not start" >&2
    exit 1
  fi
  sleep 0.1
done

cat >"$folder/config" <<TEXT
apiVersion: v1
kind: Config
current-context: fake
contexts:
- name: fake
  context: {cluster: fake, user: admin, namespace: contract}
clusters:
- name: fake
  cluster:
    server: https://127.0.0.1:$(<"$folder/port")
    certificate-authority: ca.crt
users:
- name: admin
  user: {token: admin-token}
TEXT

export SLURM_K8S_CONTRACT_KUBECONFIG=$folder/config SLURM_K8S_CONTRACT_FOLDER=$folder \
  SLURM_K8S_CONTRACT_NAMESPACE=contract
"$@"
