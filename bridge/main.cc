// SPDX-License-Identifier: GPL-2.0-or-later
// slurm-k8s-bridge: Slurm schedules the pods of a scheduler name.
#include <getopt.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/file.hpp"
#include "base/guarded.hpp"
#include "base/strings.hpp"
#include "bridge/bridge.hpp"
#include "bridge/names.hpp"
#include "bridge/tolerations.hpp"
#include "config.h"
#include "daemon/fence.hpp"
#include "daemon/leader_election.hpp"
#include "daemon/liveness_file.hpp"
#include "daemon/main_loop.hpp"
#include "http/curl_transport.hpp"
#include "settings/connection.hpp"
#include "settings/options.hpp"
#include "slurm/rpc/rpc_slurm.hpp"

namespace slurmk8s {
namespace {

constexpr const char* kUsage =
    "usage: slurm-k8s-bridge --users FILE [--config FILE] [--scheduler-name NAME] [--leader-elect]\n"
    "Submits a Slurm job for each workload whose pods name this scheduler, and binds the pods to the job's nodes.\n"
    "  --users FILE   YAML: which namespaces submit as which Slurm users, and\n"
    "                 what PriorityClasses and DeviceClasses mean, and what all pods tolerate\n"
    "  --config FILE  slurm-k8s.conf (default: $SLURM_K8S_CONF, else %s)\n"
    "  --scheduler-name NAME  spec.schedulerName of the pods (default: slurm-k8s-bridge)\n"
    "  --without-engine       slurmctld has no engine: poll it. Launches of jobs then don't wait for pods to end\n"
    "  --max-grace-period SECONDS  of pods whose job has ended (default: 300)\n"
    "  --listen ADDRESS       of /healthz, /readyz and /metrics (default: :9101)\n"
    "  --liveness-file FILE   write the time of the main loop's last round into FILE\n"
    "  --check-liveness FILE  exit with 1 when that is more than a minute ago: a kubelet's probe\n"
    "  --leader-elect  act only while it has the lease: one of several bridges\n"
    "  --leader-elect-resource-name NAME       the Lease's name (default: slurm-k8s-bridge)\n"
    "  --leader-elect-identity NAME            who this bridge is (default: the host's name and a random number)\n"
    "  --leader-elect-lease-duration DURATION  how long others wait after a renewal (default: 15s)\n"
    "  --leader-elect-renew-deadline DURATION  how long it acts without a renewal (default: 10s)\n"
    "  --leader-elect-retry-period DURATION    time between renewals and between attempts to acquire\n"
    "                                          (default: 2s)\n"
    "  --version      print the version\n"
    "  --help         print this\n";

constexpr std::size_t kMaxUsers = 1 << 20;

struct Arguments {
  std::string config_path = options_path();
  std::string users;
  std::string scheduler = kBridgeScheduler;
  std::string listen = ":9101";
  std::string liveness_file;
  std::string check_liveness;
  bool has_engine = true;
  std::chrono::seconds longest_grace = WorkloadPod::kLongestGrace;
  LeaseOptions lease;
};

/** What FILE of --users says. */
struct Rules {
  std::vector<IdentityRule> users;
  PriorityRules priorities;
  DeviceClasses device_classes;
  std::vector<Toleration> tolerations;
};

Result<Rules> parse_rules(const std::string& text) {
  Rules rules;
  rules.users = SLURMK8S_TRY(parse_identity_rules(text));
  rules.priorities = SLURMK8S_TRY(parse_priority_rules(text));
  rules.device_classes = SLURMK8S_TRY(parse_device_classes(text));
  rules.tolerations = SLURMK8S_TRY(parse_bridge_tolerations(text));
  return rules;
}

/** FILE of --users. */
class RulesFile {
 public:
  explicit RulesFile(std::string path) : path_(std::move(path)) {}

  Result<Rules> load() {
    text_ = SLURMK8S_TRY(read_file(path_, kMaxUsers));
    Result<Rules> rules = parse_rules(text_);
    if (!rules) return rules.error().wrap(path_);
    return rules;
  }
  /** Whether it now has other rules. Those that are invalid are logged, and change nothing. */
  bool has_changed() {
    const Result<std::string> text = read_file(path_, kMaxUsers);
    if (!text || *text == text_ || *text == refused_) return false;
    const Result<Rules> rules = parse_rules(*text);
    if (rules) return true;
    refused_ = *text;
    log_error("%s: %s; the former rules stay", path_.c_str(), rules.error().message().c_str());
    return false;
  }

 private:
  const std::string path_;
  std::string text_;
  std::string refused_;
};

/** One bridge, from nothing: what a former one knew isn't true any more. */
Result<MainLoopEnd> run_bridge(Options& options, const Arguments& arguments, RulesFile& file, AdminState& admin,
                               int signals, const LeaderElection* election, const std::function<bool()>& may_act) {
  const auto loop = SLURMK8S_TRY(EventLoop::open());
  const auto connection = SLURMK8S_TRY(open_connection(*loop, options));
  const Rules rules = SLURMK8S_TRY(file.load());
  // Once it does not, this bridge is over: what waits for a call that was left out would wait for ever.
  const auto is_lost = std::make_shared<std::atomic<bool>>(false);
  const auto leads = [election, is_lost] {
    if (election != nullptr && !election->leads()) *is_lost = true;
    return !*is_lost;
  };
  Fence fence(leads);
  FencedKubeWriter kube_writer(*connection.client, fence);
  AllocationThread slurm(
      make_rpc_allocations(), [&loop](std::function<void()> fn) { loop->post(std::move(fn)); }, fence, leads);
  Bridge bridge({*loop, *connection.client, kube_writer, slurm, admin},
                {options.name_space, arguments.scheduler, rules.users, PACKAGE_VERSION,
                 arguments.has_engine ? options.engine_socket : std::string(), rules.priorities, rules.device_classes,
                 rules.tolerations, options.launch_timeout, kMaxPodJobs, arguments.longest_grace});
  log_info("slurm-k8s-bridge %s: scheduler name %s, %zu rules, namespace %s of %s", PACKAGE_VERSION,
           arguments.scheduler.c_str(), rules.users.size(), options.name_space.c_str(), connection.server.c_str());
  bridge.start();
  // With other rules it restarts.
  const auto may_continue = [&] { return may_act() && fence.is_open() && !file.has_changed(); };
  const auto end = run_main_loop(*loop, signals, admin, may_continue);
  bridge.stop();
  return end;
}

Status run(const Arguments& arguments) {
  Options options = SLURMK8S_TRY(load_options(arguments.config_path));
  log_init(log_to_stderr, options.log_level);
  RulesFile users(arguments.users);
  SLURMK8S_CHECK(users.load());  // before anything is begun
  const UniqueFd signals = SLURMK8S_TRY(block_signals());
  SLURMK8S_CHECK(http::curl_global_setup());
  SystemClock clock;
  const auto election = SLURMK8S_TRY(LeaderElection::open(options, arguments.lease));
  AdminState admin(clock);
  const auto server = SLURMK8S_TRY(start_admin_server(arguments.listen, admin));
  start_slurm_client();
  std::optional<LivenessFile> liveness;
  if (!arguments.liveness_file.empty()) liveness = SLURMK8S_TRY(LivenessFile::open(arguments.liveness_file, clock));
  const auto may_act = [&] {  // asked by the main loop, once a second
    if (liveness) liveness->beat();
    if (!election) return true;
    // The bridge beside the slurmctld that is in control is to act.
    return election->leads_with(!arguments.has_engine || EngineLink::is_there(options.engine_socket));
  };
  const auto waits = [&] {
    if (election) log_info("slurm-k8s-bridge: waits for the lease %s", arguments.lease.name.c_str());
  };
  SLURMK8S_CHECK(act_by_turns(signals.get(), admin, waits, may_act, [&] {
    return run_bridge(options, arguments, users, admin, signals.get(), election.get(), may_act);
  }));
  log_info("slurm-k8s-bridge: stopped");
  return {};
}

/** What getopt found, by the option's name. */
Status set_argument(std::string_view option, std::string_view value, Arguments& arguments) {
  if (option == "config") {
    arguments.config_path = value;
  } else if (option == "users") {
    arguments.users = value;
  } else if (option == "scheduler-name") {
    arguments.scheduler = value;
  } else if (option == "without-engine") {
    arguments.has_engine = false;
  } else if (option == "max-grace-period") {
    constexpr std::int64_t kLongest = 86400;
    const std::int64_t seconds = parse_int(value).value_or(0);
    if (seconds < 1 || seconds > kLongest) {
      return invalid_value("--max-grace-period", value, "must be 1 to 86400 seconds");
    }
    arguments.longest_grace = std::chrono::seconds(seconds);
  } else if (option == "listen") {
    arguments.listen = value;
  } else if (option == "liveness-file") {
    arguments.liveness_file = value;
  } else if (option == "check-liveness") {
    arguments.check_liveness = value;
  } else {
    return set_lease_option(option, value, arguments.lease);
  }
  return {};
}

Status check_arguments(const Arguments& arguments) {
  SLURMK8S_CHECK(check_lease_options(arguments.lease));
  if (arguments.check_liveness.empty() && arguments.users.empty()) return required_value("--users");
  if (arguments.scheduler.empty()) return required_value("--scheduler-name");
  return {};
}

int main_checked(int argc, char** argv) {
  const option options[] = {{"config", required_argument, nullptr, 'o'},
                            {"users", required_argument, nullptr, 'o'},
                            {"scheduler-name", required_argument, nullptr, 'o'},
                            {"without-engine", no_argument, nullptr, 'o'},
                            {"max-grace-period", required_argument, nullptr, 'o'},
                            {"listen", required_argument, nullptr, 'o'},
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
  Arguments arguments;
  arguments.lease.name = kBridgeScheduler;
  arguments.lease.identity = make_identity();
  Status valid;
  for (int option = 0, index = 0; (option = getopt_long(argc, argv, "", options, &index)) != -1;) {
    if (option == 'h') return std::printf(kUsage, options_path().c_str()) < 0;
    if (option == 'V') return std::printf("slurm-k8s-bridge %s\n", PACKAGE_VERSION) < 0;
    if (option != 'o') return 2;
    if (valid.ok()) valid = set_argument(options[index].name, optarg == nullptr ? "" : optarg, arguments);
  }
  if (optind != argc) return std::fprintf(stderr, "slurm-k8s-bridge: %s: unexpected\n", argv[optind]), 2;
  if (valid.ok()) valid = check_arguments(arguments);
  const int code = valid.ok() ? 1 : 2;
  if (valid.ok()) {
    valid = arguments.check_liveness.empty() ? run(arguments)
                                             : LivenessFile::check(arguments.check_liveness, SystemClock());
  }
  if (valid.ok()) return 0;
  std::fprintf(stderr, "slurm-k8s-bridge: %s\n", valid.error().message().c_str());
  return code;
}

}  // namespace
}  // namespace slurmk8s

int main(int argc, char** argv) {
  return slurmk8s::guarded("slurm-k8s-bridge", 1, [&] { return slurmk8s::main_checked(argc, argv); });
}
