// SPDX-License-Identifier: GPL-2.0-or-later
// Worker: it acts while its slurmctld is in control, and then alone. Its thread and socket are real; the API server is
// one that nobody gets a TLS session with: its connections are counted.
#include <unistd.h>

#include <atomic>
#include <functional>
#include <string>
#include <thread>

#include "control/control.hpp"
#include "engine/worker.hpp"
#include "http/curl_transport.hpp"

#include "support/cmocka.hpp"
#include "support/fake_slurm.hpp"
#include "support/scripted_server.hpp"
#include "support/temporary_folder.hpp"

using namespace slurmk8s;

namespace {

std::shared_ptr<Slurm> make_fake_slurm() { return std::make_shared<FakeSlurm>(); }

constexpr std::chrono::milliseconds kLook{20};

struct Cluster {
  const TemporaryFolder folder;
  const std::string socket = folder.path() + "/engine.sock";
  ScriptedServer server{[](const std::string&, int) { return false; }};
  std::atomic<bool> in_control{false};
  std::atomic<int> looks{0};

  Options options() {
    folder.write("ca", "-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n");
    const std::string kubeconfig = folder.write(
        "config",
        "{apiVersion: v1, kind: Config, current-context: c, contexts: [{name: c, context: {cluster: c, user: u}}],"
        " clusters: [{name: c, cluster: {server: 'https" +
            server.url().substr(4) + "', certificate-authority: ca}}], users: [{name: u, user: {token: x}}]}");
    auto options = load_options(
        folder.write("slurm-k8s.conf", "Kubeconfig=" + kubeconfig + "\nNamespace=n\nEngineSocket=" + socket + "\n"));
    if (!options) fail_msg("%s", options.error().message().c_str());
    return *options;
  }
  std::function<bool()> ask() {
    return [this] {
      ++looks;
      return in_control.load();
    };
  }
  bool answers() const {
    const Json status = Json::object().set("op", "status");
    return control_call(socket, status, std::chrono::seconds(2)).ok();
  }
  bool has_socket() const { return access(socket.c_str(), F_OK) == 0; }
  void look_on(int count) { await_looks(looks + count); }
  void await_looks(int count) {
    while (looks < count) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
};

bool eventually(const std::function<bool()>& condition) {
  for (int i = 0; i < 5000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

void a_stand_by_has_no_socket_and_asks_nobody(void**) {
  Cluster cluster;
  std::atomic<int> stood_by{0};
  Worker::Host host;
  host.in_control = cluster.ask();
  host.stand_by = [&] { ++stood_by; };
  const Worker worker(cluster.options(), make_fake_slurm, host, kLook);
  cluster.look_on(10);
  assert_true(stood_by >= 9);
  assert_false(cluster.has_socket());
  assert_int_equal(cluster.server.connections(), 0);
}

void it_acts_from_control_gained_to_control_lost(void**) {
  Cluster cluster;
  const Worker worker(cluster.options(), make_fake_slurm, {cluster.ask()}, kLook);
  for (int round = 0; round < 2; ++round) {
    cluster.in_control = true;
    assert_true(eventually([&] { return cluster.answers(); }));
    assert_true(eventually([&] { return cluster.server.connections() > 0; }));
    cluster.look_on(10);
    assert_true(cluster.answers());

    cluster.in_control = false;
    assert_true(eventually([&] { return !cluster.has_socket(); }));
    cluster.look_on(2);
    const int connections = cluster.server.connections();
    cluster.look_on(10);
    assert_false(cluster.has_socket());
    assert_int_equal(cluster.server.connections(), connections);
  }
}

/** The engine of the controller that has just lost control may act until its next look. */
void one_yes_is_not_enough(void**) {
  Cluster cluster;
  const Worker worker(cluster.options(), make_fake_slurm, {[&] { return ++cluster.looks % 2 == 0; }}, kLook);
  cluster.look_on(20);
  assert_false(cluster.has_socket());
  assert_int_equal(cluster.server.connections(), 0);
}

void it_ends_at_once_in_stand_by(void**) {
  Cluster cluster;
  const auto begin = std::chrono::steady_clock::now();
  {
    const Worker worker(cluster.options(), make_fake_slurm, {cluster.ask()}, std::chrono::hours(1));
    cluster.await_looks(1);  // which may be over already
  }
  assert_true(std::chrono::steady_clock::now() - begin < std::chrono::minutes(1));
}

void one_controller_is_never_asked(void**) {
  Cluster cluster;
  const Worker worker(cluster.options(), make_fake_slurm);
  assert_true(eventually([&] { return cluster.answers(); }));
  assert_int_equal(cluster.looks, 0);
}

/** Out of memory for a moment, say: slurmctld goes on, and so must its pods. */
void it_serves_again_after_an_exception(void**) {
  Cluster cluster;
  std::atomic<bool> throws{true};
  Worker::Host host;
  host.lock_times = [&]() -> LockTimes {
    if (throws.exchange(false)) throw std::bad_alloc();
    return {};
  };
  Worker worker(cluster.options(), make_fake_slurm, host);
  const auto serves = [&] {
    worker.report_pod_jobs(1, {});  // by another thread, at any moment
    return cluster.answers();
  };
  assert_true(eventually([&] { return !serves() && !throws; }));
  assert_true(eventually(serves) || eventually(serves));  // after 5 s
}

}  // namespace

int main() {
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(a_stand_by_has_no_socket_and_asks_nobody),
      SLURMK8S_TEST(it_acts_from_control_gained_to_control_lost),
      SLURMK8S_TEST(one_yes_is_not_enough),
      SLURMK8S_TEST(it_ends_at_once_in_stand_by),
      SLURMK8S_TEST(one_controller_is_never_asked),
      SLURMK8S_TEST(it_serves_again_after_an_exception),
  };
  if (!http::curl_global_setup().ok()) return 1;
  const int failed = cmocka_run_group_tests(tests, nullptr, nullptr);
  http::curl_global_teardown();
  return failed;
}
