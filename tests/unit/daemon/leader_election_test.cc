// SPDX-License-Identifier: GPL-2.0-or-later
// daemon/leader_election, daemon/fence: the lease's thread, and what nobody writes without the lease.
#include "daemon/leader_election.hpp"

#include <thread>

#include "kube/fake_client.hpp"
#include "daemon/fence.hpp"
#include "support/cmocka.hpp"
#include "support/fake_slurm.hpp"

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
  f.election->contend();
  assert_true(f.soon(true));
  f.election->withdraw();
  assert_false(f.election->leads());
  f.election->contend();
  assert_true(f.soon(true));
  f.election.reset();
  assert_text(f.holder(), "");
  assert_int_equal(f.client.count(Verb::create), 1);
}

void ends_without_an_answer(void**) {
  Fixture f;
  f.client.fail_next(Verb::get, Error(Errc::unavailable, "connection refused"), 100000);
  f.election->contend();
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

void a_shut_fence_stays_shut(void**) {
  bool leads = true;
  Fence fence([&] { return leads; });
  assert_true(fence.is_open());
  leads = false;
  assert_false(fence.is_open());
  leads = true;
  assert_false(fence.is_open());
}

void nothing_is_written_to_the_api_server(void**) {
  bool leads = true;
  FakeClient client;
  Fence fence([&] { return leads; });
  const auto fenced = make_fenced_client(client, fence);
  int answers = 0;
  const auto count = [&](const Result<Json>&) { answers++; };
  const Json object = Json::object().set("metadata", Json::object().set("name", "x"));
  const auto write_all = [&] {
    fenced->create({kLeases, "slurm"}, object, count);
    fenced->patch({kLeases, "slurm", "x"}, kube::PatchType::merge, Json::object(), count);
    fenced->remove({kLeases, "slurm", "x"}, {}, count);
    client.deliver();
  };
  write_all();
  assert_int_equal(answers, 3);
  leads = false;
  client.calls.clear();
  write_all();
  assert_int_equal(answers, 3);
  assert_int_equal(client.calls.size(), 0);
  fenced->get({kLeases, "slurm", "x"}, count);
  fenced->list(kLeases, "slurm", {}, count);
  client.deliver();
  assert_int_equal(answers, 5);
  const auto watch = fenced->watch(
      kLeases, "slurm", {}, [](kube::WatchEvent, const Json&) {}, [](const Status&) {});
  assert_int_equal(client.open_watches(), 1);
  fenced->cancel(watch);
  assert_int_equal(client.open_watches(), 0);
}

void nothing_is_written_to_slurmctld(void**) {
  bool leads = true;
  FakeSlurm fake;
  Fence fence([&] { return leads; });
  const auto slurm = make_fenced_slurm(fake, fence);
  assert_ok(slurm->create_nodes("NodeName=c-[0-1] State=CLOUD"));
  leads = false;
  const auto refused = [](const Status& status) { assert_error(status, Errc::cancelled, "not the leader any more"); };
  fake.calls.clear();
  refused(slurm->create_nodes("NodeName=c-2 State=CLOUD"));
  refused(slurm->delete_nodes("c-0"));
  refused(slurm->update_nodes("c-0", {.state = SlurmNodeUpdate::State::drain, .reason = "x"}));
  refused(slurm->exempt_from_suspend("c-0", true));
  refused(slurm->schedule_jobs("c-0"));
  refused(slurm->create_partition({.name = "p", .nodes = {}, .options = {}}));
  refused(slurm->update_partition({.name = "p", .nodes = {}, .options = {}}));
  refused(slurm->delete_partition("p"));
  refused(slurm->comment_job(1, "x"));
  refused(slurm->clear_begin_time(1));
  refused(slurm->hold_job(1));
  refused(slurm->end_out_of_memory(1));
  refused(slurm->make_created_nodes_schedulable());
  refused(slurm->drop_lost_nodes());
  refused(slurm->restart_slurmctld());
  assert_int_equal(fake.calls.size(), 0);
  assert_int_equal(fake.settled + fake.scheduled, 0);
  assert_int_equal(fake.comments.size(), 0);
  std::time_t since = 0;
  assert_int_equal((*slurm->load_nodes_since(since))->size(), 2);
  assert_ok(slurm->load_node("c-0"));
  assert_ok(slurm->load_config());
  assert_ok(slurm->check_partitions_persist());
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(takes_the_lease_and_gives_it_back),       SLURMK8S_TEST(ends_without_an_answer),
      SLURMK8S_TEST(an_end_that_never_contended_asks_nobody), SLURMK8S_TEST(a_shut_fence_stays_shut),
      SLURMK8S_TEST(nothing_is_written_to_the_api_server),    SLURMK8S_TEST(nothing_is_written_to_slurmctld),
  };
  return cmocka_run_group_tests_name("sidecar_leader_election", tests, nullptr, nullptr);
}
