# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A release with login pods, and ssh to them from the controller's pod, which has a client.

SSH_KEY=/tmp/login-test-key

ssh_as() { # USER COMMAND
  slurm ssh -i "$SSH_KEY" -o BatchMode=yes -o StrictHostKeyChecking=accept-new -o ConnectTimeout=10 \
    -o UserKnownHostsFile=/tmp/login-test-hosts "$1@slurm-login" "$2" 2>/dev/null </dev/null
}
has_login() { kubectl get statefulset slurm-login; }
can_log_in() { ssh_as "$1" true; }

put_key() { slurm sh -c "umask 077; cat >$SSH_KEY" <<<"$1"; }

# install_login FUNCTION USER: upgrades the release to the values that FUNCTION prints for a public key, with homes on a
# shared volume. The controller's pod is recreated, and its files with it. All installs of a namespace have the same
# key: a changed Secret reaches a login pod that is there after a minute or two.
install_login() {
  local key values
  key=${WORK:-/tmp}/login-key-$NAMESPACE
  if [[ ! -e $key.pub ]]; then
    slurm rm -f "$SSH_KEY" "$SSH_KEY.pub"
    slurm ssh-keygen -q -t ed25519 -N '' -f "$SSH_KEY" </dev/null
    slurm cat "$SSH_KEY" >"$key"
    slurm cat "$SSH_KEY.pub" >"$key.pub"
  fi
  values=$(mktemp)
  "$1" "$(<"$key.pub")" >"$values"
  kubectl apply -f - >/dev/null <<'END'
{"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "home"},
 "spec": {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "1Gi"}}}}
END
  "$BED" helm upgrade slurm "$E2E_FOLDER/../../helm/slurm" -n "$NAMESPACE" "${VALUES[@]}" -f "$values" \
    --wait --timeout "${LOGIN_SECONDS:-180}s" >/dev/null
  rm "$values"
  wait_for 60 "slurmctld up" controller_ready
  put_key "$(<"$key")"
  wait_for "${LOGIN_SECONDS:-180}" "ssh" can_log_in "$2"
}
