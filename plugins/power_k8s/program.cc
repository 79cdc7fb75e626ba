// SPDX-License-Identifier: GPL-2.0-or-later
// Command line and engine call of the three programs.
#include "power_k8s/program.hpp"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "slurm/hostlist.hpp"
#include "base/log.hpp"
#include "control/control.hpp"
#include "engine/direct.hpp"
#include "engine/reconcile.hpp"
#include "slurm/slurm.hpp"
#include "http/curl_transport.hpp"
#include "slurm/rpc/rpc_slurm.hpp"

namespace slurmk8s {
namespace {

/** The engine answers in microseconds, and slurmctld waits for the program. */
constexpr std::chrono::milliseconds kEngineTimeout{2000};

void print_help(const Program& program) {
  printf(
      "Usage: %s [--config FILE] [--direct] HOSTLIST%s\n"
      "%s\n"
      "slurmctld runs it as %s; see slurm.conf(5).\n\n"
      "  --config FILE  settings (default: $SLURM_K8S_CONF or %s)\n"
      "  --direct       do the work here, without the engine in slurmctld\n"
      "  --help         print this help and exit\n"
      "  --version      print the version and exit\n\n"
      "Exit codes: 0 passed to the engine, or done, 1 an error (on stderr), 2 wrong usage.\n",
      program.name, program.unused, program.purpose, program.setting, options_path().c_str());
}

int usage_error(const Program& program, const char* what) {
  fprintf(stderr, "%s: %s; try --help\n", program.name, what);
  return kExitUsage;
}

}  // namespace

bool parse_command_line(const Program& program, int argc, char** argv, Invocation& invocation, int& exit_code) {
  static const option kOptions[] = {{"config", required_argument, nullptr, 'c'},
                                    {"direct", no_argument, nullptr, 'd'},
                                    {"help", no_argument, nullptr, 'h'},
                                    {"version", no_argument, nullptr, 'V'},
                                    {nullptr, 0, nullptr, 0}};
  std::string config = options_path();
  for (int key = 0; (key = getopt_long(argc, argv, "c:dhV", kOptions, nullptr)) != -1;) {
    switch (key) {
      case 'c': config = optarg; break;
      case 'd': invocation.direct = true; break;
      case 'h':
        print_help(program);
        exit_code = kExitDone;
        return false;
      case 'V':
        printf("%s %s\n", program.name, SLURMK8S_VERSION);
        exit_code = kExitDone;
        return false;
      default: exit_code = usage_error(program, "unknown option"); return false;
    }
  }
  const int max_arguments = *program.unused ? 2 : 1;
  if (argc - optind < 1 || argc - optind > max_arguments) {
    exit_code = usage_error(program, argc == optind ? "HOSTLIST: required" : "too many arguments");
    return false;
  }
  log_init(log_to_stderr, LogLevel::warning);
  auto nodes = expand_hostlist(argv[optind]);
  if (!nodes || nodes->empty()) {
    exit_code = usage_error(program, nodes ? "HOSTLIST: must not be empty" : nodes.error().message().c_str());
    return false;
  }
  invocation.nodes = std::move(*nodes);
  auto options = load_options(config);
  if (!options) {
    fprintf(stderr, "%s: %s\n", program.name, options.error().message().c_str());
    exit_code = kExitError;
    return false;
  }
  invocation.options = std::move(*options);
  return true;
}

int hand_over(const Program& program, const Invocation& invocation, const Json& message,
              const std::function<void(Engine&)>& ask) {
  if (!invocation.direct) {
    const auto answer = control_call(invocation.options.engine_socket, message, kEngineTimeout);
    if (answer) return kExitDone;
    fprintf(stderr, "%s: %s\n", program.name, answer.error().message().c_str());
    if (answer.error().code() == Errc::invalid) return kExitError;  // the engine refused
  }
  const Status setup = http::curl_global_setup();
  if (!setup.ok()) {
    fprintf(stderr, "%s: %s\n", program.name, setup.error().message().c_str());
    return kExitError;
  }
  start_slurm_client();
  const auto slurm = make_rpc_slurm();
  const Status done = run_direct(invocation.options, *slurm, invocation.nodes, ask, kDirectTimeout);
  if (!done.ok()) fprintf(stderr, "%s: %s\n", program.name, done.error().message().c_str());
  return done.ok() ? kExitDone : kExitError;
}

}  // namespace slurmk8s
