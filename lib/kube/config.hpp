// SPDX-License-Identifier: GPL-2.0-or-later
// Config: which API server, and as whom. Read from a pod's service account or from a kubeconfig file.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "http/curl_transport.hpp"

namespace slurmk8s::kube {

/** Everything needed to connect. Values of certificates are PEM text, already read and base64-decoded. */
struct Config {
  std::string server;  ///< https://host:port
  std::string ca_pem;
  std::string client_cert_pem;
  std::string client_key_pem;
  std::string tls_server_name;
  std::string token;       ///< fixed bearer token, or
  std::string token_file;  ///< file that is read again when it changes
  std::string name_space;  ///< default namespace; "default" when the source names none
};

/** The pod's service account below `root` (default: where Kubernetes mounts it) and KUBERNETES_SERVICE_HOST/PORT. */
Result<Config> load_in_cluster(const std::string& root = "/var/run/secrets/kubernetes.io/serviceaccount");

/**
 * A kubeconfig file. `context` empty: its current-context. Relative paths count from the file's folder. Understood:
 * certificate-authority[-data], client-certificate[-data], client-key[-data], token, tokenFile (which wins over token),
 * tls-server-name, namespace. Errors (invalid, not_found) name file, entry and field; exec and auth-provider users,
 * passwords, impersonation, proxy-url and insecure-skip-tls-verify are refused by name: we don't pretend to know them.
 */
Result<Config> load_kubeconfig(const std::string& path, const std::string& context = "");

/** The same for the text of a kubeconfig that was found at `path`. */
Result<Config> parse_kubeconfig(std::string_view text, const std::string& path, const std::string& context = "");

/** `kubeconfig` when given, else $KUBECONFIG's first file, else the pod's service account. */
Result<Config> load_config(const std::string& kubeconfig, const std::string& context = "");

/** Transport options for a Config. The token file is re-read through a Token that the options own. */
http::CurlOptions transport_options(const Config& config, const std::shared_ptr<const Clock>& clock);

}  // namespace slurmk8s::kube
