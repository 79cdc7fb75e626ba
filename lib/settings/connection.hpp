// SPDX-License-Identifier: GPL-2.0-or-later
// Connection: the API server of slurm-k8s.conf, and a client for the thread of one event loop.
#pragma once

#include <memory>
#include <string>

#include "event/event_loop.hpp"
#include "settings/options.hpp"
#include "http/transport.hpp"
#include "kube/client.hpp"

namespace slurmk8s {

struct Connection {
  std::string server;  ///< its URL, for messages
  std::unique_ptr<http::Transport> transport;
  std::unique_ptr<kube::Client> client;
};

/**
 * Reads the kubeconfig or the service account; sends no request. `loop` must outlive the Connection. An empty Namespace
 * in `options` is filled in. Error: the file that cannot be read, and why.
 */
Result<Connection> open_connection(EventLoop& loop, Options& options);

}  // namespace slurmk8s
