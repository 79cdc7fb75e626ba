// SPDX-License-Identifier: GPL-2.0-or-later
// daemon/leader_election: the lease's thread.
#include "daemon/leader_election.hpp"

#include <thread>

#include "support/cmocka.hpp"
#include "support/fake_client.hpp"

namespace slurmk8s {
namespace {

using kube::FakeClient;
using kube::kLeases;
using kube::Verb;
using std::chrono::milliseconds;
using std::chrono::seconds;

struct Fixture {
  const std::shared_ptr<EventLoop> loop = std::move(EventLoop::open()).value();
  const std::shared_ptr<FakeClient> made = std::make_shared<FakeClient>();
  FakeClient& client = *made;  // the thread's, while there is an election
  std::unique_ptr<LeaderElection> election;

  Fixture() {
    client.on_request = [this] { loop->post([this] { client.deliver(); }); };
    LeaseOptions options;
    options.identity = "me";
    election = std::make_unique<LeaderElection>(loop, made, "slurm", options);
  }
  TimePoint now() const { return loop->clock()->now(); }
  bool soon(bool leads) const {
    for (const TimePoint end = now() + seconds(10); now() < end;) {
      if (election->leads() == leads) return true;
      std::this_thread::sleep_for(milliseconds(1));
    }
    return false;
  }
  std::string holder() const {
    return std::string(client.find(kLeases, "slurm", "slurm-k8s-sidecar").at({"spec", "holderIdentity"}).text());
  }
};

void takes_the_lease_and_gives_it_back(void**) {
  Fixture f;
  assert_false(f.election->leads());
  f.election->leads_with(true);
  assert_true(f.soon(true));
  assert_false(f.election->leads_with(false));
  assert_false(f.election->leads());
  f.election->leads_with(true);
  assert_true(f.soon(true));
  f.election.reset();
  assert_text(f.holder(), "");
  assert_int_equal(f.client.count(Verb::create), 1);
}

void ends_without_an_answer(void**) {
  Fixture f;
  f.client.fail_next(Verb::get, Error(Errc::unavailable, "connection refused"), 100000);
  f.election->leads_with(true);
  const TimePoint begin = f.now();
  f.election.reset();
  assert_true(f.now() - begin < seconds(30));
  assert_int_equal(f.client.count(Verb::create), 0);
}

void an_end_that_never_contended_asks_nobody(void**) {
  Fixture f;
  f.election.reset();
  assert_int_equal(f.client.calls.size(), 0);
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(takes_the_lease_and_gives_it_back),
      SLURMK8S_TEST(ends_without_an_answer),
      SLURMK8S_TEST(an_end_that_never_contended_asks_nobody),
  };
  return cmocka_run_group_tests_name("daemon_leader_election", tests, nullptr, nullptr);
}
