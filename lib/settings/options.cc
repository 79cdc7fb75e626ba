// SPDX-License-Identifier: GPL-2.0-or-later
// Options: one table of keys; parsing slurm-k8s.conf against it.
#include "settings/options.hpp"

#include <strings.h>
#include <sys/un.h>

#include <array>
#include <cstdlib>
#include <set>

#include "base/file.hpp"
#include "base/strings.hpp"

namespace slurmk8s {
namespace {

constexpr std::size_t kMaxFile = 1 << 20;

Error bad_value(const char* what) { return Error(Errc::invalid, what); }

Status set_text(std::string& target, std::string_view value) {
  if (value.find_first_of(" \t") != std::string_view::npos) return bad_value("must not contain blanks");
  target = value;
  return {};
}

Result<std::int64_t> number(std::string_view value, std::int64_t min, std::int64_t max) {
  const std::optional<std::int64_t> parsed = parse_int(value);
  if (!parsed || *parsed < min || *parsed > max) {
    return Error(Errc::invalid,
                 format("must be %lld to %lld", static_cast<long long>(min), static_cast<long long>(max)));
  }
  return *parsed;
}

Status set_socket(Options& options, std::string_view value) {
  if (!value.starts_with('/')) return bad_value("must be an absolute path");
  if (value.size() >= sizeof(sockaddr_un::sun_path))
    return bad_value("must be shorter: a socket's path has at most 107 bytes");
  return set_text(options.engine_socket, value);
}

// "host:port" with a port of 1 to 65535; the host may be empty only in `empty_host`.
Status set_address(std::string& target, std::string_view value, bool empty_host) {
  const std::size_t colon = value.rfind(':');
  if (colon == std::string_view::npos || (colon == 0 && !empty_host)) return bad_value("must be HOST:PORT");
  if (!number(value.substr(colon + 1), 1, 65535).ok()) return bad_value("must have a port of 1 to 65535");
  return set_text(target, value);
}

Status set_log_level(Options& options, std::string_view value) {
  struct Name {
    std::string_view name;
    LogLevel level;
  };
  constexpr std::array<Name, 4> kNames{{{"error", LogLevel::error},
                                        {"warning", LogLevel::warning},
                                        {"info", LogLevel::info},
                                        {"debug", LogLevel::debug}}};
  for (const Name& entry : kNames) {
    if (entry.name == value) {
      options.log_level = entry.level;
      return {};
    }
  }
  return bad_value("must be error, warning, info or debug");
}

Status set_flag(bool& flag, std::string_view value) {
  const std::string text(value);
  const bool yes = strcasecmp(text.c_str(), "yes") == 0;
  if (!yes && strcasecmp(text.c_str(), "no") != 0) return bad_value("must be yes or no");
  flag = yes;
  return {};
}

/** "none", or absolute paths with commas. */
Status set_paths(std::optional<std::vector<std::string>>& paths, std::string_view value) {
  paths.emplace();
  if (value == "none") return {};
  for (const std::string_view path : split(value, ',')) {
    const Status status = set_text(paths->emplace_back(), path);
    if (!status.ok() || !path.starts_with('/')) return bad_value("must be none, or absolute paths with commas");
  }
  return {};
}

struct Key {
  const char* name;
  Status (*set)(Options& options, std::string_view value);
};

constexpr std::array kKeys{
    Key{"Namespace", [](Options& o, std::string_view v) { return set_text(o.name_space, v); }},
    Key{"Kubeconfig", [](Options& o, std::string_view v) { return set_text(o.kubeconfig, v); }},
    Key{"Context", [](Options& o, std::string_view v) { return set_text(o.context, v); }},
    Key{"EngineSocket", set_socket},
    Key{"NodeService", [](Options& o, std::string_view v) { return set_text(o.node_service, v); }},
    Key{"ClusterDomain", [](Options& o, std::string_view v) { return set_text(o.cluster_domain, v); }},
    Key{"ConfServer", [](Options& o, std::string_view v) { return set_text(o.conf_server, v); }},
    Key{"KeySecret", [](Options& o, std::string_view v) { return set_text(o.key_secret, v); }},
    Key{"MaxRequests",
        [](Options& o, std::string_view v) -> Status {
          o.max_requests = static_cast<int>(SLURMK8S_TRY(number(v, 1, 1000)));
          return {};
        }},
    Key{"LaunchTimeout",
        [](Options& o, std::string_view v) -> Status {
          o.launch_timeout = std::chrono::seconds(SLURMK8S_TRY(number(v, 1, 365 * 86400)));
          return {};
        }},
    Key{"WatchKubernetesNodes", [](Options& o, std::string_view v) { return set_flag(o.watch_kubernetes_nodes, v); }},
    Key{"WakePowerSave", [](Options& o, std::string_view v) { return set_flag(o.wake_power_save, v); }},
    Key{"FastRequeue", [](Options& o, std::string_view v) { return set_flag(o.fast_requeue, v); }},
    Key{"Bridge", [](Options& o, std::string_view v) { return set_flag(o.bridge, v); }},
    Key{"SharedPaths", [](Options& o, std::string_view v) { return set_paths(o.shared_paths, v); }},
    Key{"SidecarListen", [](Options& o, std::string_view v) { return set_address(o.sidecar_listen, v, true); }},
    Key{"LogLevel", set_log_level},
};

const Key* find_key(const std::string& name) {
  for (const Key& key : kKeys) {
    if (strcasecmp(key.name, name.c_str()) == 0) return &key;
  }
  return nullptr;
}

Status parse_line(std::string_view line, Options& options, std::set<const Key*>& given) {
  const std::size_t equals = line.find('=');
  if (equals == std::string_view::npos) return Error(Errc::invalid, std::string(line) + ": must be KEY=VALUE");
  const std::string name(trim(line.substr(0, equals)));
  const std::string_view value = trim(line.substr(equals + 1));
  const Key* key = find_key(name);
  if (key == nullptr) return Error(Errc::invalid, name + ": unknown key");
  if (!given.insert(key).second) return Error(Errc::invalid, std::string(key->name) + ": duplicate key");
  if (value.empty()) return required_value(key->name);
  const Status status = key->set(options, value);
  if (!status.ok()) return invalid_value(key->name, value, status.error().message());
  return {};
}

}  // namespace

std::string options_path() {
  const char* path = std::getenv("SLURM_K8S_CONF");
  return path != nullptr && *path != '\0' ? path : SLURMK8S_SYSCONFDIR "/slurm/slurm-k8s.conf";
}

Result<Options> parse_options(std::string_view text, const std::string& origin) {
  Options options;
  std::set<const Key*> given;
  int number_of_line = 0;
  for (std::string_view line : split(text, '\n')) {
    number_of_line++;
    line = trim(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    const Status status = parse_line(line, options, given);
    if (!status.ok()) return status.error().wrap(format("%s:%d", origin.c_str(), number_of_line));
  }
  return options;
}

Result<Options> load_options(const std::string& path) {
  const std::string text = SLURMK8S_TRY(read_file(path, kMaxFile));
  return parse_options(text, path);
}

}  // namespace slurmk8s
