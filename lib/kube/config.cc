// SPDX-License-Identifier: GPL-2.0-or-later
// Config: a pod's service account or a kubeconfig file.
#include "kube/config.hpp"

#include <cstdlib>
#include <initializer_list>
#include <optional>

#include "base/base64.hpp"
#include "base/file.hpp"
#include "base/strings.hpp"
#include "json/yaml.hpp"
#include "kube/token.hpp"

namespace slurmk8s::kube {

namespace {

constexpr std::size_t kMaxFile = 1u << 20;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

/** A kubeconfig under decoding. Its messages name the file, the entry and the field. */
class Kubeconfig {
 public:
  explicit Kubeconfig(std::string path) : path_(std::move(path)) {}

  Result<Config> parse(std::string_view text, const std::string& wanted_context) {
    const Result<Json> parsed = parse_yaml(text);
    if (!parsed.ok()) return parsed.error().wrap("kubeconfig " + path_);
    root_ = *parsed;
    if (!root_.is_object()) return invalid("", "not a kubeconfig");

    std::string context_name = wanted_context;
    if (context_name.empty()) context_name = SLURMK8S_TRY(string(root_, "", "current-context"));
    if (context_name.empty()) return invalid("", "current-context: not set");
    const Json context = SLURMK8S_TRY(entry("context", context_name));
    const std::string where = quoted("context", context_name);
    const std::string cluster = SLURMK8S_TRY(string(context, where, "cluster"));
    const std::string user = SLURMK8S_TRY(string(context, where, "user"));
    if (cluster.empty()) return invalid(where, "cluster: not set");

    Config config;
    config.name_space = SLURMK8S_TRY(string(context, where, "namespace"));
    if (config.name_space.empty()) config.name_space = "default";
    SLURMK8S_CHECK(read_cluster(cluster, config));
    if (!user.empty()) SLURMK8S_CHECK(read_user(user, config));
    return config;
  }

 private:
  static std::string quoted(const char* kind, const std::string& name) {
    return format("%s \"%s\"", kind, name.c_str());
  }

  Error error(Errc code, const std::string& where, const std::string& why) const {
    return Error(code, "kubeconfig " + path_ + ": " + (where.empty() ? "" : where + ": ") + why);
  }
  Error invalid(const std::string& where, const std::string& why) const { return error(Errc::invalid, where, why); }

  /** A string field; empty when it is absent or null. */
  Result<std::string> string(const Json& object, const std::string& where, const char* field) const {
    const Json value = object[field];
    if (value.is_null()) return std::string();
    if (!value.is_string()) return invalid(where, format("%s: %s, not a string", field, value.type_name().data()));
    return std::string(value.text());
  }

  /** contexts[name].context, clusters[name].cluster, users[name].user. */
  Result<Json> entry(const std::string& kind, const std::string& name) const {
    const std::string where = quoted(kind.c_str(), name);
    const Json entries = root_[kind + "s"];
    Json found;
    entries.each([&](const Json& candidate) {
      if (found.is_null() && candidate["name"].text() == name) found = candidate;
    });
    if (found.is_null()) return error(Errc::not_found, where, "no such entry in " + kind + "s");
    Json body = found[kind];
    if (!body.is_object()) return invalid(where, kind + ": not there");
    return body;
  }

  Status refuse(const Json& object, const std::string& where, std::initializer_list<const char*> fields) const {
    for (const char* field : fields) {
      if (!object[field].is_null()) return invalid(where, std::string(field) + ": not supported");
    }
    return {};
  }

  Status read_cluster(const std::string& name, Config& config) const {
    const std::string where = quoted("cluster", name);
    const Json cluster = SLURMK8S_TRY(entry("cluster", name));
    SLURMK8S_CHECK(refuse(cluster, where, {"proxy-url"}));
    if (cluster["insecure-skip-tls-verify"].boolean_or(false)) {
      return invalid(where, "insecure-skip-tls-verify: not supported");
    }
    config.server = SLURMK8S_TRY(string(cluster, where, "server"));
    if (config.server.empty()) return invalid(where, "server: not set");
    while (config.server.ends_with('/')) config.server.pop_back();
    config.tls_server_name = SLURMK8S_TRY(string(cluster, where, "tls-server-name"));
    config.ca_pem = SLURMK8S_TRY(pem(cluster, where, "certificate-authority"));
    return {};
  }

  Status read_user(const std::string& name, Config& config) const {
    const std::string where = quoted("user", name);
    const Json user = SLURMK8S_TRY(entry("user", name));
    SLURMK8S_CHECK(refuse(
        user, where, {"exec", "auth-provider", "username", "password", "as", "as-uid", "as-groups", "as-user-extra"}));
    config.token = SLURMK8S_TRY(string(user, where, "token"));
    config.token_file = SLURMK8S_TRY(string(user, where, "tokenFile"));
    if (!config.token_file.empty()) {
      config.token_file = beside(config.token_file);
      config.token.clear();
    }
    config.client_cert_pem = SLURMK8S_TRY(pem(user, where, "client-certificate"));
    config.client_key_pem = SLURMK8S_TRY(pem(user, where, "client-key"));
    if (config.client_cert_pem.empty() != config.client_key_pem.empty()) {
      return invalid(where, "client-certificate and client-key: one without the other");
    }
    return {};
  }

  /** FIELD-data, else the file that FIELD names, else nothing. */
  Result<std::string> pem(const Json& object, const std::string& where, const std::string& field) const {
    const std::string data_field = field + "-data";
    const std::string data = SLURMK8S_TRY(string(object, where, data_field.c_str()));
    const std::string file = SLURMK8S_TRY(string(object, where, field.c_str()));
    if (data.empty() && file.empty()) return std::string();
    std::string text;
    if (!data.empty()) {
      const std::optional<std::string> decoded = decode_base64(data);
      if (!decoded) return invalid(where, data_field + ": not base64");
      text = *decoded;
    } else {
      const Result<std::string> content = read_file(beside(file), kMaxFile);
      if (!content.ok()) return error(content.error().code(), where, field + ": " + content.error().message());
      text = *content;
    }
    if (text.find("-----BEGIN ") == std::string::npos) {
      return invalid(where, (data.empty() ? field : data_field) + ": not PEM");
    }
    return text;
  }

  /** A path as the kubeconfig means it: relative to its own folder. */
  std::string beside(const std::string& path) const {
    if (path.starts_with('/')) return path;
    const std::size_t slash = path_.rfind('/');
    return slash == std::string::npos ? path : path_.substr(0, slash + 1) + path;
  }

  const std::string path_;
  Json root_;
};

}  // namespace

Result<Config> load_kubeconfig(const std::string& path, const std::string& context) {
  const std::string text = SLURMK8S_TRY(read_file(path, kMaxFile));
  return parse_kubeconfig(text, path, context);
}

Result<Config> parse_kubeconfig(std::string_view text, const std::string& path, const std::string& context) {
  return Kubeconfig(path).parse(text, context);
}

Result<Config> load_in_cluster(const std::string& root) {
  std::string host = environment("KUBERNETES_SERVICE_HOST");
  std::string port = environment("KUBERNETES_SERVICE_PORT");
  const std::string prefix = "service account";
  const Result<std::string> ca = read_file(root + "/ca.crt", kMaxFile);
  if (host.empty() || port.empty()) {
    if (!ca.ok()) {
      return Error(Errc::not_found,
                   "no Kubernetes here: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set");
    }
    // slurmctld gives its programs an environment of its own: in a pod, the API server also has this name.
    host = "kubernetes.default.svc";
    port = "443";
  }
  if (!ca.ok()) return ca.error().wrap(prefix);
  const Result<std::string> name_space = read_file(root + "/namespace", kMaxFile);
  if (!name_space.ok()) return name_space.error().wrap(prefix);

  Config config;
  const bool is_ipv6 = host.find(':') != std::string::npos;
  config.server = "https://" + (is_ipv6 ? "[" + host + "]" : host) + ":" + port;
  config.ca_pem = *ca;
  config.name_space = trim(*name_space);
  config.token_file = root + "/token";
  // A token that isn't there is an error of the installation: better said now than with the first request.
  const Result<std::string> token = Token(config.token_file, SystemClock()).read();
  if (!token.ok()) return token.error().wrap(prefix);
  return config;
}

Result<Config> load_config(const std::string& kubeconfig, const std::string& context) {
  if (!kubeconfig.empty()) return load_kubeconfig(kubeconfig, context);
  const std::string list = environment("KUBECONFIG");
  for (const std::string_view path : split(list, ':')) {
    if (!path.empty()) return load_kubeconfig(std::string(path), context);
  }
  return load_in_cluster();
}

http::CurlOptions transport_options(const Config& config, const std::shared_ptr<const Clock>& clock) {
  http::CurlOptions options;
  options.base_url = config.server;
  options.ca_pem = config.ca_pem;
  options.client_cert_pem = config.client_cert_pem;
  options.client_key_pem = config.client_key_pem;
  options.tls_server_name = config.tls_server_name;
  if (!config.token_file.empty()) {
    // The token refers to the clock: both live as long as the functions.
    struct Source {
      std::shared_ptr<const Clock> clock;
      Token token;
    };
    const auto source = std::make_shared<Source>(Source{clock, Token(config.token_file, *clock)});
    options.bearer_token = [source] { return source->token.read(); };
    options.token_refused = [source] { source->token.refused(); };
  } else if (!config.token.empty()) {
    options.bearer_token = [token = config.token] { return Result<std::string>(token); };
  }
  return options;
}

}  // namespace slurmk8s::kube
