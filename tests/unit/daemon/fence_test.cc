// SPDX-License-Identifier: GPL-2.0-or-later
// daemon/fence: what nobody writes without the lease.
#include "daemon/fence.hpp"

#include <type_traits>

#include "kube/object_writer.hpp"
#include "support/cmocka.hpp"
#include "support/fake_client.hpp"
#include "support/fake_slurm.hpp"

namespace slurmk8s {
namespace {

using kube::FakeClient;
using kube::kLeases;

// A daemon that forgets its fence doesn't compile: nothing that writes takes a Client.
static_assert(!std::is_convertible_v<kube::Client&, kube::Writer&>);
template <typename Writer>
constexpr bool takes =
    std::is_constructible_v<kube::ObjectWriter, Writer&, const Clock&, kube::Throttle&, kube::ObjectWriterOptions>;
static_assert(takes<FencedKubeWriter> && !takes<kube::Client>);

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
  FencedKubeWriter fenced(client, fence);
  int answers = 0;
  const auto count = [&](const Result<Json>&) { answers++; };
  const Json object = Json::object().set("metadata", Json::object().set("name", "x"));
  const auto write_all = [&] {
    fenced.create({kLeases, "slurm"}, object, count);
    fenced.patch({kLeases, "slurm", "x"}, kube::PatchType::merge, Json::object(), count);
    fenced.remove({kLeases, "slurm", "x"}, {}, count);
    client.deliver();
  };
  write_all();
  assert_int_equal(answers, 3);
  leads = false;
  client.calls.clear();
  write_all();
  assert_int_equal(answers, 3);
  assert_int_equal(client.calls.size(), 0);
}

void a_request_that_is_under_way_can_be_cancelled(void**) {
  bool leads = true;
  FakeClient client;
  Fence fence([&] { return leads; });
  FencedKubeWriter fenced(client, fence);
  int answers = 0;
  const auto id = fenced.patch({kLeases, "slurm", "x"}, kube::PatchType::merge, Json::object(),
                               [&](const Result<Json>&) { answers++; });
  leads = false;
  fenced.cancel(id);
  client.deliver();
  assert_int_equal(answers, 0);
}

void nothing_is_written_to_slurmctld(void**) {
  bool leads = true;
  FakeSlurm fake;
  Fence fence([&] { return leads; });
  FencedSlurmWriter slurm(fake, fence);
  assert_ok(slurm.create_nodes("NodeName=c-[0-1] State=CLOUD"));
  leads = false;
  const auto refused = [](const Status& status) { assert_error(status, Errc::cancelled, "not the leader any more"); };
  fake.calls.clear();
  refused(slurm.create_nodes("NodeName=c-2 State=CLOUD"));
  refused(slurm.delete_nodes("c-0"));
  refused(slurm.update_nodes("c-0", {.state = SlurmNodeUpdate::State::drain, .reason = "x"}));
  refused(slurm.exempt_from_suspend("c-0", true));
  refused(slurm.schedule_jobs("c-0"));
  refused(slurm.create_partition({.name = "p", .nodes = {}, .options = {}}));
  refused(slurm.update_partition({.name = "p", .nodes = {}, .options = {}}));
  refused(slurm.delete_partition("p"));
  refused(slurm.comment_job(1, "x"));
  refused(slurm.clear_begin_time(1));
  refused(slurm.hold_job(1));
  refused(slurm.end_out_of_memory(1));
  refused(slurm.make_created_nodes_schedulable());
  refused(slurm.drop_lost_nodes());
  refused(slurm.restart_slurmctld());
  assert_int_equal(fake.calls.size(), 0);
  assert_int_equal(fake.settled + fake.scheduled, 0);
  assert_int_equal(fake.comments.size(), 0);
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(a_shut_fence_stays_shut),
      SLURMK8S_TEST(nothing_is_written_to_the_api_server),
      SLURMK8S_TEST(a_request_that_is_under_way_can_be_cancelled),
      SLURMK8S_TEST(nothing_is_written_to_slurmctld),
  };
  return cmocka_run_group_tests_name("daemon_fence", tests, nullptr, nullptr);
}
