// SPDX-License-Identifier: GPL-2.0-or-later
// Connection: the API server of slurm-k8s.conf, and a client for one event loop. One thread.
#pragma once

#include <memory>
#include <string>

#include "event/timers.hpp"
#include "settings/options.hpp"
#include "http/transport.hpp"
#include "kube/client.hpp"

namespace slurmk8s {

struct Connection {
  std::string server;  ///< its URL, for messages
  std::shared_ptr<const Clock> clock;
  std::unique_ptr<http::Transport> transport;
  std::unique_ptr<kube::Client> client;
  Timers timers;

  explicit Connection(std::shared_ptr<const Clock> wanted) : clock(std::move(wanted)), timers(*clock) {}
};

/**
 * Reads the kubeconfig or the service account; sends no request. An empty Namespace in `options` is filled in.
 * Error: the file that cannot be read, and why.
 */
Result<std::unique_ptr<Connection>> open_connection(Options& options);

}  // namespace slurmk8s
