// SPDX-License-Identifier: GPL-2.0-or-later
// settings/options: slurm-k8s.conf.
#include "settings/options.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "support/cmocka.hpp"

namespace slurmk8s {
namespace {

void takes_every_key(void**) {
  const auto parsed = parse_options(
      "# a comment\n"
      "Namespace=hpc\n"
      "  kubeconfig = /etc/kube.conf   # another\n"
      "CONTEXT=prod\n"
      "EngineSocket=/run/x.sock\n"
      "NodeService=nodes\n"
      "ClusterDomain=k8s.example.org\n"
      "ConfServer=ctl-0:6817,ctl-1:6817\n"
      "KeySecret=key\n"
      "\n"
      "MaxRequests=4\n"
      "LaunchTimeout=60\n"
      "WakePowerSave=No\n"
      "FastRequeue=no\n"
      "Bridge=yes\n"
      "WatchKubernetesNodes=yes\n"
      "SharedPaths=/home,/data\n"
      "SidecarListen=127.0.0.1:9101\r\n"
      "LogLevel=debug",
      "x.conf");
  assert_true(parsed.ok());
  assert_text(parsed->name_space, "hpc");
  assert_text(parsed->kubeconfig, "/etc/kube.conf");
  assert_text(parsed->context, "prod");
  assert_text(parsed->engine_socket, "/run/x.sock");
  assert_text(parsed->node_service, "nodes");
  assert_text(parsed->cluster_domain, "k8s.example.org");
  assert_text(parsed->conf_server, "ctl-0:6817,ctl-1:6817");
  assert_text(parsed->key_secret, "key");
  assert_int_equal(parsed->max_requests, 4);
  assert_int_equal(parsed->launch_timeout.count(), 60);
  assert_false(parsed->wake_power_save);
  assert_false(parsed->fast_requeue);
  assert_true(parsed->bridge);
  assert_true(parsed->watch_kubernetes_nodes);
  assert_true(parsed->shared_paths == std::vector<std::string>({"/home", "/data"}));
  assert_text(parsed->sidecar_listen, "127.0.0.1:9101");
  assert_true(parsed->log_level == LogLevel::debug);
}

void has_defaults(void**) {
  const auto parsed = parse_options("", "x.conf");
  assert_true(parsed.ok());
  assert_text(parsed->name_space, "");
  assert_text(parsed->engine_socket, "/run/slurm-k8s/engine.sock");
  assert_text(parsed->conf_server, "slurm-controller:6817");
  assert_int_equal(parsed->max_requests, 100);
  assert_int_equal(parsed->launch_timeout.count(), 3600);
  assert_true(parsed->wake_power_save);
  assert_true(parsed->fast_requeue);
  assert_false(parsed->bridge);
  assert_false(parsed->watch_kubernetes_nodes);
  assert_text(parsed->sidecar_listen, ":9100");
  assert_false(parsed->shared_paths.has_value());
  const auto none = parse_options("SharedPaths=none", "x.conf");
  assert_true(none.ok() && none->shared_paths && none->shared_paths->empty());
}

void names_invalid_settings(void**) {
  const struct {
    const char* text;
    const char* message;
  } cases[] = {
      {"Namespace=a\nNodes=3\n", "x.conf:2: Nodes: unknown key"},
      {"Namespace\n", "x.conf:1: Namespace: must be KEY=VALUE"},
      {"\n\nNamespace=a\nnamespace=b", "x.conf:4: Namespace: duplicate key"},
      {"KeySecret=", "x.conf:1: KeySecret: required"},
      {"SharedPaths=/home,data",
       "x.conf:1: SharedPaths: invalid value \"/home,data\": must be none, or absolute paths with commas"},
      {"SharedPaths=/home, /data",
       "x.conf:1: SharedPaths: invalid value \"/home, /data\": must be none, or absolute paths with commas"},
      {"KeySecret= # none", "x.conf:1: KeySecret: required"},
      {"Namespace=a b", "x.conf:1: Namespace: invalid value \"a b\": must not contain blanks"},
      {"MaxRequests=0", "x.conf:1: MaxRequests: invalid value \"0\": must be 1 to 1000"},
      {"MaxRequests=4x", "x.conf:1: MaxRequests: invalid value \"4x\": must be 1 to 1000"},
      {"LaunchTimeout=-1", "x.conf:1: LaunchTimeout: invalid value \"-1\": must be 1 to 31536000"},
      {"WakePowerSave=1", "x.conf:1: WakePowerSave: invalid value \"1\": must be yes or no"},
      {"EngineSocket=run/x", "x.conf:1: EngineSocket: invalid value \"run/x\": must be an absolute path"},
      {"SidecarListen=9100", "x.conf:1: SidecarListen: invalid value \"9100\": must be HOST:PORT"},
      {"SidecarListen=:0", "x.conf:1: SidecarListen: invalid value \":0\": must have a port of 1 to 65535"},
      {"LogLevel=loud", "x.conf:1: LogLevel: invalid value \"loud\": must be error, warning, info or debug"},
  };
  for (const auto& c : cases) {
    const auto parsed = parse_options(c.text, "x.conf");
    assert_false(parsed.ok());
    assert_int_equal(parsed.error().code(), Errc::invalid);
    assert_text(parsed.error().message(), c.message);
  }
  const auto long_path = parse_options("EngineSocket=/" + std::string(200, 'x'), "x.conf");
  assert_false(long_path.ok());
}

void reads_files(void**) {
  unsetenv("SLURM_K8S_CONF");
  assert_true(options_path().ends_with("/slurm/slurm-k8s.conf"));
  char path[] = "/tmp/core_options_test.XXXXXX";
  const int fd = mkstemp(path);
  assert_true(fd >= 0);
  assert_int_equal(dprintf(fd, "Namespace=from-file\n"), 20);
  close(fd);
  setenv("SLURM_K8S_CONF", path, 1);
  assert_text(options_path(), path);
  const auto loaded = load_options(options_path());
  unlink(path);
  assert_true(loaded.ok());
  assert_text(loaded->name_space, "from-file");

  const auto missing = load_options(path);
  assert_false(missing.ok());
  assert_int_equal(missing.error().code(), Errc::not_found);
  assert_contains(missing.error().message(), path);
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(takes_every_key),
      SLURMK8S_TEST(has_defaults),
      SLURMK8S_TEST(names_invalid_settings),
      SLURMK8S_TEST(reads_files),
  };
  return cmocka_run_group_tests_name("settings_options", tests, nullptr, nullptr);
}
