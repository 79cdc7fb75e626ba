// SPDX-License-Identifier: GPL-2.0-or-later
// engine/pod_orders: what slurmctld is asked about nodes that are to get a pod, and who gets which answer.
#include "engine/pod_orders.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "base/strings.hpp"
#include "support/cmocka.hpp"
#include "support/fake_clock.hpp"
#include "support/fake_slurm.hpp"

namespace slurmk8s {
namespace {

struct World final : SlurmCaller {
  FakeSlurm slurm;
  FakeClock clock;
  Timers timers{clock};
  int calls = 0;
  std::vector<std::string> answers;  ///< "c-0 r1 FEATURES JOB", "c-0 r1: not_found"
  PodOrders orders{
      *this, timers,
      [this](const std::string& node, const PodOrders::Question& question, const Result<PodOrders::Facts>& facts) {
        const std::string asked = node + " " + question.request;
        if (!facts) return answers.push_back(asked + ": " + std::string(to_string(facts.error().code())));
        answers.push_back(asked + " " + facts->record.active_features + " " + (facts->job ? facts->job->name : "-"));
      }};

  void call(Work work) override {
    ++calls;
    timers.after({}, [this, work = std::move(work)] { work(slurm)(); });
  }
  void add_node(const std::string& name, const char* features) { slurm.node(name).active_features = features; }
  void settle() {
    for (int i = 0; i < 5; ++i) timers.run_due();
  }
};

using Answers = std::vector<std::string>;

void nodes_share_a_call(void**) {
  World world;
  world.add_node("c-0", "c,v1");
  world.add_node("c-1", "c");
  world.slurm.jobs[7].name = "train";
  world.orders.find("c-0", {"r1", 7});
  world.orders.find("c-1", {"r1", 0});
  world.orders.find("c-2", {"r1", 0});
  assert_int_equal(world.calls, 0);  // never from within
  world.settle();
  assert_int_equal(world.calls, 1);
  assert_true(world.answers == (Answers{"c-0 r1 c,v1 train", "c-1 r1 c -", "c-2 r1: not_found"}));
}

void the_second_question_counts(void**) {
  World world;
  world.add_node("c-0", "c");
  world.orders.find("c-0", {"r1", 0});
  world.orders.find("c-0", {"r2", 0});
  world.settle();
  assert_true(world.answers == Answers{"c-0 r2 c -"});
}

void many_nodes_are_read_in_one_list(void**) {
  World world;
  for (int i = 0; i < 20; ++i) world.add_node(format("c-%d", i), "c");
  for (int i = 0; i < 21; ++i) world.orders.find(format("c-%d", i), {"r1", 0});
  world.settle();
  assert_int_equal(world.slurm.loads, 1);
  assert_int_equal(world.answers.size(), 21);
  assert_int_equal(std::count(world.answers.begin(), world.answers.end(), "c-20 r1: not_found"), 1);
}

void a_job_that_has_gone_is_no_error(void**) {
  World world;
  world.add_node("c-0", "c");
  world.orders.find("c-0", {"r1", 99});
  world.settle();
  assert_true(world.answers == Answers{"c-0 r1 c -"});
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(nodes_share_a_call),
      SLURMK8S_TEST(the_second_question_counts),
      SLURMK8S_TEST(many_nodes_are_read_in_one_list),
      SLURMK8S_TEST(a_job_that_has_gone_is_no_error),
  };
  return cmocka_run_group_tests_name("engine_pod_orders", tests, nullptr, nullptr);
}
