// SPDX-License-Identifier: GPL-2.0-or-later
// slurm-k8s-sidecar: keeps Slurm's node records equal to the NodeSets of a namespace. `convert` makes NodeSets out of
// Slinky's instead, without a connection to anything.
#include <getopt.h>

#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/file.hpp"
#include "base/guarded.hpp"
#include "base/strings.hpp"
#include "config.h"
#include "convert/convert.hpp"
#include "settings/connection.hpp"
#include "control/control.hpp"
#include "settings/options.hpp"
#include "sidecar/config_exchange.hpp"
#include "sidecar/config_pusher.hpp"
#include "sidecar/daemon.hpp"
#include "sidecar/gres_conf.hpp"
#include "daemon/fence.hpp"
#include "http/curl_transport.hpp"
#include "convert/yaml_writer.hpp"
#include "json/yaml.hpp"
#include "daemon/leader_election.hpp"
#include "daemon/liveness_file.hpp"
#include "daemon/main_loop.hpp"
#include "sidecar/metrics.hpp"
#include "sidecar/state_cache.hpp"
#include "sidecar/state_metrics.hpp"
#include "sidecar/time_zones.hpp"
#include "sidecar/token_caller.hpp"
#include "sidecar/token_keeper.hpp"
#include "sidecar/unsettled_file.hpp"
#include "slurm/rpc/rpc_slurm.hpp"

namespace slurmk8s {
namespace {

constexpr const char* kUsage =
    "usage: slurm-k8s-sidecar [--config FILE] [--with-engine] [--leader-elect]\n"
    "       slurm-k8s-sidecar convert [--values] FILE...\n"
    "Keeps Slurm's node records equal to the NodeSets of a Kubernetes namespace.\n"
    "convert: prints NodeSets made from Slinky's; see slurm-k8s-sidecar convert --help\n"
    "  --config FILE  slurm-k8s.conf (default: $SLURM_K8S_CONF, else %s)\n"
    "  --with-engine  act only while the engine answers beside it: one of several slurmctlds\n"
    "  --gres-conf FILE  keep the gres.conf of nodes with GPUs in FILE, which slurmctld's gres.conf includes\n"
    "  --unsettled-file FILE  exists from the creation of nodes until slurmctld is reconfigured: for the next sidecar\n"
    "  --config-push FOLDER  bring changes of the sources to slurmctld; FOLDER is shared with the container that tries "
    "them\n"
    "  --config-source KIND/NAME  configmap/NAME or secret/NAME with files of /etc/slurm; may be repeated\n"
    "  --config-pod NAME  a controller's pod, whose condition tells what became of them; may be repeated\n"
    "  --bridge-scheduler-name NAME  spec.schedulerName of the pods that Slurm counts, since a bridge binds them\n"
    "  --token USER=NAMESPACE/SECRET:SECONDS  keep a token of USER, valid for SECONDS, in a Secret; may be repeated\n"
    "  --metrics-users N  users, and accounts, with metrics of their own (default: 50)\n"
    "  --liveness-file FILE   write the time of the main loop's last round into FILE\n"
    "  --check-liveness FILE  exit with 1 when that is more than a minute ago: a kubelet's probe\n"
    "  --leader-elect  act only while it has the lease: one of several sidecars\n"
    "  --leader-elect-resource-name NAME       the Lease's name (default: slurm-k8s-sidecar)\n"
    "  --leader-elect-identity NAME            who this sidecar is (default: the host's name and a random number)\n"
    "  --leader-elect-lease-duration DURATION  how long others wait after a renewal (default: 15s)\n"
    "  --leader-elect-renew-deadline DURATION  how long it acts without a renewal (default: 10s)\n"
    "  --leader-elect-retry-period DURATION    time between renewals and between attempts to acquire\n"
    "                                          (default: 2s)\n"
    "  --version      print the version\n"
    "  --help         print this\n";

constexpr const char* kConvertUsage =
    "usage: slurm-k8s-sidecar convert [--values] FILE...\n"
    "Prints NodeSets of slurm-k8s made from NodeSets of Slinky's slurm-operator (v1beta1, as YAML), and from the\n"
    "nodesets in values of its slurm chart. What has no equivalent is listed on standard error, with its path.\n"
    "  --values  print values of slurm-k8s's chart instead, from all values of Slinky's chart\n"
    "  FILE      YAML, any number of documents; - is standard input\n"
    "  --help    print this\n"
    "Exit code: 0 everything is converted; 1 something isn't, or has to be completed; 2 wrong usage, or input that\n"
    "can't be read.\n";

constexpr const char* kWaits = "slurm-k8s-sidecar: waits for";
constexpr std::size_t kMaxInput = 64u << 20;
constexpr int kMaxMetricsUsers = 10000;
constexpr const char* kSlurmFolder = "/etc/slurm";

/** The engine is another container of the same pod, with the socket in a shared folder. */
constexpr std::chrono::milliseconds kEngineTimeout{500};

/**
 * Beside one of several slurmctlds: the engine is there while its slurmctld is in control. A busy one is there, too.
 */
bool has_engine(const std::string& socket) {
  const auto answer = control_call(socket, Json::object().set("op", "status"), kEngineTimeout);
  return answer || answer.error().code() != Errc::unavailable;
}

/**
 * Nodes have been asked up or down. An engine that can't be asked is none to complain of: slurmctld looks by itself.
 */
void wake_power_save(const std::string& socket) {
  const auto answer = control_call(socket, Json::object().set("op", "wake"), kEngineTimeout);
  if (!answer) log_debug("could not wake power saving: %s", answer.error().message().c_str());
}

struct Arguments {
  std::string config_path = options_path();
  bool with_engine = false;
  std::string gres_conf;
  std::string unsettled_file;
  std::string config_push;
  std::vector<ConfigSource> config_sources;
  std::vector<std::string> config_pods;
  std::string bridge_scheduler;
  std::vector<TokenSpec> tokens;
  std::size_t metrics_users = 50;
  std::string liveness_file;
  std::string check_liveness;
  LeaseOptions lease;
};

/** Whether this sidecar is the one that acts; asked once a second. Without its engine it leaves the lease to others. */
bool may_act(const Arguments& arguments, const Options& options, LeaderElection* election) {
  const bool engine = !arguments.with_engine || has_engine(options.engine_socket);
  return election == nullptr ? engine : election->leads_with(engine);
}

/** Null when no tokens are kept. `loop` must outlive it. */
std::unique_ptr<TokenCaller> make_token_caller(const Arguments& arguments, EventLoop& loop) {
  if (arguments.tokens.empty()) return nullptr;
  return std::make_unique<TokenThread>(make_rpc_tokens(),
                                       [&loop](CallThread::Then then) { loop.post(std::move(then)); });
}

/** One daemon, from nothing: what a former one knew isn't true any more. */
Result<MainLoopEnd> run_daemon(Options& options, const Arguments& arguments, AdminState& admin, int signals,
                               const LeaderElection* election, const std::function<bool()>& may_act) {
  const auto loop = SLURMK8S_TRY(EventLoop::open());
  const auto connection = SLURMK8S_TRY(open_connection(*loop, options));
  Fence fence([election] { return election == nullptr || election->leads(); });
  FencedKubeWriter kube_writer(*connection.client, fence);
  const auto slurm = make_rpc_slurm();
  FencedSlurmWriter slurm_writer(*slurm, fence);
  GresConfFile gres_conf(arguments.gres_conf);
  const UnsettledFile unsettled_file(arguments.unsettled_file);
  ConfigExchange config_exchange(arguments.config_push, kSlurmFolder);
  const auto token_caller = make_token_caller(arguments, *loop);
  Daemon daemon({*loop,
                 *connection.client,
                 kube_writer,
                 *slurm,
                 slurm_writer,
                 admin,
                 options.watch_kubernetes_nodes,
                 arguments.bridge_scheduler,
                 {.wake_power_save = [&options] { wake_power_save(options.engine_socket); },
                  .write_gres_conf = [&gres_conf](const std::string& text) { return gres_conf.write(text); },
                  .gres_conf_nodes = [&gres_conf] { return gres_conf.nodes(); },
                  .keep_unsettled = [&unsettled_file](bool unsettled) { return unsettled_file.keep(unsettled); },
                  .unsettled = unsettled_file.exists()},
                 arguments.config_push.empty() ? nullptr : &config_exchange,
                 {options.name_space, arguments.config_sources, arguments.config_pods},
                 [&] { return !arguments.with_engine || has_engine(options.engine_socket); },
                 token_caller.get(),
                 arguments.tokens},
                options.name_space, PACKAGE_VERSION);
  log_info("slurm-k8s-sidecar %s: namespace %s of %s", PACKAGE_VERSION, options.name_space.c_str(),
           connection.server.c_str());
  daemon.start();
  const auto end = run_main_loop(*loop, signals, admin, [&] { return may_act() && fence.is_open(); });
  daemon.stop();
  return end;
}

Status run(const Arguments& arguments) {
  Options options = SLURMK8S_TRY(load_options(arguments.config_path));
  log_init(log_to_stderr, options.log_level);
  const UniqueFd signals = SLURMK8S_TRY(block_signals());
  SLURMK8S_CHECK(http::curl_global_setup());
  SystemClock clock;
  const auto election = SLURMK8S_TRY(LeaderElection::open(options, arguments.lease));
  StateCache slurm_state(make_rpc_state_reader(), clock, arguments.metrics_users);
  const auto more_metrics = [&election, &slurm_state, socket = options.engine_socket] {
    return (election ? encode_leader_metric(election->leads()) : std::string()) + slurm_state.encode_own() +
           encode_engine_metrics(control_call(socket, Json::object().set("op", "status"), kEngineTimeout));
  };
  AdminState admin(clock, more_metrics, {.paths = state_pages(), .read = [&slurm_state](const std::string& path) {
                                           return slurm_state.read(path);
                                         }});
  const auto server = SLURMK8S_TRY(start_admin_server(options.sidecar_listen, admin));
  start_slurm_client();
  std::optional<LivenessFile> liveness;
  if (!arguments.liveness_file.empty()) liveness = SLURMK8S_TRY(LivenessFile::open(arguments.liveness_file, clock));
  const auto acts = [&] {  // asked by the main loop, once a second
    if (liveness) liveness->beat();
    return may_act(arguments, options, election.get());
  };
  const auto waits = [&] {
    if (arguments.with_engine) log_info("%s the engine, which is where slurmctld is in control", kWaits);
    if (election) log_info("%s the lease %s", kWaits, arguments.lease.name.c_str());
  };
  SLURMK8S_CHECK(act_by_turns(signals.get(), admin, waits, acts, [&] {
    return run_daemon(options, arguments, admin, signals.get(), election.get(), acts);
  }));
  log_info("slurm-k8s-sidecar: stopped");
  return {};
}

/** Adds what `path` holds to `conversion`, and says what became of it. */
Status convert_file(std::string_view path, Conversion& conversion) {
  const std::string name = path == "-" ? "standard input" : std::string(path);
  const Result<std::string> text = read_file(path == "-" ? "/dev/stdin" : std::string(path), kMaxInput);
  if (!text.ok()) return text.error();
  const Result<std::vector<Json>> documents = parse_yaml_documents(*text);
  if (!documents.ok()) return documents.error().wrap(name);
  const std::size_t first = conversion.notes.size();
  conversion.recognized = false;
  convert_documents(*documents, conversion);
  if (!conversion.recognized) {
    const char* missing =
        conversion.as_values ? ": no values and no NodeSet of Slinky's in it" : ": no NodeSet of Slinky's in it";
    return Error(Errc::invalid, name + missing);
  }
  for (const ConvertNote& note : std::span(conversion.notes).subspan(first)) {
    std::fprintf(stderr, "%s: %s: %s: %s\n", name.c_str(), note.where.c_str(), to_string(note.kind), note.what.c_str());
  }
  return {};
}

/** Documents of NodeSets, or one of values. */
Result<std::string> written(const Conversion& conversion) {
  if (conversion.as_values) return dump_yaml(conversion.values);
  std::string output;
  for (const Json& nodeset : conversion.nodesets) output += "---\n" + SLURMK8S_TRY(dump_yaml(nodeset));
  return output;
}

/** Prints nothing on standard output unless all files could be read. */
int convert(std::span<char*> files, bool as_values) {
  constexpr int kUnusable = 2;
  Conversion conversion;
  conversion.as_values = as_values;
  std::string output;
  Status status;
  for (const char* file : files) {
    if (status.ok()) status = convert_file(file, conversion);
  }
  if (status.ok()) {
    Result<std::string> text = written(conversion);
    text.ok() ? void(output = *std::move(text)) : void(status = text.error());
  }
  if (status.ok() && (std::fputs(output.c_str(), stdout) < 0 || std::fflush(stdout) != 0)) {
    status = Error(Errc::unavailable, "standard output: not written");
  }
  if (status.ok()) return conversion.is_partial() ? 1 : 0;
  std::fprintf(stderr, "slurm-k8s-sidecar: %s\n", status.error().message().c_str());
  return kUnusable;
}

int convert_checked(std::span<char*> arguments) {
  const bool as_values = !arguments.empty() && std::string_view(arguments.front()) == "--values";
  if (as_values) arguments = arguments.subspan(1);
  for (const std::string_view argument : arguments) {
    if (argument == "--help") return std::fputs(kConvertUsage, stdout) < 0;
    if (argument == "-" || !argument.starts_with('-')) continue;
    return std::fprintf(stderr, "slurm-k8s-sidecar convert: %s: unexpected\n", argument.data()), 2;
  }
  if (arguments.empty()) return std::fputs(kConvertUsage, stderr), 2;
  return convert(arguments, as_values);
}

/** What getopt found, by the option's name. */
Status set_argument(std::string_view option, std::string_view value, Arguments& arguments) {
  if (option == "config") {
    arguments.config_path = value;
  } else if (option == "with-engine") {
    arguments.with_engine = true;
  } else if (option == "gres-conf") {
    arguments.gres_conf = value;
  } else if (option == "unsettled-file") {
    arguments.unsettled_file = value;
  } else if (option == "config-push") {
    arguments.config_push = value;
  } else if (option == "config-source") {
    arguments.config_sources.push_back(SLURMK8S_TRY(parse_config_source(value)));
  } else if (option == "config-pod") {
    arguments.config_pods.emplace_back(value);
  } else if (option == "bridge-scheduler-name") {
    arguments.bridge_scheduler = value;
  } else if (option == "token") {
    arguments.tokens.push_back(SLURMK8S_TRY(parse_token_spec(value)));
  } else if (option == "metrics-users") {
    const auto number = parse_int(value);
    if (!number || *number < 0 || *number > kMaxMetricsUsers) {
      return Error(Errc::invalid, format("--metrics-users: must be 0 to %d", kMaxMetricsUsers));
    }
    arguments.metrics_users = static_cast<std::size_t>(*number);
  } else if (option == "liveness-file") {
    arguments.liveness_file = value;
  } else if (option == "check-liveness") {
    arguments.check_liveness = value;
  } else {
    return set_lease_option(option, value, arguments.lease);
  }
  return {};
}

int main_checked(int argc, char** argv) {
  const option options[] = {{"config", required_argument, nullptr, 'o'},
                            {"with-engine", no_argument, nullptr, 'o'},
                            {"gres-conf", required_argument, nullptr, 'o'},
                            {"unsettled-file", required_argument, nullptr, 'o'},
                            {"config-push", required_argument, nullptr, 'o'},
                            {"config-source", required_argument, nullptr, 'o'},
                            {"config-pod", required_argument, nullptr, 'o'},
                            {"bridge-scheduler-name", required_argument, nullptr, 'o'},
                            {"token", required_argument, nullptr, 'o'},
                            {"metrics-users", required_argument, nullptr, 'o'},
                            {"liveness-file", required_argument, nullptr, 'o'},
                            {"check-liveness", required_argument, nullptr, 'o'},
                            {"leader-elect", optional_argument, nullptr, 'o'},
                            {"leader-elect-resource-name", required_argument, nullptr, 'o'},
                            {"leader-elect-identity", required_argument, nullptr, 'o'},
                            {"leader-elect-lease-duration", required_argument, nullptr, 'o'},
                            {"leader-elect-renew-deadline", required_argument, nullptr, 'o'},
                            {"leader-elect-retry-period", required_argument, nullptr, 'o'},
                            {"help", no_argument, nullptr, 'h'},
                            {"version", no_argument, nullptr, 'V'},
                            {nullptr, 0, nullptr, 0}};
  if (argc > 1 && std::string_view(argv[1]) == "convert") return convert_checked(std::span(argv, argc).subspan(2));
  Arguments arguments;
  arguments.lease.identity = make_identity();
  Status valid;
  for (int option = 0, index = 0; (option = getopt_long(argc, argv, "", options, &index)) != -1;) {
    if (option == 'h') return std::printf(kUsage, options_path().c_str()) < 0;
    if (option == 'V') return std::printf("slurm-k8s-sidecar %s\n", PACKAGE_VERSION) < 0;
    if (option != 'o') return 2;
    if (valid.ok()) valid = set_argument(options[index].name, optarg == nullptr ? "" : optarg, arguments);
  }
  if (optind != argc) return std::fprintf(stderr, "slurm-k8s-sidecar: %s: unexpected\n", argv[optind]), 2;
  if (valid.ok()) valid = check_lease_options(arguments.lease);
  if (valid.ok() && !arguments.config_push.empty() && arguments.config_sources.empty()) {
    valid = required_value("--config-source");
  }
  const int code = valid.ok() ? 1 : 2;
  if (valid.ok() && !arguments.check_liveness.empty()) {
    valid = LivenessFile::check(arguments.check_liveness, SystemClock());
  } else if (valid.ok()) {
    valid = run(arguments);
  }
  if (valid.ok()) return 0;
  std::fprintf(stderr, "slurm-k8s-sidecar: %s\n", valid.error().message().c_str());
  return code;
}

}  // namespace
}  // namespace slurmk8s

int main(int argc, char** argv) {
  slurmk8s::prepare_time_zones();
  return slurmk8s::guarded("slurm-k8s-sidecar", 1, [&] { return slurmk8s::main_checked(argc, argv); });
}
