// SPDX-License-Identifier: GPL-2.0-or-later
// Options: slurm-k8s.conf, for the engine, the programs and the sidecar.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/log.hpp"
#include "base/result.hpp"

namespace slurmk8s {

struct Options {
  std::string name_space;  ///< empty: from the service account or kubeconfig
  std::string kubeconfig;  ///< empty: $KUBECONFIG, else the pod's service account
  std::string context;
  std::string engine_socket = "/run/slurm-k8s/engine.sock";
  std::string node_service = "slurm-nodes";
  std::string cluster_domain = "cluster.local";
  std::string conf_server = "slurm-controller:6817";
  std::string key_secret = "slurm-key";
  int max_requests = 100;
  std::chrono::seconds launch_timeout{3600};
  bool watch_kubernetes_nodes = false;  ///< the sidecar follows cordons, taints and failures of Kubernetes nodes
  bool wake_power_save = true;          ///< wake slurmctld's power-save thread as soon as a job waits for nodes
  bool fast_requeue = true;             ///< requeued jobs that lost a node begin without slurmctld's delay
  bool bridge = false;                  ///< slurm-k8s-bridge is there: launches wait for it after slurmctld's start
  std::optional<std::vector<std::string>> shared_paths;  ///< where nodes and users have the same files; none: unknown
  std::string sidecar_listen = ":9100";
  LogLevel log_level = LogLevel::info;
};

/** $SLURM_K8S_CONF, or /etc/slurm/slurm-k8s.conf (below the configured sysconfdir). */
std::string options_path();

/**
 * Parses `Key=Value` lines as in slurm.conf ('#' starts a comment, keys in any case). Error (invalid) names
 * `origin`, line and key: unknown or duplicate key, invalid value.
 */
Result<Options> parse_options(std::string_view text, const std::string& origin);
/** parse_options() of a file; a missing file is an error too. */
Result<Options> load_options(const std::string& path);

}  // namespace slurmk8s
