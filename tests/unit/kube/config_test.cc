// SPDX-License-Identifier: GPL-2.0-or-later
// kube/config: kubeconfig files, good and bad, and the pod's service account.
#include "kube/config.hpp"

#include <cstdlib>

#include "support/fake_clock.hpp"
#include "support/temporary_folder.hpp"

#include "support/cmocka.hpp"

namespace slurmk8s::kube {
namespace {

constexpr const char* kPem = "-----BEGIN CERTIFICATE-----\nYWJj\n-----END CERTIFICATE-----\n";
constexpr const char* kPemBase64 = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCllXSmoKLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo=";

int make_folder(void** state) {
  *state = new TemporaryFolder;
  ::unsetenv("KUBECONFIG");
  ::unsetenv("KUBERNETES_SERVICE_HOST");
  ::unsetenv("KUBERNETES_SERVICE_PORT");
  return 0;
}

int remove_folder(void** state) {
  delete static_cast<TemporaryFolder*>(*state);
  return 0;
}

const TemporaryFolder& folder(void** state) { return *static_cast<TemporaryFolder*>(*state); }

/** A kubeconfig with the fields of its one cluster and user, each "key: value" in flow style. */
std::string kubeconfig(const std::string& cluster, const std::string& user, const std::string& more_context = "") {
  return "apiVersion: v1\nkind: Config\ncurrent-context: main\n"
         "contexts:\n- name: main\n  context: {cluster: c, user: u" +
         more_context +
         "}\n"
         "clusters:\n- name: c\n  cluster: {" +
         cluster +
         "}\n"
         "users:\n- name: u\n  user: {" +
         user + "}\n";
}

void good_kubeconfigs(void** state) {
  const std::string data = kPemBase64;
  folder(state).write("pki/ca.pem", kPem);
  folder(state).write("token", "t\n");
  const struct {
    std::string text;
    std::string server, ca, cert, key, name, token, token_file, name_space;
  } cases[] = {
      {kubeconfig("server: \"https://h:6443\"", ""), "https://h:6443", "", "", "", "", "", "", "default"},
      {kubeconfig("server: \"https://h:6443/\", tls-server-name: kubernetes", "token: secret", ", namespace: slurm"),
       "https://h:6443", "", "", "", "kubernetes", "secret", "", "slurm"},
      {kubeconfig("server: \"https://h\", certificate-authority-data: " + data,
                  "client-certificate-data: " + data + ", client-key-data: " + data),
       "https://h", kPem, kPem, kPem, "", "", "", "default"},
      {kubeconfig("server: \"https://h\", certificate-authority: pki/ca.pem",
                  "client-certificate: pki/ca.pem, client-key: " + folder(state).path() + "/pki/ca.pem"),
       "https://h", kPem, kPem, kPem, "", "", "", "default"},
      {kubeconfig("server: \"https://h\"", "token: old, tokenFile: token"), "https://h", "", "", "", "", "",
       folder(state).path() + "/token", "default"},
      {kubeconfig("server: \"https://h\", insecure-skip-tls-verify: false, disable-compression: true, extensions: []",
                  "token: null, exec: null"),
       "https://h", "", "", "", "", "", "", "default"},
  };
  for (const auto& c : cases) {
    const auto config = load_kubeconfig(folder(state).write("config", c.text));
    assert_ok(config);
    assert_text(config->server, c.server);
    assert_text(config->ca_pem, c.ca);
    assert_text(config->client_cert_pem, c.cert);
    assert_text(config->client_key_pem, c.key);
    assert_text(config->tls_server_name, c.name);
    assert_text(config->token, c.token);
    assert_text(config->token_file, c.token_file);
    assert_text(config->name_space, c.name_space);
  }
}

void contexts_are_chosen(void** state) {
  const std::string path = folder(state).write(
      "config",
      "current-context: a\n"
      "contexts: [{name: a, context: {cluster: ca}}, {name: b, context: {cluster: cb, namespace: nb}}]\n"
      "clusters: [{name: ca, cluster: {server: \"https://a\"}}, {name: cb, cluster: {server: \"https://b\"}}]\n");
  assert_text(load_kubeconfig(path)->server, "https://a");
  assert_text(load_kubeconfig(path, "b")->server, "https://b");
  assert_text(load_kubeconfig(path, "b")->name_space, "nb");
  assert_error(load_kubeconfig(path, "x"), Errc::not_found, "context \"x\": no such entry in contexts");
}

void bad_kubeconfigs_name_entry_and_field(void** state) {
  const std::string server = "server: \"https://h\"";
  const struct {
    std::string text;
    Errc code;
    const char* why;
  } cases[] = {
      {"", Errc::invalid, "not a kubeconfig"},
      {"[]", Errc::invalid, "not a kubeconfig"},
      {"a: [", Errc::invalid, "YAML: line"},
      {"a: b", Errc::invalid, "current-context: not set"},
      {"current-context: [x]", Errc::invalid, "current-context: array, not a string"},
      {"current-context: x", Errc::not_found, "context \"x\": no such entry in contexts"},
      {"current-context: x\ncontexts: {x: y}", Errc::not_found, "context \"x\""},
      {"current-context: x\ncontexts: [{name: x}]", Errc::invalid, "context \"x\": context: not there"},
      {"current-context: x\ncontexts: [{name: x, context: {user: u}}]", Errc::invalid,
       "context \"x\": cluster: not set"},
      {"current-context: x\ncontexts: [{name: x, context: {cluster: c}}]", Errc::not_found,
       "cluster \"c\": no such entry in clusters"},
      {"current-context: x\ncontexts: [{name: x, context: {cluster: c, user: u}}]\nclusters: [{name: c, cluster: {" +
           server + "}}]",
       Errc::not_found, "user \"u\": no such entry in users"},
      {kubeconfig("", ""), Errc::invalid, "cluster \"c\": server: not set"},
      {kubeconfig("server: 7", ""), Errc::invalid, "cluster \"c\": server: integer, not a string"},
      {kubeconfig(server + ", proxy-url: \"http://p\"", ""), Errc::invalid, "cluster \"c\": proxy-url: not supported"},
      {kubeconfig(server + ", insecure-skip-tls-verify: true", ""), Errc::invalid,
       "cluster \"c\": insecure-skip-tls-verify: not supported"},
      {kubeconfig(server + ", certificate-authority-data: \"%%%\"", ""), Errc::invalid,
       "cluster \"c\": certificate-authority-data: not base64"},
      {kubeconfig(server + ", certificate-authority-data: YWJj", ""), Errc::invalid,
       "cluster \"c\": certificate-authority-data: not PEM"},
      {kubeconfig(server + ", certificate-authority-data: YWJ", ""), Errc::invalid, "not base64"},
      {kubeconfig(server + ", certificate-authority-data: \"YW=j\"", ""), Errc::invalid, "not base64"},
      {kubeconfig(server + ", certificate-authority: none.pem", ""), Errc::not_found,
       "cluster \"c\": certificate-authority: "},
      {kubeconfig(server, "exec: {command: aws}"), Errc::invalid, "user \"u\": exec: not supported"},
      {kubeconfig(server, "auth-provider: {name: gcp}"), Errc::invalid, "user \"u\": auth-provider: not supported"},
      {kubeconfig(server, "username: a, password: b"), Errc::invalid, "user \"u\": username: not supported"},
      {kubeconfig(server, "as: root"), Errc::invalid, "user \"u\": as: not supported"},
      {kubeconfig(server, "token: 12345"), Errc::invalid, "user \"u\": token: integer, not a string"},
      {kubeconfig(server, std::string("client-certificate-data: ") + kPemBase64), Errc::invalid,
       "user \"u\": client-certificate and client-key: one without the other"},
      {kubeconfig(server, "client-key: none.pem"), Errc::not_found, "user \"u\": client-key: "},
  };
  for (const auto& c : cases) {
    const std::string path = folder(state).write("config", c.text);
    const auto config = load_kubeconfig(path);
    assert_error(config, c.code, c.why);
    assert_contains(config.error().message(), "kubeconfig " + path);
  }
  assert_error(load_kubeconfig(folder(state).path() + "/none"), Errc::not_found, "/none");
}

void secrets_are_not_quoted(void** state) {
  const auto config = load_kubeconfig(
      folder(state).write("config", kubeconfig("server: \"https://h\"", "token: [hunter2], client-key-data: hunter3")));
  assert_false(config.ok());
  assert_true(config.error().message().find("hunter") == std::string::npos);
}

void in_cluster(void** state) {
  const std::string root = folder(state).path();
  assert_error(load_in_cluster(root), Errc::not_found, "KUBERNETES_SERVICE_HOST");
  ::setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1", 1);
  ::setenv("KUBERNETES_SERVICE_PORT", "443", 1);
  assert_error(load_in_cluster(root), Errc::not_found, "service account: " + root + "/ca.crt");
  folder(state).write("ca.crt", kPem);
  assert_error(load_in_cluster(root), Errc::not_found, root + "/namespace");
  folder(state).write("namespace", "slurm\n");
  assert_error(load_in_cluster(root), Errc::unauthorized, root + "/token");
  folder(state).write("token", "t");
  const auto config = load_in_cluster(root);
  assert_ok(config);
  assert_text(config->server, "https://10.0.0.1:443");
  assert_text(config->ca_pem, kPem);
  assert_text(config->name_space, "slurm");
  assert_text(config->token_file, root + "/token");
  ::setenv("KUBERNETES_SERVICE_HOST", "fd00::1", 1);
  assert_text(load_in_cluster(root)->server, "https://[fd00::1]:443");
  ::unsetenv("KUBERNETES_SERVICE_HOST");
  assert_text(load_in_cluster(root)->server, "https://kubernetes.default.svc:443");
}

void the_source_is_chosen(void** state) {
  const std::string a = folder(state).write("a", kubeconfig("server: \"https://a\"", ""));
  const std::string b = folder(state).write("b", kubeconfig("server: \"https://b\"", ""));
  assert_error(load_config(""), Errc::not_found, "KUBERNETES_SERVICE_HOST");
  ::setenv("KUBECONFIG", (":" + a + ":" + b).c_str(), 1);
  assert_text(load_config("")->server, "https://a");
  assert_text(load_config(b)->server, "https://b");
  assert_error(load_config("/none"), Errc::not_found, "/none");
}

void transport_options_carry_the_token(void** state) {
  const auto clock = std::make_shared<FakeClock>();
  Config config;
  config.server = "https://h";
  config.ca_pem = kPem;
  assert_false(static_cast<bool>(transport_options(config, clock).bearer_token));
  config.token = "fixed";
  assert_text(*transport_options(config, clock).bearer_token(), "fixed");
  config.token_file = folder(state).write("token", "one");
  const auto options = transport_options(config, clock);
  assert_text(options.base_url, "https://h");
  assert_text(options.ca_pem, kPem);
  assert_text(*options.bearer_token(), "one");
  folder(state).write("token", "two");
  assert_text(*options.bearer_token(), "one");
  options.token_refused();
  assert_text(*options.bearer_token(), "two");
}

}  // namespace
}  // namespace slurmk8s::kube

int main() {
  using namespace slurmk8s::kube;
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST_WITH(good_kubeconfigs, make_folder, remove_folder),
      SLURMK8S_TEST_WITH(contexts_are_chosen, make_folder, remove_folder),
      SLURMK8S_TEST_WITH(bad_kubeconfigs_name_entry_and_field, make_folder, remove_folder),
      SLURMK8S_TEST_WITH(secrets_are_not_quoted, make_folder, remove_folder),
      SLURMK8S_TEST_WITH(in_cluster, make_folder, remove_folder),
      SLURMK8S_TEST_WITH(the_source_is_chosen, make_folder, remove_folder),
      SLURMK8S_TEST_WITH(transport_options_carry_the_token, make_folder, remove_folder),
  };
  return cmocka_run_group_tests_name("kube_config", tests, nullptr, nullptr);
}
