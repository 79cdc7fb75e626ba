// SPDX-License-Identifier: GPL-2.0-or-later
// From options to a client.
#include "settings/connection.hpp"

#include "http/curl_transport.hpp"
#include "kube/config.hpp"

namespace slurmk8s {

Result<Connection> open_connection(EventLoop& loop, Options& options) {
  const kube::Config config = SLURMK8S_TRY(kube::load_config(options.kubeconfig, options.context));
  if (options.name_space.empty()) options.name_space = config.name_space;
  http::CurlOptions curl_options = kube::transport_options(config, loop.clock());
  curl_options.max_connections = options.max_requests;
  Connection connection;
  connection.server = config.server;
  connection.transport = SLURMK8S_TRY(http::make_curl_transport(loop, std::move(curl_options)));
  connection.client = kube::make_http_client(*connection.transport);
  return connection;
}

}  // namespace slurmk8s
