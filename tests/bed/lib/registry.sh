# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A registry of container images on the bed's network, with TLS, as a cluster of a company has one: Debian's
# docker-registry. Its certificate is from the bed's authority, which the bed's containerd trusts there.

registry_configuration() {
  cat <<END
version: 0.1
log: {level: warn, accesslog: {disabled: true}}
storage: {filesystem: {rootdirectory: "$BED_STATE/registry"}}
http:
  addr: "$REGISTRY_ADDRESS"
  tls: {certificate: "$BED_STATE/pki/registry.crt", key: "$BED_STATE/pki/registry.key"}
END
}

# containerd looks there at each pull.
registry_trust() {
  local folder=$BED_STATE/registries/$REGISTRY_ADDRESS
  grep -qF "$BED_STATE/registries" "$BED_STATE/containerd.toml" ||
    die "registry: this bed was started by an older version (bed down, then bed up)"
  mkdir -p "$folder"
  cat >"$folder/hosts.toml" <<END
server = "https://$REGISTRY_ADDRESS"
[host."https://$REGISTRY_ADDRESS"]
  ca = "$BED_STATE/pki/ca.crt"
END
}

registry_serves() {
  component_get --cacert "$BED_STATE/pki/ca.crt" "https://$REGISTRY_ADDRESS/v2/"
}

# Prints its address.
registry_start() {
  state_require_up
  package_install docker-registry
  if ! process_pid registry >/dev/null; then
    (cd "$BED_STATE/pki" && umask 077 && certificate_issue registry /CN=registry "subjectAltName=IP:$NODE_ADDRESS")
    registry_trust
    registry_configuration >"$BED_STATE/registry.yaml"
    process_start registry docker-registry serve "$BED_STATE/registry.yaml"
  fi
  wait_until 60 "registry: ready (its log: $BED_LOG/registry.log)" registry_serves
  printf '%s\n' "$REGISTRY_ADDRESS"
}

registry_stop() {
  state_require_up
  process_kill registry
  rm -rf "$BED_STATE"/{registry,registry.yaml,registries}
}

registry_main() {
  case ${1:-} in
    start) registry_start ;;
    stop) registry_stop ;;
    *) usage_error 'registry: start or stop' ;;
  esac
}
