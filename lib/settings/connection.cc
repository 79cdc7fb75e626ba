// SPDX-License-Identifier: GPL-2.0-or-later
// From options to a client.
#include "settings/connection.hpp"

#include "http/curl_transport.hpp"
#include "kube/config.hpp"

namespace slurmk8s {

Result<std::unique_ptr<Connection>> open_connection(Options& options) {
  auto connection = std::make_unique<Connection>(std::make_shared<SystemClock>());
  const kube::Config config = SLURMK8S_TRY(kube::load_config(options.kubeconfig, options.context));
  if (options.name_space.empty()) options.name_space = config.name_space;
  connection->server = config.server;
  http::CurlOptions curl_options = kube::transport_options(config, connection->clock);
  curl_options.max_connections = options.max_requests;
  connection->transport = SLURMK8S_TRY(http::make_curl_transport(std::move(curl_options)));
  connection->client = kube::make_http_client(*connection->transport);
  return connection;
}

}  // namespace slurmk8s
