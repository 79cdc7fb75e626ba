// SPDX-License-Identifier: GPL-2.0-or-later
// sidecar/budget_writer: the PodDisruptionBudget of a NodeSet comes, stays as it should be, and goes.
#include "sidecar/budget_writer.hpp"

#include "base/random.hpp"
#include "base/strings.hpp"
#include "kube/reflector.hpp"
#include "support/cmocka.hpp"
#include "support/fake_client.hpp"
#include "support/fake_clock.hpp"
#include "support/steps.hpp"

namespace slurmk8s {
namespace {

using kube::kDisruptionBudgets;
using kube::Verb;
using std::chrono::seconds;

struct Fixture {
  kube::FakeClient client;
  FakeClock clock;
  kube::Throttle throttle{clock};
  Timers timers{clock};
  NodeSets nodesets;
  BudgetWriter writer;
  kube::Reflector reflector{
      client,
      timers,
      clock,
      {.resource = kDisruptionBudgets, .name_space = "slurm", .label_selector = kBudgetSelector},
      {[this](const Json& object) { writer.observe(object); },
       [this](const kube::ObjectKey& key, const std::string&, const Json&) { writer.forget(key.name); },
       [this] { writer.set_listed(); }}};

  explicit Fixture(Jitter jitter = [] { return 0.5; }) : writer(client, clock, throttle, "slurm", std::move(jitter)) {
    put_nodeset("c");
  }
  void put_nodeset(const char* name, const char* more = "") {
    const auto object =
        Json::parse(format(R"({"metadata":{"namespace":"slurm","name":"%s","uid":"u-%s"},"spec":{)"
                           R"("slurmd":{"image":"i","resources":{"limits":{"cpu":"2","memory":"1000Mi"}}}%s}})",
                           name, name, more));
    nodesets.insert_or_assign(name, KnownNodeSet{.generation = 1, .spec = decode_nodeset(*object)});
  }
  void rounds(int count) {
    for (int i = 0; i < count; i++) {
      writer.round(nodesets);
      client.deliver();
      clock.advance(seconds(1));
      timers.run_due();
      client.deliver();
    }
  }
  void start() {
    reflector.start();
    client.deliver();
    rounds(1);
  }
  Json budget(const char* name = "c-busy") const { return client.find(kDisruptionBudgets, "slurm", name); }
  std::size_t writes() const {
    return client.count(Verb::create) + client.count(Verb::patch) + client.count(Verb::remove);
  }
  std::string condition(const char* name = "c") const {
    const Condition one = writer.condition(name, nodesets.at(name), reflector.last_error());
    return std::string(one.status ? "True " : "False ") + one.reason + ": " + one.message;
  }
};

void is_made_once(void**) {
  Fixture f;
  f.rounds(3);
  assert_int_equal(f.client.calls.size(), 0);  // nothing before the list
  assert_contains(f.condition(), "False BudgetPending");
  f.start();
  const Json budget = f.budget();
  assert_text(
      budget["spec"].dump(),
      R"({"maxUnavailable":0,"selector":{"matchLabels":{"slurm-k8s.io/nodeset":"c","slurm-k8s.io/busy":"true"}}})");
  assert_text(budget["metadata"]["ownerReferences"][std::size_t(0)]["uid"].text(), "u-c");
  assert_contains(f.condition(), "True BudgetInPlace");
  f.rounds(60);
  assert_int_equal(f.writes(), 1);
}

void is_mended(void**) {
  Fixture f;
  f.start();
  Json changed = f.budget().clone();
  changed["spec"].erase("maxUnavailable");
  changed["spec"].set("minAvailable", Json::integer(0));
  f.client.put(kDisruptionBudgets, "slurm", changed);
  f.rounds(2);
  assert_int_equal(f.budget()["spec"]["maxUnavailable"].integer_or(7), 0);
  assert_true(f.budget()["spec"]["minAvailable"].is_null());
  f.client.erase(kDisruptionBudgets, "slurm", "c-busy");
  f.rounds(2);
  assert_false(f.budget().is_null());
  f.rounds(10);
  assert_int_equal(f.writes(), 3);
}

void goes_when_it_is_not_wanted(void**) {
  Fixture f;
  f.start();
  f.put_nodeset("c", R"(,"workloadDisruptionProtection":false)");
  f.rounds(1);
  assert_true(f.budget().is_null());
  assert_false(f.client.calls.back().options.uid.empty());
  assert_contains(f.condition(), "False Disabled");
  f.put_nodeset("c", R"(,"replicas":"x")");  // invalid: as it was
  f.rounds(5);
  assert_int_equal(f.writes(), 2);
  f.nodesets.clear();  // Kubernetes removes the budget of a NodeSet that is gone
  f.rounds(5);
  assert_int_equal(f.writes(), 2);
}

void the_budget_of_somebody_else_stays(void**) {
  Fixture f;
  const auto other = Json::parse(R"({"metadata":{"name":"c-busy"},"spec":{"minAvailable":1}})");
  f.client.put(kDisruptionBudgets, "slurm", *other);
  f.start();
  assert_text(f.condition(), "False BudgetRefused: poddisruptionbudget c-busy exists and belongs to somebody else");
  assert_int_equal(f.budget()["spec"]["minAvailable"].integer_or(0), 1);
  f.client.erase(kDisruptionBudgets, "slurm", "c-busy");
  f.rounds(70);
  assert_contains(f.condition(), "True BudgetInPlace");
}

void failures_are_told_and_tried_again(void**) {
  Fixture f;
  f.client.fail_next(Verb::create, Error(Errc::forbidden, "may not create poddisruptionbudgets"), 3);
  f.start();
  assert_contains(f.condition(), "False BudgetRefused: may not create poddisruptionbudgets");
  f.rounds(30);
  assert_int_equal(f.client.count(Verb::create), 4);
  assert_contains(f.condition(), "True BudgetInPlace");

  Fixture g;
  g.client.fail_next(Verb::list, Error(Errc::forbidden, "may not list"), 1000);
  g.start();
  g.rounds(20);
  assert_contains(g.condition(), "False BudgetUnreadable: ");
  assert_contains(g.condition(), "may not list");
}

void are_not_tried_again_in_step(void**) {
  Fixture f(random_unit);
  f.client.fail_next(Verb::create, Error(Errc::forbidden, "quota"), 1000);
  for (const char* name : {"d", "e", "f", "g", "h", "i", "j", "k", "l"}) f.put_nodeset(name);
  f.start();
  assert_false(stay_in_step(10, 200, [&] {
    const std::size_t before = f.writes();
    f.rounds(1);
    return f.writes() - before;
  }));
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(is_made_once),
      SLURMK8S_TEST(is_mended),
      SLURMK8S_TEST(goes_when_it_is_not_wanted),
      SLURMK8S_TEST(the_budget_of_somebody_else_stays),
      SLURMK8S_TEST(failures_are_told_and_tried_again),
      SLURMK8S_TEST(are_not_tried_again_in_step),
  };
  return cmocka_run_group_tests_name("sidecar_budget_writer", tests, nullptr, nullptr);
}
