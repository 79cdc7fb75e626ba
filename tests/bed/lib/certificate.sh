# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A certificate authority that lives as long as the bed, a certificate and a kubeconfig for each component.

certificate_key() {
  openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:prime256v1 -out "$1" 2>/dev/null
}

certificate_authority() {
  certificate_key ca.key
  openssl req -x509 -new -key ca.key -subj /CN=slurm-k8s-bed -days 365 -out ca.crt
  certificate_key service-account.key
  openssl pkey -in service-account.key -pubout -out service-account.pub
}

# certificate_issue NAME SUBJECT [EXTENSION]
certificate_issue() {
  local name=$1 subject=$2 extension=${3:-keyUsage=digitalSignature}
  certificate_key "$name.key"
  openssl req -new -key "$name.key" -subj "$subject" |
    openssl x509 -req -CA ca.crt -CAkey ca.key -CAcreateserial -days 365 -out "$name.crt" \
      -extfile <(printf '%s\n' "$extension") 2>/dev/null
}

# certificate_client NAME SUBJECT: also writes NAME.conf, a kubeconfig.
certificate_client() {
  certificate_issue "$1" "$2"
  cat >"$1.conf" <<END
apiVersion: v1
kind: Config
current-context: bed
contexts: [{name: bed, context: {cluster: bed, user: $1}}]
clusters:
- name: bed
  cluster: {server: "https://$NODE_ADDRESS:6443", certificate-authority-data: $(base64 -w 0 ca.crt)}
users:
- name: $1
  user: {client-certificate-data: $(base64 -w 0 "$1.crt"), client-key-data: $(base64 -w 0 "$1.key")}
END
}

certificate_all() (
  umask 077
  mkdir -p "$BED_STATE/pki"
  cd "$BED_STATE/pki" || exit
  certificate_authority
  local names=IP:127.0.0.1,IP:$NODE_ADDRESS,IP:$API_SERVICE_ADDRESS,DNS:kubernetes,DNS:kubernetes.default
  names+=,DNS:kubernetes.default.svc,DNS:kubernetes.default.svc.cluster.local
  certificate_issue apiserver /CN=kube-apiserver "subjectAltName=$names"
  certificate_issue front-proxy-client /CN=front-proxy-client
  certificate_client admin /O=system:masters/CN=admin
  certificate_client kube-controller-manager /CN=system:kube-controller-manager
  certificate_client kube-scheduler /CN=system:kube-scheduler
  certificate_client kubelet "/O=system:nodes/CN=system:node:$BED_NODE"
  certificate_client kube-proxy /CN=system:kube-proxy
)
