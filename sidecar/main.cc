// SPDX-License-Identifier: GPL-2.0-or-later
// slurm-k8s-sidecar: keeps Slurm's node records equal to the NodeSets of a namespace.
#include <getopt.h>

#include <cstdio>

#include "base/guarded.hpp"
#include "config.h"
#include "core/connection.hpp"
#include "core/control.hpp"
#include "core/options.hpp"
#include "daemon.hpp"
#include "http/curl_transport.hpp"
#include "metrics.hpp"
#include "slurm/rpc_slurm.hpp"

namespace slurmk8s {
namespace {

constexpr const char* kUsage =
    "usage: slurm-k8s-sidecar [--config FILE] [--with-engine]\n"
    "Keeps Slurm's node records equal to the NodeSets of a Kubernetes namespace.\n"
    "  --config FILE  slurm-k8s.conf (default: $SLURM_K8S_CONF, else %s)\n"
    "  --with-engine  act only while the engine answers beside it: one of several slurmctlds\n"
    "  --version      print the version\n"
    "  --help         print this\n";

/** The engine is another container of the same pod, with the socket in a shared folder. */
constexpr std::chrono::milliseconds kEngineTimeout{500};

/** Beside one of several slurmctlds: the engine is there while its slurmctld is in control. A busy one is there, too. */
bool has_engine(const std::string& socket) {
  const auto answer = control_call(socket, Json::object().set("op", "status"), kEngineTimeout);
  return answer || answer.error().code() != Errc::unavailable;
}

/** One daemon, from nothing: what a former one knew isn't true any more. True when a signal ended it. */
Result<bool> run_daemon(Options& options, AdminState& admin, int signals, const std::function<bool()>& goes_on) {
  const auto connection = SLURMK8S_TRY(open_connection(options));
  const auto slurm = make_rpc_slurm();
  Daemon daemon({*connection->transport, *connection->client, *slurm, admin, connection->timers, *connection->clock},
                options.name_space, PACKAGE_VERSION);
  log_info("slurm-k8s-sidecar %s: namespace %s of %s", PACKAGE_VERSION, options.name_space.c_str(),
           connection->server.c_str());
  daemon.start();
  return daemon.run(signals, goes_on);
}

Status run(const std::string& config_path, bool with_engine) {
  Options options = SLURMK8S_TRY(load_options(config_path));
  log_init(log_to_stderr, options.log_level);
  const UniqueFd signals = SLURMK8S_TRY(block_signals());
  SLURMK8S_CHECK(http::curl_global_setup());
  SystemClock clock;
  AdminState admin(clock, [socket = options.engine_socket] {
    return encode_engine_metrics(control_call(socket, Json::object().set("op", "status"), kEngineTimeout));
  });
  const auto server = SLURMK8S_TRY(start_admin_server(options.sidecar_listen, admin));
  start_slurm_client();
  std::function<bool()> may_act;
  if (with_engine) may_act = [&] { return has_engine(options.engine_socket); };
  for (bool ended = false; !ended;) {
    if (with_engine) log_info("slurm-k8s-sidecar: waits for the engine, which is where slurmctld is in control");
    if (with_engine && !stand_by(signals.get(), admin, may_act)) break;
    ended = SLURMK8S_TRY(run_daemon(options, admin, signals.get(), may_act));
  }
  log_info("slurm-k8s-sidecar: stopped");
  return {};
}

int main_checked(int argc, char** argv) {
  const option options[] = {{"config", required_argument, nullptr, 'c'},
                            {"with-engine", no_argument, nullptr, 'e'},
                            {"help", no_argument, nullptr, 'h'},
                            {"version", no_argument, nullptr, 'V'},
                            {nullptr, 0, nullptr, 0}};
  std::string config_path = options_path();
  bool with_engine = false;
  for (int option; (option = getopt_long(argc, argv, "", options, nullptr)) != -1;) {
    if (option == 'h') return std::printf(kUsage, options_path().c_str()) < 0;
    if (option == 'V') return std::printf("slurm-k8s-sidecar %s\n", PACKAGE_VERSION) < 0;
    if (option != 'c' && option != 'e') return 2;
    if (option == 'c') config_path = optarg;
    with_engine |= option == 'e';
  }
  if (optind != argc) return std::fprintf(stderr, "slurm-k8s-sidecar: %s: unexpected\n", argv[optind]), 2;
  const Status status = run(config_path, with_engine);
  if (status.ok()) return 0;
  std::fprintf(stderr, "slurm-k8s-sidecar: %s\n", status.error().message().c_str());
  return 1;
}

}  // namespace
}  // namespace slurmk8s

int main(int argc, char** argv) {
  return slurmk8s::guarded("slurm-k8s-sidecar", 1, [&] { return slurmk8s::main_checked(argc, argv); });
}
