# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What the tests of users' software share: ada, an ordinary user, on a login pod. Nodes and login pod have
# images/clients, in which the software is as PyPI and Debian have it.

CLIENTS=$E2E_FOLDER/../clients

# ada SCRIPT: on the login pod, in her home, with the venv. Standard input goes to it.
ada() {
  "$BED" fault exec login/login setpriv --reuid=ada --regid=ada --init-groups --inh-caps=-all \
    env --chdir=/home/ada HOME=/home/ada USER=ada LOGNAME=ada \
    timeout --kill-after=5 200 bash -c ". /opt/clients/bin/activate && $1"
}
# ada_file NAME, its text on standard input.
ada_file() { ada "mkdir -p \$(dirname $1) && cat >$1"; }

login_is_ready() { [[ $(kubectl get pod login -o jsonpath='{.status.containerStatuses[*].ready}') == true ]]; }
CLIENTS_VALUES=() # more options of helm
# ada_logs_in: the release gets what values.yaml says and a login pod, unless it has them; no pod of a node runs.
ada_logs_in() {
  local uid
  trap log_out EXIT
  if login_is_ready; then return; fi
  kubectl apply -f - >/dev/null <<'END'
{"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "home"},
 "spec": {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "1Gi"}}}}
END
  "$BED" helm upgrade slurm "$E2E_FOLDER/../../helm/slurm" -n "$NAMESPACE" "${VALUES[@]}" -f "$CLIENTS/values.yaml" \
    "${CLIENTS_VALUES[@]}" --wait --timeout 180s >/dev/null
  uid=$(kubectl get service slurm-controller -o jsonpath='{.metadata.uid}')
  sed "s/@TAG@/$IMAGE_TAG/; s/@UID@/$uid/" "$CLIENTS/login.yaml" | kubectl apply -f - >/dev/null
  wait_for 60 "the login pod" login_is_ready
  to_zero
}
log_out() { ada 'scancel --user=ada' </dev/null || true; }

# Lines "KEY: text" of a program's output.
said() { sed -n "s/^$1: //p" <<<"$2"; } # KEY OUTPUT
